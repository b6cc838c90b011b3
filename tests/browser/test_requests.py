"""People who ask and people who decide: few clicks to a running job, ten yeses by keyboard."""

import re

from playwright.sync_api import expect

from tests.waiting import until

SOON, LATER = 20_000, 60_000
FEW = 5
"""So many clicks a newcomer may need after logging in."""


def test_a_newcomer_gets_from_login_to_a_running_job_in_a_few_clicks(person):
    member = person("member")
    page, clicks = member.page, []

    def click(what):
        clicks.append(what)
        page.click(what)

    click("main >> button:has-text('New…')")
    click(".dropdown-menu.show >> a[href='/workloads/new/']")
    click("label.gp-tile >> text=GB + 30")
    page.fill("[name=name]", "first")
    page.fill("[name=command]", 'python3 -c "import time; time.sleep(20)"')
    click("button:has-text('Run it')")
    page.wait_for_url(re.compile("/workloads/wl-"))
    expect(page.locator("[data-state]")).to_have_attribute("data-state", "running", timeout=LATER)
    assert len(clicks) <= FEW


def test_what_has_room_now_is_told_and_the_form_is_filled_in(person):
    page = person("member").page
    now = page.locator("#now")
    expect(now.locator("text=has room now").first).to_be_visible(timeout=SOON)
    now.locator("a[href*='/workloads/new/?template=']").first.click()
    expect(page.locator("input[name=template]:checked")).to_have_count(1)


def test_the_bell_counts_by_itself_and_opens_to_its_list(person, house):
    member, lead = house.as_("member"), house.as_("lead")
    page = person("member").page
    bell = page.locator(".gp-bell")
    asked = member(
        "POST",
        "requests",
        {"project": house.project, "template": "finetune-20g-30", "duration_seconds": 3600},
    )
    shown = bell.locator(".gp-count")
    before = int(shown.inner_text()) if shown.count() else 0
    lead("POST", f"requests/{asked['uid']}/reject", {"reason": "Not this week."})
    expect(shown).to_have_text(str(before + 1), timeout=SOON)
    bell.click()
    line = page.locator("#bell-list button.list-group-item").first
    expect(line).to_be_visible()
    line.click()
    page.wait_for_url(re.compile(asked["uid"]))


def test_the_advisor_leads_to_a_filled_form(person):
    page = person("member").open("/requests/advisor/")
    page.select_option("[name=task]", "finetuning")
    page.fill("[name=memory_gb]", "20")
    expect(page.locator("#advice")).to_contain_text("2g.20gb", timeout=SOON)
    expect(page.locator("#advice")).to_contain_text("per hour")
    page.click("text=Fill in the request")
    expect(page.locator("[name=memory_gb]")).to_have_value("20")


def test_ten_requests_are_handled_by_keyboard(person, house):
    member = house.as_("member")
    asked = [
        member(
            "POST",
            "requests",
            {
                "project": house.project,
                "template": "finetune-20g-30",
                "duration_seconds": 3600,
                "title": f"By keyboard {number}",
            },
        )["uid"]
        for number in range(10)
    ]
    desk = person("lead").open("/approvals/")
    pane = desk.locator("#pane")
    for uid in asked:
        row = desk.locator(f"[data-row]:has(a[href*='{uid}'])")
        for _ in range(40):
            if "gp-current" in (row.get_attribute("class") or ""):
                break
            desk.keyboard.press("j")
        expect(pane.locator(f".card-header a[href*='{uid}']")).to_be_visible(timeout=SOON)
        desk.keyboard.press("a")
        expect(pane).to_contain_text("takes effect in", timeout=SOON)

    def granted():
        return all(member("GET", f"requests/{uid}")["state"] == "approved" for uid in asked)

    until(granted, seconds=60)

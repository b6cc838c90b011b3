"""The main job as people do it: ask, decide, run, watch, see what it cost."""

import re

from playwright.sync_api import expect

PROGRAM = "import time; print('epoch one 第一轮', flush=True); time.sleep(4); print('the end')"
SOON, LATER = 20_000, 60_000


def test_a_slice_is_asked_for_approved_carved_used_and_paid(person):
    member, lead = person("member"), person("lead")
    page = member.open("/")
    page.click("main >> button:has-text('New…')")
    page.click(".dropdown-menu.show >> a[href='/requests/new/']")
    page.click("label.gp-tile >> text=GB + 30")
    page.click("label[for=how-profile]")
    page.fill("[name=profile]", "3g.40gb")
    answer = page.locator("#answer")
    expect(answer).to_contain_text("3g.40gb", timeout=SOON)
    expect(answer).to_contain_text("MiB usable")
    expect(answer).to_contain_text("per hour")
    page.fill("[name=time_value]", "0 h")
    page.click("button:has-text('Send request')")
    expect(page.locator(".invalid-feedback").first).to_be_visible()
    expect(page.locator("[name=profile]")).to_have_value("3g.40gb")
    page.fill("[name=time_value]", "2 h")
    page.fill("[name=title]", "Detector fine-tuning")
    page.fill("[name=purpose]", "Needed before Friday.")
    page.click("button:has-text('Send request')")
    expect(page.locator("h1")).to_have_text("Detector fine-tuning")
    expect(page.locator("#request .gp-badge").first).to_have_text("awaiting decision")

    desk = lead.open("/approvals/")
    desk.click("text=3g.40gb")
    expect(desk.locator("#pane")).to_contain_text("Needed before Friday.")
    desk.keyboard.press("a")
    expect(desk.locator("#pane")).to_contain_text("takes effect in", timeout=SOON)
    desk.click("text=Undo")
    expect(desk.locator("#pane >> text=Approve").first).to_be_visible(timeout=SOON)
    desk.fill("[name=reason]", "Good luck.")
    desk.click("#pane button:visible:has-text('Approve')")
    expect(desk.locator("#pane .gp-badge").first).to_have_text("approved", timeout=LATER)

    run = page.locator("text=Run a job with it")
    run.wait_for(timeout=SOON)
    expect(page.locator("#request")).to_contain_text("Good luck.")
    run.click()
    page.fill("[name=name]", "detector")
    page.fill("[name=command]", f'python3 -c "{PROGRAM}"')
    expect(page.locator("#answer")).to_contain_text("3g.40gb", timeout=SOON)
    page.click("button:has-text('Run it')")
    page.wait_for_url(re.compile("/workloads/wl-"))

    state = page.locator("[data-state]")
    expect(state).to_have_attribute("data-state", "running", timeout=LATER)
    log = page.locator("#log")
    expect(log).to_contain_text("epoch one 第一轮", timeout=SOON)
    expect(page.locator("main")).to_contain_text("3g.40gb")
    expect(state).to_have_attribute("data-state", "succeeded", timeout=LATER)
    expect(state).to_contain_text("Exit code 0")
    expect(log).to_contain_text("the end", timeout=SOON)
    expect(page.locator("[data-cost]")).to_have_text(re.compile(r"\d"), timeout=SOON)
    assert page.locator("[data-cost]").inner_text() not in {"€0.00", "unknown"}
    page = member.open("/usage/")
    expect(page.locator("main")).to_contain_text("detector")


def test_a_running_job_is_seen_on_the_map_and_stopped_by_its_owner(person, house):
    uid = house.submit("sleep 600", need={"profile": "1g.10gb"}, name="to-be-stopped")
    member = person("member")
    page = member.open(f"/workloads/{uid}/")
    state = page.locator("[data-state]")
    expect(state).to_have_attribute("data-state", "running", timeout=LATER)
    chart = member.open("/map/")
    expect(chart.locator("svg .gp-box-ours").first).to_be_visible(timeout=SOON)
    page = member.open(f"/workloads/{uid}/")
    page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_role("button", name="Stop it").click()
    expect(state).to_have_attribute("data-state", "cancelled", timeout=LATER)

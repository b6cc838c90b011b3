"""The queue in a real browser: a job is raised, an offered change is applied, keys are not lost."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.test_looks import violations

SOON, LATER = 30_000, 90_000
WHOLE = {"template": "train-whole-card", "expected_seconds": 3000}


@pytest.fixture
def crowd(house) -> Iterator[list[str]]:
    """Seven of the eight cards run something; what is put in the list is cancelled afterwards."""
    admin = house.as_("platform_admin")
    quota = {"partition": "a100", "unit": "cards_micro"}
    quota |= {"card_model": "A100-80GB", "limit": 60_000_000}
    home = next(one for one in house.people if one["project"] == house.project)
    for kind in ("allowance", "limit"):
        admin("POST", "quotas", quota | {"kind": kind, "project": house.project})
    admin("POST", "quotas", quota | {"kind": "limit", "organization": home["organization"]})
    uids = [
        house.submit("sleep 600", name=f"blocker-{n}", need={"parts": n}, **WHOLE) for n in (4, 3)
    ]
    house.all_in_state(uids, "running")
    yield uids
    for uid in uids:
        house.as_("lead")("POST", f"workloads/{uid}/cancel", {})
    house.ended(uids)


def waiting(house, crowd, name, parts):
    """Work that the queue shows with a reason."""
    uid = house.submit("sleep 600", name=name, need={"parts": parts}, **WHOLE)
    crowd.append(uid)
    return uid


def test_a_member_applies_a_suggested_change_and_the_job_starts(person, house, crowd):
    uid = waiting(house, crowd, "too-wide", 2)
    page = person("member").open("/queue/")
    page.locator(f"#{uid} button").click()
    drawer = page.locator("#queue-drawer")
    expect(drawer).to_contain_text("Use 1 card", timeout=SOON)
    page.locator("#queue-drawer.show:not(.showing)").wait_for()
    assert violations(page) == []
    drawer.get_by_role("button", name="Apply: Use 1 card").click()
    expect(page.locator(".gp-toast").first).to_contain_text("Changed", timeout=SOON)
    page.goto(house.stack.url + f"/workloads/{uid}/")
    expect(page.locator("[data-state]")).to_have_attribute("data-state", "running", timeout=LATER)
    assert house.work(uid)["need"]["parts"] == 1


def test_an_operator_raises_a_job_with_a_reason_and_it_goes_first(person, house, crowd):
    early, late = (waiting(house, crowd, name, 4) for name in ("early", "late"))
    page = person("lead").open("/queue/")
    expect(page.locator("#rows a.gp-name")).to_have_text(["early", "late"], timeout=SOON)
    expect(page.locator("#heads")).to_contain_text("early", timeout=LATER)
    page.locator(f"#{late} button").click()
    drawer = page.locator("#queue-drawer")
    drawer.locator("[name=priority]").select_option("high")
    drawer.locator("[name=reason]").fill("The review is tomorrow.")
    drawer.get_by_role("button", name="Change the priority").click()
    expect(page.locator(".gp-toast").first).to_contain_text("priority", timeout=SOON)
    expect(page.locator("#rows a.gp-name").first).to_have_text("late", timeout=LATER)
    told = house.rows("SELECT data FROM pool_event WHERE kind = 'workload.ranked'")
    assert [row[0]["reason"] for row in told] == ["The review is tomorrow."]
    page.goto(house.stack.url + f"/workloads/{early}/")
    expect(page.locator("#why-waiting")).to_contain_text("Why it waits", timeout=SOON)
    page.wait_for_load_state("networkidle")
    assert violations(page) == []


@pytest.mark.parametrize(("width", "dark"), [(1440, False), (390, True)])
def test_the_pages_about_the_queue_can_be_read_at_every_width(person, house, crowd, width, dark):
    waiting(house, crowd, "stands-here", 4)
    page = person("platform_admin", width=width, dark=dark).page
    for path in ("/queue/", "/queue/waits/", "/queue/policy/?backfill=no"):
        page.goto(house.stack.url + path)
        page.wait_for_load_state("networkidle")
        assert violations(page) == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_a_key_pressed_while_a_fragment_settles_is_not_lost(person, house):
    asked = {"project": house.project, "template": "finetune-20g-30", "duration_seconds": 3600}
    made = house.as_("member")("POST", "requests", asked)
    uid = made["uid"]
    if made["state"] == "draft":
        house.as_("member")("POST", f"requests/{uid}/submit", {})
    page = person("lead").open("/approvals/")
    page.wait_for_load_state("networkidle")
    page.evaluate(
        """key => document.addEventListener("htmx:afterSwap", event => {
            if (event.detail.target.id === "pane") {
                document.body.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
            }
        }, {once: true})""",
        "a",
    )
    page.evaluate(f"htmx.ajax('GET', {json.dumps(f'/approvals/{uid}/')}, {{target: '#pane'}})")
    expect(page.locator("#pane")).to_contain_text("takes effect in", timeout=SOON)
    assert page.url.startswith(house.stack.url + "/approvals/")

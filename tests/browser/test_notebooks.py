"""A notebook as people live with it: opened, used, left, warned of, kept, reclaimed, resumed."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, expect

from tests.house import House, fleet_of
from tests.waiting import until

SOON, LATER, BUILT = 60_000, 180_000, 420_000
"""Milliseconds: a page moves, an agent acts, an environment is built from the package index."""

SEEN_PERCENT = 5.0
"""A seventh of the card at most, and the readings before the cell ran are in the mean."""

CELL = """
import time; open('kept.txt', 'w').write('still here')
end = time.time() + 45
while time.time() < end: sum(range(100_000))
print('sum', 40 + 2)
"""

ASKS = """
import urllib.request, urllib.error
try: print('let in', urllib.request.urlopen('{url}/api/v1/whoami/').status)
except urllib.error.HTTPError as no: print('refused with', no.code)
"""

FROM_THE_PAGE = """
async (url) => {
    try {
        const answer = await fetch(url, {credentials: "include"});
        return "answered " + answer.status;
    } catch (no) {
        return "blocked";
    }
}
"""

POSTED = """
(url) => {
    const form = document.createElement("form");
    form.method = "post"; form.action = url; form.target = "_blank";
    document.body.append(form); form.submit(); form.remove();
}
"""

MOVED = """
INSERT INTO pool_clockshift (id, base_real, base_pool, speed)
VALUES (1, clock_timestamp(), pool_now() + make_interval(secs => %s), 1)
ON CONFLICT (id) DO UPDATE SET base_real = excluded.base_real, base_pool = excluded.base_pool
RETURNING id
"""


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    """A stack of its own, whose clock may be moved; its agent builds a real JupyterLab."""
    made = House(fleet=fleet_of("sim-a", cards=2), GPUPOOL_CLOCK_MOVABLE="1")
    try:
        made.stack.ready(seconds=400)
        yield made
    finally:
        made.over()


def entered(page: Page) -> Page:
    """Inside of JupyterLab, by the button of the notebook's page."""
    page.get_by_role("button", name="Open", exact=True).click()
    page.wait_for_url("**/lab**", timeout=LATER, wait_until="commit")
    page.locator(".jp-Launcher, .jp-NotebookPanel").first.wait_for(timeout=LATER)
    return page


def run_cell(lab: Page, text: str) -> None:
    """Write into the last cell and run it, once the kernel is there."""
    lab.get_by_role("button", name="Python 3 (ipykernel) | Idle").wait_for(timeout=LATER)
    cell = lab.locator(".jp-Notebook .jp-Cell .cm-content").last
    cell.click()
    lab.keyboard.insert_text(text)
    lab.keyboard.press("Shift+Enter")


def sm_drawn(page: Page) -> list[float]:
    """What the page's own chart draws for the compute of the slice."""
    text = page.locator("#series").text_content(timeout=SOON) or "{}"
    panels = json.loads(text).get("panels", [])
    lines = [line["data"] for one in panels if one["unit"] == "%" for line in one["lines"]]
    return [value for _at, value in (lines[0] if lines else []) if value is not None]


def quiet(house: House, uid: str) -> bool:
    """Whether the pool counts it as unused."""
    found = house.as_("member")("GET", f"workloads/{uid}/notebook")
    return found["verdict"] in ("idle", "holding")


@contextmanager
def told_of(house: House, uid: str) -> Iterator[None]:
    """What does not come true is told with all that the pool knows of the notebook."""
    try:
        yield
    except AssertionError as late:
        known = house.as_("member")("GET", f"workloads/{uid}/notebook")
        raise AssertionError(f"{late}\n{json.dumps(known, indent=1)}") from None


def clock_moved(house: House, uid: str, seconds: float) -> None:
    """Let the pool's time go on while nobody touches the notebook; SM is a mean of 90 s."""
    with told_of(house, uid):
        until(lambda: quiet(house, uid), seconds=400, what="nothing moves in the notebook")
    house.rows(MOVED, seconds)


@pytest.mark.timeout(1500)
def test_a_notebook_is_used_left_warned_of_kept_reclaimed_and_resumed(person, house):
    mei = person("member")
    page = mei.open("/notebooks/")
    page.get_by_role("button", name="Start a notebook").click()
    page.wait_for_url(re.compile("/notebooks/wl-"))
    uid = page.url.rstrip("/").rpartition("/")[2]
    expect(page.locator("[aria-current=step]")).to_be_visible(timeout=SOON)
    page.get_by_role("button", name="Open", exact=True).wait_for(timeout=BUILT)

    lab = page.context.new_page()
    lab.goto(f"{mei.url}/notebooks/{uid}/")
    entered(lab)
    lab.click(".jp-LauncherCard[data-category=Notebook]")
    lab.locator(".jp-Notebook .jp-Cell .cm-content").first.wait_for(timeout=SOON)
    run_cell(lab, CELL.strip())

    charts = mei.open(f"/workloads/{uid}/")
    until(
        lambda: max(sm_drawn(charts), default=0.0) > SEEN_PERCENT,
        seconds=90,
        what="SM on the live chart",
    )
    expect(charts.locator("#chart svg, [data-chart] svg").first).to_be_visible()
    expect(lab.get_by_text("sum 42")).to_be_visible(timeout=LATER)

    no_portal_from_inside(lab, house, uid)

    home = mei.open("/")
    clock_moved(house, uid, 5500)
    strip = home.locator(f"[data-warning={uid}]")
    expect(strip).to_contain_text("variables in memory are lost", timeout=LATER)
    banner = lab.locator("#gpupool-banner")
    expect(banner).to_contain_text(re.compile(r"stopped in \d+:\d\d"), timeout=SOON)
    strip.get_by_role("button", name="Keep it").click()
    expect(strip).to_have_count(0, timeout=SOON)
    expect(banner).to_have_count(0, timeout=SOON)

    clock_moved(house, uid, 7300)
    expect(strip).to_be_visible(timeout=LATER)
    house.rows(MOVED, 200)
    with told_of(house, uid):
        house.all_in_state([uid], "reclaimed", seconds=120)
    expect(banner).to_contain_text("This notebook is over", timeout=SOON)
    held = "SELECT count(*) FROM pool_hold WHERE upper_inf(held)"
    until(lambda: house.rows(held) == [(0,)], seconds=60, what="its slice is given back")

    page = mei.open(f"/notebooks/{uid}/")
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("button", name="Open", exact=True).wait_for(timeout=LATER)
    lab.goto(page.url)
    entered(lab)
    kept = lab.evaluate("(uid) => fetch(`/n/${uid}/files/kept.txt`).then((one) => one.text())", uid)
    assert kept == "still here"
    known = house.as_("member")("GET", f"workloads/{uid}/notebook")
    assert (known["keeps_left"], known["warned_minutes"]) == (3, None)
    others_only_read(person, mei, uid)


def others_only_read(person, mei, uid: str) -> None:
    """Whoever is of the project reads the files while their owner lets them, and nothing else."""
    mei.open(f"/notebooks/{uid}/share/").get_by_role("button", name="Let them read").click()
    expect(mei.page.get_by_text("may read its files until")).to_be_visible(timeout=SOON)
    there = person("lead").open(f"/notebooks/{uid}/")
    there.get_by_role("button", name="Look at its files").click()
    there.wait_for_url(f"**/look/{uid}/", timeout=SOON)
    assert there.evaluate("getComputedStyle(document.body).maxWidth") == "960px"
    there.get_by_role("link", name="kept.txt").click()
    expect(there.get_by_text("still here")).to_be_visible(timeout=SOON)
    gateway = there.url.partition("/look/")[0]
    answer = there.request.post(f"{gateway}/look/{uid}/kept.txt", data="gone")
    assert answer.status == 405
    assert there.request.get(f"{gateway}/n/{uid}/api/contents").status == 403
    mei.page.get_by_role("button", name="End it").click()
    mei.page.locator("#confirm [data-confirm-yes]").click()
    expect(mei.page.get_by_text("may read its files until")).to_have_count(0, timeout=SOON)
    there.wait_for_timeout(4000)  # the gateway knows its guests for three seconds
    assert there.request.get(f"{gateway}/look/{uid}/kept.txt").status == 403


def no_portal_from_inside(lab: Page, house: House, uid: str) -> None:
    """Neither a script of its page nor its kernel is anybody to the portal."""
    assert lab.evaluate(FROM_THE_PAGE, f"{house.stack.url}/api/v1/whoami/") == "blocked"
    lab.evaluate(POSTED, f"{house.stack.url}/notebooks/{uid}/stop/")
    run_cell(lab, ASKS.strip().format(url=house.stack.url))
    expect(lab.get_by_text("refused with 401", exact=True)).to_be_visible(timeout=SOON)
    assert house.as_("member")("GET", f"workloads/{uid}")["state"] == "running"

"""Every page in a real browser: no violation of axe's rules, nothing wider than the screen."""

import pytest

from tests.architecture.house import ROOT

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
PAGES = (
    "/",
    "/workloads/",
    "/workloads/new/",
    "/queue/",
    "/requests/",
    "/requests/new/",
    "/map/",
    "/nodes/",
    "/templates/",
    "/quotas/",
    "/usage/",
    "/tokens/",
    "/profile/",
    "/accounts/password/change/",
    "/nothing-here/",
)
DESK = ("/approvals/", "/approvals/decided/", "/people/", "/events/")


def violations(page) -> list[str]:
    """What axe objects to, one line each."""
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found]


@pytest.mark.parametrize(
    ("width", "dark", "locale"), [(1440, False, "en-GB"), (390, True, "zh-CN")]
)
def test_every_page_can_be_read_by_everybody_at_every_width(width, dark, locale, person, house):
    house.ended([house.submit("echo hello", name="for-the-pages")])
    member = person("member", width=width, dark=dark, locale=locale)
    admin = person("org_admin", width=width, dark=dark, locale=locale)
    for one, paths in ((member, PAGES), (admin, DESK)):
        for path in paths:
            page = one.open(path)
            page.wait_for_load_state("networkidle")
            assert violations(page) == [], path
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_the_page_of_a_job_and_the_drawer_of_a_card_are_clean_too(person, house):
    uid = house.submit("echo hello; sleep 20", name="looked-at")
    house.all_in_state([uid], "running")
    for width, dark in ((1440, True), (390, False)):
        page = person("member", width=width, dark=dark).open(f"/workloads/{uid}/")
        page.wait_for_load_state("networkidle")
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.goto(house.stack.url + "/map/")
        page.locator(".gp-drawn-head").first.click()
        page.locator("#card-drawer .gp-facts").wait_for()
        page.locator("#card-drawer.show:not(.showing)").wait_for()
        assert violations(page) == []


def test_the_login_page_is_clean_and_the_theme_is_kept(chromium, house):
    page = chromium.new_context().new_page()
    page.goto(house.stack.url + "/accounts/login/")
    assert violations(page) == []
    page.click("button[data-theme-choice=dark]")
    page.reload()
    assert page.get_attribute("html", "data-bs-theme") == "dark"
    assert violations(page) == []
    page.context.close()


def test_keys_walk_a_list_and_explain_themselves(person, house):
    house.ended([house.submit("true", name="by-keys")])
    page = person("member").open("/workloads/")
    page.keyboard.press("j")
    first = page.locator("tr.gp-current a[data-open]")
    assert first.get_attribute("href").startswith("/workloads/wl-")
    page.keyboard.press("?")
    page.locator("#keyboard-help.show").wait_for()
    page.keyboard.press("Escape")
    page.locator("#keyboard-help.show").wait_for(state="detached")
    page.keyboard.press("/")
    page.keyboard.type("jk?")
    assert page.input_value("#search") == "jk?"

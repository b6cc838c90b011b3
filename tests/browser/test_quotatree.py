"""An admin edits the quota tree in a real browser: sums live, the strip, a reason, taken back."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_looks import violations

SOON = 30_000
CARD = 1_000_000


@pytest.fixture
def tree(house):
    """Limits of the example project and its organization, in cards; put back afterwards."""
    admin = house.as_("platform_admin")
    home = next(one for one in house.people if one["project"] == house.project)
    row = {"partition": "a100", "unit": "cards_micro", "card_model": "A100-80GB", "kind": "limit"}
    places = ({"organization": home["organization"]}, {"project": house.project})

    def put():
        for place, limit in zip(places, (8, 6), strict=True):
            admin("POST", "quotas", row | place | {"limit": limit * CARD})

    put()
    yield admin
    put()


def test_an_admin_edits_the_tree_sees_what_it_brings_and_takes_it_back(person, house, tree):
    page = person("platform_admin").open("/quotas/tree/?partition=a100&model=A100-80GB")
    project = page.locator("tr.gp-tree-1", has_text=re.compile("vision", re.IGNORECASE)).first
    field = project.locator("[data-value=limit]")
    expect(field).to_have_value("6")
    field.fill("9")
    organization = page.locator("tr.gp-tree-0").first
    expect(organization.locator("[data-sum=limit]")).to_contain_text("below it")
    strip = page.locator("#strip")
    expect(strip).to_contain_text("1 card above the limit over it", timeout=SOON)
    field.fill("5")
    expect(strip).to_contain_text("1 change", timeout=SOON)
    page.get_by_role("button", name="Try it on the queue").click()
    expect(strip).to_contain_text("In the queue", timeout=SOON)
    assert violations(page) == []
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("[role=alert]")).to_contain_text("Say why", timeout=SOON)
    expect(project.locator("[data-value=limit]")).to_have_value("5")
    page.fill("#reason", "fewer people this term")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("body")).to_contain_text("1 limit was changed.", timeout=SOON)
    expect(project.locator("[data-value=limit]")).to_have_value("5")
    project.locator("a.gp-name").click()
    expect(page.locator("main")).to_contain_text("fewer people this term", timeout=SOON)
    page.get_by_role("button", name="Take back").first.click()
    page.locator("#confirm [data-confirm-yes]").click()
    expect(page.locator("body")).to_contain_text("Taken back, as a new change.", timeout=SOON)
    rows = tree("GET", f"quotas?project={house.project}&kind=limit&unit=cards_micro")["results"]
    assert [one["limit"] for one in rows if one["card_model"] == "A100-80GB"] == [6 * CARD]


PAGES = (
    "/quotas/tree/",
    "/quotas/planned/",
    "/quotas/drift/",
    "/quotas/unused/",
    "/configuration/",
    "/partitions/new/",
    "/templates/new/",
)


@pytest.mark.parametrize(("width", "dark"), [(1440, False), (390, True)])
def test_the_pages_of_limits_can_be_read_at_every_width(person, house, tree, width, dark):
    page = person("platform_admin", width=width, dark=dark).page
    for path in PAGES:
        page.goto(house.stack.url + path)
        page.wait_for_load_state("networkidle")
        assert violations(page) == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path

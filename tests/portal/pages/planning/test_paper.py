"""Capacity planning on paper: both languages, the figures of the page, for those who run things."""

import shutil
import subprocess

import pytest
from django.core.cache import cache
from django.utils.translation import override

from tests.portal.pages.planning.test_planning import idle_team, strangers_team

__all__ = ["idle_team", "strangers_team"]
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_kept():
    cache.clear()


def read(answer):
    """The words on the paper, page by page."""
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/pdf"
    program = shutil.which("pdftotext")
    assert program is not None
    done = subprocess.run(
        [program, "-layout", "-", "-"], input=answer.content, capture_output=True, check=True
    )
    return done.stdout.decode().split("\f")


def test_the_paper_says_what_the_page_says_on_two_pages(visit, idle_team):
    first, second, *rest = read(visit("org_admin").open("/planning/paper/"))
    assert [one for one in rest if one.strip()] == []
    assert "Optimise first: Sleepers holds 2.0 cards and uses 0.1" in first
    assert "plain queue" in first, "six cards want no more"
    assert "Change the cut" in second
    assert "too few weeks" in second or "not in sight" in second


def test_the_same_figures_make_the_same_bytes(visit, idle_team):
    admin = visit("platform_admin")
    assert admin.open("/planning/paper/").content == admin.open("/planning/paper/").content


def test_it_can_be_read_in_chinese(visit, idle_team):
    visitor = visit("org_admin")
    user = visitor.user
    user.language = "zh-hans"
    user.save(update_fields=["language"])
    with override("zh-hans"):
        (first, *_more) = read(visitor.open("/planning/paper/"))
    assert "Sleepers" in first
    assert any("\u4e00" <= sign <= "\u9fff" for sign in first)


def test_other_organizations_teams_are_not_on_it_and_members_get_none(
    visit, idle_team, strangers_team
):
    assert strangers_team.name not in read(visit("org_admin").open("/planning/paper/"))[0]
    assert visit("member").open("/planning/paper/").status_code == 403

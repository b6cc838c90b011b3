"""Capacity planning as those who run something see it; others' teams are nowhere on it."""

from datetime import timedelta

import pytest
from django.core.cache import cache

from pool.models import Card, TemplateVersion, Workload
from portal.pages.planning.figures import this_hour
from tests import rows
from tests.pool.selectors.planning.planted import hours, measured, ran

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_kept():
    cache.clear()


@pytest.fixture
def idle_team(world):
    """A team of the organization that held two cards for four weeks and did next to nothing."""
    rows.node(cards=2)
    until = this_hour()
    since = until - timedelta(days=28)
    into = rows.project(organization=world.own.project.organization, name="Sleepers")
    at, version = hours(since, 28 * 24), rows.template()
    for card in Card.objects.order_by("-pk")[:2]:
        _work, attempt, piece = ran(card=card, into=into, since=since, until=until, version=version)
        measured(card=card, hours=at, sm=4)
        measured(card=card, hours=at, piece=piece, attempt=attempt, sm=4, memory_mib=70_000)
    return into


@pytest.fixture
def strangers_team(world):
    rows.node(cards=1)
    card = Card.objects.order_by("-pk").first()
    until = this_hour()
    into = rows.project(name="Strangers of somewhere else")
    ran(card=card, into=into, since=until - timedelta(days=3), until=until)
    return into


def test_without_readings_there_is_no_verdict_but_the_days_that_are_missing(visit):
    answer = visit("platform_admin").open("/planning/")
    assert answer.status_code == 200
    assert "7 more days are needed" in answer.content.decode()


def test_an_idle_team_is_named_with_what_it_could_give_back(visit, idle_team):
    said = visit("org_admin").open("/planning/").content.decode()
    assert "Optimise first: Sleepers holds 2.0 cards and uses 0.1" in said
    assert "Change the cut" in said, "memory full, compute idle"


def test_the_page_tells_the_advice_by_size_the_median_wait_and_the_free_pieces(visit, idle_team):
    page = visit("org_admin").open("/planning/").content.decode()
    assert "a plain queue is enough" in page
    assert "Half wait up to" in page
    assert 'data-chart="room"' in page and "Free in pieces" in page


def test_a_corner_is_a_prepared_change_of_the_template_for_who_looks_after_it(visit, idle_team):
    version = Workload.objects.filter(project=idle_team).first().template_version
    TemplateVersion.objects.filter(pk=version.pk).update(
        need={"memory_gb": 80, "compute_milli": 500}
    )
    address = f"/templates/{version.template.uid}/edit/?compute_percent=3"
    page = visit("platform_admin").open("/planning/").content.decode()
    assert address in page
    form = visit("platform_admin").open(address).content.decode()
    assert 'name="compute_percent" value="3"' in form
    version.refresh_from_db()
    assert version.need["compute_milli"] == 500, "nothing is changed by looking"
    assert address not in visit("org_admin").open("/planning/").content.decode()


def test_other_organizations_teams_are_nowhere(visit, idle_team, strangers_team):
    assert strangers_team.name in visit("platform_admin").open("/planning/").content.decode()
    said = visit("org_admin").open("/planning/").content.decode()
    assert "Sleepers" in said and strangers_team.name not in said


@pytest.mark.parametrize("role", ["lead", "member", "viewer", "billing_reader", "stranger"])
def test_who_runs_nothing_may_not_look(visit, role):
    visitor = visit(role)
    assert visitor.open("/planning/").status_code == 403
    assert 'href="/planning/"' not in visitor.open("/").content.decode()


def test_two_periods_are_compared_in_place_and_a_wrong_date_is_told(visit, idle_team):
    visitor = visit("org_admin")
    day = this_hour().date()
    asked = f"/planning/?from_b={day - timedelta(days=7)}&to_b={day - timedelta(days=1)}"
    part = visitor.part(asked).content.decode()
    assert "<html" not in part and "Cards held, in the mean" in part
    assert "That is no date" in visitor.part("/planning/?from_a=31.5.").content.decode()
    backwards = f"/planning/?from_a={day}&to_a={day - timedelta(days=9)}"
    assert "A period ends after it begins" in visitor.part(backwards).content.decode()


def test_figures_of_one_hour_are_made_once(visit, idle_team, django_assert_max_num_queries):
    visitor = visit("org_admin")
    first = visitor.open("/planning/").content
    with django_assert_max_num_queries(30):
        again = visitor.open("/planning/").content
    assert len(first) == len(again)


def test_scripts_read_the_same_figures(world, idle_team):
    caller = world.by("org_admin")
    verdict = caller.get("/api/v1/capacity/verdict/").json()
    assert (verdict["choice"], verdict["spare"]) == ("optimise", [idle_team.slug])
    assert verdict["teams"][0]["held_cards"] == pytest.approx(2.0, abs=0.01)
    assert verdict["teams"][0]["p50_wait_s"] == 0
    assert (verdict["advice"], verdict["next_advice_at"]) == ("plain", 9)
    room = caller.get("/api/v1/capacity/room/").json()["results"]
    assert len(room) == 28
    assert room[10]["held"] >= 2 and room[10]["in_pieces"] == 0 and room[10]["stranded"] is None
    (corner,) = caller.get("/api/v1/capacity/corners/").json()["results"]
    assert (corner["corner"], corner["compute_milli"]) == ("recut", 40)
    found = caller.get("/api/v1/capacity/demand/").json()["results"]
    assert found[0]["weeks"][-1] == 2.0
    until = this_hour()
    span = {"since": (until - timedelta(days=7)).isoformat(), "until": until.isoformat()}
    period = caller.post("/api/v1/capacity/period/", span).json()
    an_hour_of_another_team = 1 / (7 * 24)
    assert 2.0 <= period["mean_cards"] <= 2.0 + 2 * an_hour_of_another_team
    wrong = caller.post("/api/v1/capacity/period/", {**span, "since": span["until"]})
    assert wrong.status_code == 400 and "until" in wrong.content.decode()


@pytest.mark.parametrize("day", ["9999-01-01", "9999-12-31", "0001-01-01"])
def test_a_period_that_no_calendar_holds_is_told_and_the_usual_one_shown(visit, day):
    page = visit("org_admin").client.get(f"/planning/?from_b={day}&to_b={day}")
    assert page.status_code == 200 and "A day from 2000 to 2999." in page.content.decode()

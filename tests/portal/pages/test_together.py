"""Choosing several requests in the inbox: the sum shown, one yes, nobody else's."""

import pytest

from pool.models import Quota, Request

PATH = "/approvals/together/"


def read(*asked):
    return {"read": [f"{one.uid}:{one.revision}" for one in asked]}


def pending(*asked):
    return [Request.objects.get(pk=one.pk).pending_decision is not None for one in asked]


@pytest.fixture
def two(world):
    """Two requests of one project that could run in the world's partition."""
    asked = [world.own.asked(), world.own.asked()]
    for one in asked:
        one.partitions.add(world.partition)
    return asked


def test_one_yes_decides_all_that_was_chosen_with_an_undo(visit, two):
    lead = visit("lead")
    shown = lead.part(f"{PATH}?pick={two[0].uid}&pick={two[1].uid}").content.decode()
    assert "Approve 2 requests" in shown
    answer = lead.send(PATH, read(*two), htmx=True)
    assert answer.status_code == 200
    assert "approvals-changed" in answer["HX-Trigger"]
    assert pending(*two) == [True, True]


def test_one_undo_takes_the_whole_yes_back_and_nothing_once_it_has_taken_effect(visit, two):
    lead, undo = visit("lead"), {"pick": [one.uid for one in two]}
    shown = lead.send(PATH, read(*two), htmx=True).content.decode()
    assert "Undo all" in shown and 'data-show="until"' in shown
    shown = lead.send(f"{PATH}undo/", undo, htmx=True).content.decode()
    assert "Approve 2 requests" in shown
    assert pending(*two) == [False, False]
    assert lead.send(f"{PATH}undo/", undo, htmx=True).status_code == 409
    lead.send(PATH, read(two[0]), htmx=True)
    assert lead.send(f"{PATH}undo/", undo, htmx=True).status_code == 409
    assert pending(*two) == [True, False]


def test_nobody_takes_anothers_yes_back(visit, world, two):
    visit("lead").send(PATH, read(*two), htmx=True)
    undo = {"pick": [one.uid for one in two]}
    assert visit("org_admin").send(f"{PATH}undo/", undo, htmx=True).status_code == 409
    assert visit("member").send(f"{PATH}undo/", undo, htmx=True).status_code == 403
    assert pending(*two) == [True, True]


def test_a_sum_over_a_limit_shows_no_button_and_is_refused_whole(visit, world, two):
    Quota.objects.filter(project=world.own.project, user=None).update(limit_value=1)
    lead = visit("lead")
    shown = lead.part(f"{PATH}?pick={two[0].uid}&pick={two[1].uid}").content.decode()
    assert "over the limit" in shown
    assert "data-key" not in shown
    answer = lead.send(PATH, read(*two), htmx=True)
    assert answer.status_code == 409
    assert b"nothing was approved" in answer.content
    assert pending(*two) == [False, False]


def test_an_older_reading_or_one_that_is_none_decides_nothing(visit, two):
    for said in (f"{two[1].uid}:7", two[1].uid, f"{two[1].uid}:²"):
        given = {"read": [*read(two[0])["read"], said]}
        assert visit("lead").send(PATH, given, htmx=True).status_code == 409
    assert pending(*two) == [False, False]


def test_another_tenants_request_is_not_there_and_stops_the_whole_yes(visit, world, two):
    other = world.other.asked()
    lead = visit("lead")
    assert other.uid not in lead.part(f"{PATH}?pick={other.uid}").content.decode()
    assert lead.send(PATH, read(two[0], other), htmx=True).status_code == 409
    assert pending(two[0], other) == [False, False]


@pytest.mark.parametrize("role", ["member", "viewer", "billing_reader"])
def test_who_does_not_decide_may_not_even_look(role, visit, two):
    assert visit(role).open(PATH).status_code == 403
    assert visit(role).send(PATH, read(*two)).status_code == 403
    assert pending(*two) == [False, False]


def test_nothing_chosen_says_so_and_a_choice_outlives_a_fresh_list(visit, two):
    lead = visit("lead")
    assert "Nothing is chosen" in lead.open(PATH).content.decode()
    shown = lead.part(f"/approvals/?pick={two[1].uid}").content.decode()
    assert shown.count(" checked") == 1

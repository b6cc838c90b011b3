"""Changes on a day to come and grants that end: swept once, however often one looks."""

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pool.clock import now
from pool.errors import IllegalMove, Invalid
from pool.events import SYSTEM
from pool.models import Event, PlannedQuota, Quota
from pool.services.quotas import QuotaLine, quotas_set
from pool.services.quotatree.planned import quota_plan, quota_plan_cancel, quota_plans_due
from tests import factories as make

HOUR = timedelta(hours=1)


@pytest.fixture
def world(db):
    return make.World()


def line(world, limit):
    return QuotaLine(
        tenant=world.project,
        partition=world.partition,
        unit="cards_micro",
        card_model="A100-80GB",
        limit=limit,
    )


def set_now(world, limit):
    quotas_set(lines=[line(world, limit)], actor=make.by(world.platform))


def plan(world, amount, does="set", start=HOUR, end=None, **words):
    given_ = {"reason": "term begins", "actor": make.by(world.platform)} | words
    ends = None if end is None else now() + end
    return quota_plan(
        line=line(world, amount), does=does, starts_at=now() + start, ends_at=ends, **given_
    )


def come(row, **columns):
    """Its time has come."""
    past = {name: now() - HOUR * back for name, back in columns.items()}
    PlannedQuota.objects.filter(pk=row.pk).update(**past)


def state(row):
    row.refresh_from_db()
    return row.state


def limit():
    return Quota.objects.get().limit_value


def test_a_value_is_set_on_its_day_and_only_once(world):
    set_now(world, 4)
    row = plan(world, 6)
    assert quota_plans_due(actor=SYSTEM) == 0
    assert limit() == 4
    come(row, starts_at=1)
    assert [quota_plans_due(actor=SYSTEM) for _ in range(2)] == [1, 0]
    assert (limit(), state(row)) == (6, "done")
    told = Event.objects.filter(kind="quota.changed").last().data
    assert (told["before"], told["after"], told["reason"]) == (4, 6, "term begins")
    assert told["change"] == row.uid


def test_a_grant_adds_for_its_time_and_takes_away_what_it_gave(world):
    set_now(world, 4)
    row = plan(world, 3, "grant", end=2 * HOUR)
    come(row, starts_at=1)
    quota_plans_due(actor=SYSTEM)
    assert (limit(), state(row)) == (7, "in_force")
    set_now(world, 5)
    assert (limit(), Quota.objects.get().granted) == (8, 3)
    come(row, starts_at=3, ends_at=1)
    assert [quota_plans_due(actor=SYSTEM) for _ in range(2)] == [1, 0]
    assert (limit(), Quota.objects.get().granted, state(row)) == (5, 0, "done")


@pytest.mark.handmade_books
def test_a_grant_that_ends_below_use_stops_nothing_and_shows_over(world):
    set_now(world, 4)
    row = plan(world, 3, "grant", end=2 * HOUR)
    come(row, starts_at=1)
    quota_plans_due(actor=SYSTEM)
    Quota.objects.update(held=7)
    come(row, starts_at=3, ends_at=1)
    quota_plans_due(actor=SYSTEM)
    one = Quota.objects.get()
    assert (one.limit_value, one.held, one.ceiling) == (4, 7, 7)
    assert Event.objects.filter(kind="quota.changed").last().data["over_by"] == 3


def test_a_grant_that_nobody_swept_in_time_never_comes_into_force(world):
    set_now(world, 4)
    row = plan(world, 3, "grant", end=2 * HOUR)
    come(row, starts_at=3, ends_at=1)
    quota_plans_due(actor=SYSTEM)
    assert (limit(), state(row)) == (4, "cancelled")


def test_where_nothing_binds_there_is_nothing_to_add_to(world):
    row = plan(world, 3, "grant", end=2 * HOUR)
    come(row, starts_at=1)
    quota_plans_due(actor=SYSTEM)
    assert (state(row), Quota.objects.count()) == ("cancelled", 0)


def test_a_grant_called_off_in_its_time_gives_back_at_once_and_only_once(world):
    set_now(world, 4)
    row = plan(world, 3, "grant", end=2 * HOUR)
    come(row, starts_at=1)
    quota_plans_due(actor=SYSTEM)
    quota_plan_cancel(plan=row, actor=make.by(world.platform), reason="done early")
    assert (limit(), state(row)) == (4, "cancelled")
    with pytest.raises(IllegalMove):
        quota_plan_cancel(plan=row, actor=make.by(world.platform))
    assert limit() == 4


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ({"does": "wish"}, "does"),
        ({"end": 2 * HOUR}, "ends_at"),
        ({"does": "grant"}, "ends_at"),
        ({"does": "grant", "end": HOUR / 2}, "ends_at"),
        ({"does": "grant", "end": 2 * HOUR, "amount": 0}, "amount"),
        ({"start": timedelta(days=9999)}, "starts_at"),
        ({"reason": " "}, "reason"),
    ],
)
def test_what_cannot_be_planned_is_refused_by_field(world, words, field):
    with pytest.raises(Invalid) as refused:
        plan(world, words.pop("amount", 3), **words)
    assert list(refused.value.detail) == [field]
    assert not PlannedQuota.objects.exists()


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    steps=st.lists(
        st.one_of(
            st.tuples(st.just("set"), st.integers(0, 9)),
            st.tuples(st.just("grant"), st.integers(1, 9)),
            st.tuples(st.sampled_from(["end", "sweep"]), st.just(0)),
        ),
        max_size=12,
    )
)
def test_the_limit_is_always_what_was_set_and_the_grants_in_force(world, steps):
    Quota.objects.all().delete()
    PlannedQuota.objects.all().delete()
    set_now(world, 4)
    base, grants = 4, []
    for what, amount in steps:
        if what == "set":
            set_now(world, amount)
            base = amount
        elif what == "grant":
            row = plan(world, amount, "grant", end=2 * HOUR)
            come(row, starts_at=1)
            quota_plans_due(actor=SYSTEM)
            grants.append(row)
        elif what == "end" and grants:
            come(grants.pop(), starts_at=3, ends_at=1)
            quota_plans_due(actor=SYSTEM)
        quota_plans_due(actor=SYSTEM)
        assert limit() == base + sum(one.amount for one in grants)

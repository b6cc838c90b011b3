"""Many rows set together: all or none, on what was read, taken away, kept apart from grants."""

from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from pool.errors import Invalid, QuotaExceeded, Stale
from pool.lifecycle.roles import QuotaKind, QuotaUnit
from pool.models import Event, Quota
from pool.services import quotas
from pool.services.quotas import QuotaLine, quotas_set
from pool.services.workloads import workload_submit
from tests import factories as make

LABEL = "A100-80GB"


@pytest.fixture
def world(db):
    return make.World()


def line(world, limit, tenant=None, **words):
    given = {"tenant": tenant or world.project, "partition": world.partition}
    given |= {"unit": QuotaUnit.CARDS_MICRO, "card_model": LABEL}
    return QuotaLine(limit=limit, **(given | words))


def put(world, *lines, **words):
    return quotas_set(lines=lines, actor=make.by(world.platform), **words)


def test_rows_of_three_levels_are_set_together_and_share_the_name_of_the_change(world):
    rows = put(
        world,
        line(world, 8, tenant=world.organization),
        line(world, 6),
        line(world, 4, user=world.member),
        line(world, 5, kind=QuotaKind.ENTITLEMENT, lend=2),
        reason="the new year",
    )
    assert [row.limit_value for row in rows] == [8, 6, 4, 5]
    told = [one.data for one in Event.objects.filter(kind="quota.changed")]
    assert len({one["change"] for one in told}) == 1
    assert [one["reason"] for one in told] == ["the new year"] * 4
    assert Quota.objects.get(kind=QuotaKind.ENTITLEMENT).lend_limit == 2


def test_one_wrong_line_leaves_everything_as_it_was(world):
    with pytest.raises(Invalid):
        put(world, line(world, 8), line(world, -1, user=world.member))
    assert not Quota.objects.exists()


def test_a_change_on_an_older_reading_is_refused_as_a_whole(world):
    put(world, line(world, 8), line(world, 4, user=world.member))
    with pytest.raises(Stale):
        put(world, line(world, 9), line(world, 5, user=world.member, expected=3))
    assert sorted(Quota.objects.values_list("limit_value", flat=True)) == [4, 8]
    put(world, line(world, 9, expected=8), line(world, 5, user=world.member, expected=4))
    assert sorted(Quota.objects.values_list("limit_value", flat=True)) == [5, 9]


def test_a_row_that_is_taken_away_binds_nobody_and_the_log_knows_it(world):
    put(world, line(world, 8))
    put(world, line(world, None))
    assert not Quota.objects.exists()
    told = Event.objects.filter(kind="quota.changed").last().data
    assert (told["before"], told["after"]) == (8, None)
    assert put(world, line(world, None)) == []


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ({"lend": 3}, "lend"),
        ({"lend": -2, "kind": QuotaKind.ENTITLEMENT}, "lend"),
        ({"unit": QuotaUnit.CARDS_EACH, "kind": QuotaKind.ALLOWANCE}, "kind"),
        ({"unit": QuotaUnit.CARD_SECONDS, "kind": QuotaKind.ENTITLEMENT}, "kind"),
    ],
)
def test_words_that_do_not_go_together_are_refused_by_field(world, words, field):
    with pytest.raises(Invalid) as refused:
        put(world, line(world, 5, **words))
    assert list(refused.value.detail) == [field]


def test_work_with_more_cards_than_one_workload_may_have_is_refused_at_once(world):
    make.allowance(world.project, world.partition, 8)
    put(world, line(world, 2_000_000, unit=QuotaUnit.CARDS_EACH))
    given = {"user": world.member, "project": world.project, "template_version": world.whole}
    given |= {"command": ["true"], "actor": make.by(world.member), "weights": make.FREE}
    workload_submit(need={"parts": 2}, **given)
    with pytest.raises(QuotaExceeded, match="cards for one workload"):
        workload_submit(need={"parts": 3}, **given)
    assert Quota.objects.get(unit=QuotaUnit.CARDS_EACH).held == 0


def test_a_longer_batch_asks_the_database_only_once_more_a_line(world):
    units = ("memory_mib", "compute_milli", "cpu_milli", "ram_mib", "disk_mib", "workloads")
    kinds = [line(world, 5, unit=unit, card_model="") for unit in units]
    places = [make.partition(f"p{n}", labels=()) for n in range(5)]
    lines = [replace(one, partition=place) for one in kinds for place in places]
    put(world, *lines)
    changed = [replace(one, limit=6) for one in lines]
    with CaptureQueriesContext(connection) as few:
        put(world, *changed[:2])
    with CaptureQueriesContext(connection) as many:
        put(world, *changed[2:])
    told = [one["sql"] for one in many if "pool_event" in one["sql"]]
    assert len(told) == len(lines) - 2
    assert len(many) - len(told) == len(few) - 2
    put(world, *(replace(one, limit=None) for one in lines))
    assert not Quota.objects.exists()


def test_a_row_that_somebody_else_makes_at_the_same_moment_is_changed(world, monkeypatch):
    there = quotas._there
    asked = []

    def late(lines):
        found = there(lines)
        if not asked:
            make.quota(world.project, world.partition, 3 / 1_000_000)
        asked.append(len(lines))
        return found

    monkeypatch.setattr(quotas, "_there", late)
    put(world, line(world, 8), line(world, 4, user=world.member))
    assert sorted(Quota.objects.values_list("limit_value", flat=True)) == [4, 8]


def test_the_same_row_twice_in_a_batch_is_what_the_last_line_says(world):
    put(world, line(world, 8), line(world, 9))
    assert Quota.objects.get().limit_value == 9


@pytest.mark.parametrize("limits", [(None, 7), (7, None)])
def test_of_two_lines_about_one_row_the_last_says_what_becomes_of_it(world, limits):
    put(world, line(world, 5))
    put(world, *(line(world, limit) for limit in limits))
    kept = list(Quota.objects.filter(project=world.project, card_model=LABEL))
    assert [row.limit_value for row in kept] == [one for one in limits[1:] if one is not None]
    told = Event.objects.filter(kind="quota.changed").order_by("-pk").first()
    assert told.data["after"] == limits[-1]

"""What must never be true is refused by the database itself, whoever writes."""

from datetime import timedelta

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction
from psycopg.types.range import Range

from pool.clock import now
from pool.events import SYSTEM, record
from pool.lifecycle.events import EventKind
from pool.models import Attempt, Card, Event, Hold, Placement, Quota, Slice, Workload
from pool.models.expressions import PoolNow, closed, open_hold, open_life
from tests import rows

pytestmark = [pytest.mark.django_db, pytest.mark.handmade_books]


@pytest.fixture
def card():
    rows.partition()
    return Card.objects.get(node=rows.node())


def cut(card, span=(0, 2), mode="mig", **given):
    words = {
        "mode": mode,
        "isolation": "hardware" if mode in ("mig", "whole") else "process",
        "profile": "p",
        "span": Range(*span) if span else None,
        "lived": open_life(card.pk),
        "memory_mib": 1000,
        "compute_milli": 100,
        "equivalents_micro": 1000,
        "state": "ready",
    }
    return Slice.objects.create(card=card, **words | given)


def placement(**given):
    work = rows.workload(**given)
    node = Card.objects.first().node
    attempt = Attempt.objects.create(workload=work, number=1, node=node)
    return Placement.objects.create(attempt=attempt, opened_at=now())


def hold(slice_row, of, *, trust=1, fenced=True, **given):
    words = {
        "placement": of,
        "slice": slice_row,
        "card": slice_row.card if slice_row else None,
        "node": of.attempt.node,
        "mode": slice_row.mode if slice_row else "host",
        "isolation": slice_row.isolation if slice_row else "none",
        "trust": trust,
        "fenced": fenced,
        "held": open_hold(slice_row.pk if slice_row else None),
    }
    return Hold.objects.create(**words | given)


def refused(name, act):
    with pytest.raises(IntegrityError) as why, transaction.atomic():
        act()
    assert name in str(why.value)


def test_slices_of_a_card_never_lie_on_each_other(card):
    cut(card, (0, 4))
    refused("slice_no_overlap_on_card", lambda: cut(card, (3, 5)))
    cut(card, (4, 8))


def test_a_place_is_free_again_once_its_slice_is_gone(card):
    old = cut(card, (0, 4))
    Slice.objects.filter(pk=old.pk).update(state="gone", lived=closed("lived"))
    cut(card, (0, 8))


def test_a_card_is_in_one_mode_at_a_time(card):
    cut(card, (0, 2))
    refused("slice_one_mode_per_card", lambda: cut(card, None, mode="mps"))


def test_only_slices_with_a_place_have_one(card):
    refused("slice_place_by_mode", lambda: cut(card, None, mode="mig"))
    refused("slice_place_by_mode", lambda: cut(card, (0, 1), mode="mps"))


def test_a_slice_is_no_more_than_a_card(card):
    refused("slice_within_a_card", lambda: cut(card, compute_milli=1001))
    refused("slice_within_a_card", lambda: cut(card, equivalents_micro=1_000_001))
    refused("slice_within_a_card", lambda: cut(card, memory_mib=0))


def test_a_slice_is_gone_exactly_when_its_life_has_ended(card):
    row = cut(card)
    refused(
        "slice_life_ends_when_gone", lambda: Slice.objects.filter(pk=row.pk).update(state="gone")
    )
    ended = {"lived": closed("lived")}
    refused("slice_life_ends_when_gone", lambda: Slice.objects.filter(pk=row.pk).update(**ended))


def test_a_slice_has_one_holder_at_a_time(card):
    row, first, second = cut(card), placement(), placement()
    held = hold(row, first)
    refused("hold_one_holder_per_slice", lambda: hold(row, second))
    Hold.objects.filter(pk=held.pk).update(held=closed("held"))
    hold(row, second)


def test_without_isolation_a_card_serves_one_trust_group(card):
    one, two = cut(card, None, mode="mps"), cut(card, None, mode="mps")
    hold(one, placement(), trust=1)
    refused("hold_one_trust_per_unisolated_card", lambda: hold(two, placement(), trust=2))
    hold(two, placement(), trust=1)


def test_with_hardware_isolation_a_card_serves_many(card):
    hold(cut(card, (0, 2)), placement(), trust=1)
    hold(cut(card, (2, 4)), placement(), trust=2)


def test_a_node_without_a_fence_serves_one_trust_group(card):
    hold(None, placement(), trust=1, fenced=False)
    refused(
        "hold_one_trust_per_unfenced_node",
        lambda: hold(None, placement(), trust=2, fenced=False),
    )


def test_a_hold_is_a_slice_of_a_card_or_a_share_of_a_host(card):
    row, of = cut(card), placement()
    refused("hold_slice_or_host_share", lambda: hold(row, of, card=None))
    refused("hold_slice_or_host_share", lambda: hold(None, of, mode="mig"))


def test_an_attempt_has_one_open_placement_and_work_one_open_attempt(card):
    of = placement()
    again = {"attempt": of.attempt, "opened_at": now()}
    refused("placement_one_open_per_attempt", lambda: Placement.objects.create(**again))
    refused(
        "attempt_one_open_per_workload",
        lambda: Attempt.objects.create(
            workload=of.attempt.workload, number=2, node=of.attempt.node
        ),
    )


def test_a_closed_placement_has_an_end(card):
    of = placement()
    refused(
        "placement_closed_has_end",
        lambda: Placement.objects.filter(pk=of.pk).update(state="closed"),
    )


def test_a_quota_row_never_holds_less_than_nothing_or_more_than_its_ceiling(card):
    into = rows.project()
    row = rows.quota(limit=5, project=into, partition=card.partition)
    for held in (-1, 6):
        refused(
            "quota_held_within_ceiling",
            lambda held=held: Quota.objects.filter(pk=row.pk).update(held=held),
        )
    refused(
        "quota_ceiling_covers_limit",
        lambda: Quota.objects.filter(pk=row.pk).update(limit_value=6),
    )


def test_a_quota_row_is_there_once(card):
    into = rows.project()
    rows.quota(limit=5, project=into, partition=card.partition)
    refused("quota_once", lambda: rows.quota(limit=7, project=into, partition=card.partition))


@pytest.mark.parametrize("state", ["placed", "starting", "preempting", "stopping", "unreachable"])
def test_a_state_that_must_not_last_has_a_deadline(card, state):
    work = rows.workload()
    refused(
        "workload_passing_state_has_deadline",
        lambda: Workload.objects.filter(pk=work.pk).update(state=state),
    )


def test_a_state_is_one_of_the_table(card):
    work = rows.workload()
    refused(
        "workload_state_known",
        lambda: Workload.objects.filter(pk=work.pk).update(state="resting"),
    )


def test_spans_never_run_backwards_when_the_clock_does(card):
    row, of = cut(card), placement()
    later = now() + timedelta(hours=1)
    held = hold(row, of, held=Range(later, None))
    Hold.objects.filter(pk=held.pk).update(held=closed("held"))
    held.refresh_from_db()
    assert held.held.upper - held.held.lower == timedelta(microseconds=1)
    after = hold(row, placement())
    after.refresh_from_db()
    assert after.held.lower == held.held.upper


def test_the_log_is_never_rewritten(card):
    record(EventKind.NODE_CHANGED, card.node, actor=SYSTEM)
    for act in (
        "UPDATE pool_event SET kind = 'x'",
        "DELETE FROM pool_event",
        "TRUNCATE pool_event",
    ):
        with (
            pytest.raises(DatabaseError, match="append-only"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(act)
    assert Event.objects.filter(kind="node.changed").count() == 1


def test_the_clock_of_the_database_is_the_pools_clock(card):
    seen = Workload.objects.annotate(at=PoolNow()).values_list("at", flat=True)
    rows.workload()
    assert abs((seen[0] - now()).total_seconds()) < 60

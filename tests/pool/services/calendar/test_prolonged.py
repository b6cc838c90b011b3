"""Reservations that go on: prolonged by maintenance, extended onto their own cards."""

from datetime import timedelta

import pytest
from django.db import transaction

from pool.clock import now
from pool.cycle.audit import breaches_now
from pool.cycle.round import run_rounds
from pool.cycle.snapshot import take
from pool.events import SYSTEM
from pool.models import Lease, Reservation, ReservedCard
from pool.services.calendar.guard import kept_for
from pool.services.calendar.kept import reservation_prolong
from pool.services.calendar.turns import reservations_due
from pool.services.leases import leases_ending_due
from tests import rows
from tests.pool.services.calendar.asker import Asker, cards_of, kept, seen, turn

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def prolonged(row, until):
    with transaction.atomic():
        Lease.objects.filter(pk=row.lease.pk).update(valid=(row.span.lower, until))
        reservation_prolong(lease=row.lease, until=until)


def test_a_card_that_another_has_reserved_is_not_kept_twice_when_a_lease_is_prolonged(asker):
    row = asker.reserve(copies=2)
    later = Asker().reserve(starts_at=row.span.upper, duration_seconds=3600)
    (taken,) = kept(later)
    prolonged(row, row.span.upper + HOUR)
    ends = {one.card_id: one.span.upper for one in row.kept.all()}
    assert seen(row).span.upper == later.span.upper
    assert {card for card, end in ends.items() if end < row.span.upper} == {taken}
    turn()
    past = (now() - 2 * HOUR, now() - timedelta(seconds=1))
    ReservedCard.objects.filter(reservation=row, card=taken).update(span=past)
    work = asker.work(row.lease)
    assert taken not in kept_for(seen(work)).cards
    (planned,) = [one for one in take(now()).waiting if one.id == work.pk]
    assert planned.kept == kept(row) - {taken}


def test_a_reservation_whose_own_time_is_over_ends_though_its_lease_goes_on(asker):
    row = asker.reserve()
    turn()
    Reservation.objects.update(span=(now() - HOUR, now() - timedelta(seconds=1)))
    reservations_due(actor=SYSTEM)
    assert (seen(row).state, row.state_reason) == ("ended", "its time is over")
    assert seen(row.lease).state == "active"


def test_a_lease_in_use_is_extended_onto_its_own_cards_and_counts_them_once(asker, part, node):
    limit = rows.quota(limit=2_000_000, project=asker.project, partition=part, label="A100-80GB")
    row = asker.reserve()
    turn()
    work = asker.work(row.lease, expected_seconds=36_000)
    run_rounds()
    node.turn()
    assert cards_of(work) == kept(row)
    longer = asker.reserve(starts_at=row.span.upper)
    assert kept(longer) == kept(row)
    at = now()
    for one, span in ((row, (at - HOUR, at)), (longer, (at, at + HOUR))):
        ReservedCard.objects.filter(reservation=one).update(span=span)
        Reservation.objects.filter(pk=one.pk).update(span=span)
        Lease.objects.filter(pk=one.lease_id).update(valid=span)
    leases_ending_due(actor=SYSTEM)
    reservations_due(actor=SYSTEM)
    assert seen(work).lease == longer.lease
    reservations_due(actor=SYSTEM)
    assert seen(longer).state == "active"
    assert seen(limit).held == 1_000_000
    assert breaches_now() == []
    assert reservations_due(actor=SYSTEM) == 0

"""Kept cards are paid from the start: what their own lease left idle, and never twice."""

from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.db.models import Sum
from psycopg.types.range import Range

from billing.models import Cursor, Posting, Usage
from billing.rating.intervals import micros
from billing.selectors.reconciling import differences
from billing.selectors.usage import project_month, usage_list
from billing.services.contracts import contract_set
from billing.services.metering import usage_meter
from billing.services.posting import ledger_post
from pool.events import SYSTEM, record
from pool.lifecycle.events import EventKind
from pool.models import ClockShift, Lease, Membership, Request, Reservation, ReservedCard
from pool.selectors.memberships import standing
from tests.billing.rows import Books, at, told

pytestmark = pytest.mark.django_db(transaction=True)

RATE = 1_900_000
HOUR_US = 3_600_000_000


def the_clock_says(moment):
    ClockShift.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO pool_clockshift VALUES (1, clock_timestamp(), %s, 0.0000001)", [moment]
        )


def moved(row, **values):
    """The reservation's row changes, and the log tells of it."""
    Reservation.objects.filter(pk=row.pk).update(**values)
    row.refresh_from_db()
    with transaction.atomic():
        record(EventKind.RESERVATION_MOVED, row, actor=SYSTEM, to=row.state)


def kept(books, card, *, began="2026-03-01T10:00:00", until="2026-03-01T14:00:00"):
    """An active reservation of one card, told in the log."""
    span = Range(at("2026-03-01T09:59:59"), at(until))
    words = {"project": books.project, "template_version": books.version}
    request = Request.objects.create(
        requester=books.user,
        duration_seconds=3600,
        lease_kind="reserved",
        state="submitted",
        **words,
    )
    lease = Lease.objects.create(request=request, kind="reserved", valid=span, **words)
    row = Reservation.objects.create(
        request=request,
        lease=lease,
        project=books.project,
        partition=books.partition,
        span=span,
        state="confirmed",
    )
    ReservedCard.objects.create(reservation=row, card=card, span=span)
    moved(row, state="active", began_at=at(began))
    return row


def idle(row):
    return list(Usage.objects.filter(kept__reservation=row).order_by("hour"))


def card_of(books):
    """A card that somebody held long ago."""
    return books.hold((at("2026-01-01"), at("2026-01-02"))).card


def test_an_idle_kept_card_is_metered_from_its_beginning_to_its_end():
    books = Books.opened(rate=RATE)
    row = kept(books, card_of(books))
    the_clock_says(at("2026-03-01T12:30:00"))
    usage_meter()
    made = idle(row)
    assert [(one.kind, one.hour.hour, one.reserved_us, one.running) for one in made] == [
        ("kept-idle", 10, HOUR_US, False),
        ("kept-idle", 11, HOUR_US, False),
        ("kept-idle", 12, HOUR_US // 2, True),
    ]
    assert [one.amount_micro for one in made] == [RATE, RATE, RATE // 2]
    assert {(one.owner, one.workload, one.project) for one in made} == {
        (books.user, None, books.project)
    }
    moved(row, state="ended", over_at=at("2026-03-01T12:45:00"))
    the_clock_says(at("2026-03-01T13:30:00"))
    usage_meter()
    assert sum(one.reserved_us for one in idle(row)) == HOUR_US * 11 // 4
    assert not any(one.running for one in idle(row))


def test_what_its_own_work_holds_is_not_counted_twice():
    books = Books.opened(rate=RATE)
    card = card_of(books)
    row = kept(books, card)
    work = books.workload(lease=row.lease)
    for span, micro in (
        ((at("2026-03-01T10:30:00"), at("2026-03-01T11:30:00")), 1_000_000),
        ((at("2026-03-01T12:00:00"), at("2026-03-01T13:00:00")), 250_000),
    ):
        hold = books.hold(span, micro=micro, placement=books.placement(work))
        hold.__class__.objects.filter(pk=hold.pk).update(card=card)
        told(hold)
    moved(row, state="ended", over_at=at("2026-03-01T14:00:00"))
    usage_meter()
    hours = {one.hour.hour: one.reserved_us for one in idle(row)}
    assert hours == {10: HOUR_US // 2, 11: HOUR_US // 2, 12: HOUR_US * 3 // 4, 13: HOUR_US}
    held = Usage.objects.filter(workload=work)
    whole = sum(one.amount_micro for one in held) + sum(one.amount_micro for one in idle(row))
    assert whole == 4 * RATE


def test_work_of_others_on_a_lent_card_leaves_the_lease_paying():
    books = Books.opened(rate=RATE)
    card = card_of(books)
    row = kept(books, card)
    hold = books.hold((at("2026-03-01T11:00:00"), at("2026-03-01T12:00:00")), micro=1_000_000)
    hold.__class__.objects.filter(pk=hold.pk).update(card=card)
    moved(row, state="ended", over_at=at("2026-03-01T14:00:00"))
    usage_meter()
    assert [one.reserved_us for one in idle(row)] == [HOUR_US] * 4


def test_metering_again_changes_nothing_and_goes_on_where_it_was():
    books = Books.opened(rate=RATE)
    row = kept(books, card_of(books))
    the_clock_says(at("2026-03-01T11:10:00"))
    usage_meter()
    first = [(one.hour, one.revision) for one in idle(row)]
    usage_meter()
    assert [(one.hour, one.revision) for one in idle(row)] == first
    the_clock_says(at("2026-03-01T12:10:00"))
    usage_meter()
    assert [one.reserved_us for one in idle(row)] == [HOUR_US, HOUR_US, HOUR_US // 6]
    assert [one.running for one in idle(row)] == [False, False, True]


def test_a_reservation_that_has_not_begun_costs_nothing():
    books = Books.opened(rate=RATE)
    row = kept(books, card_of(books))
    Reservation.objects.filter(pk=row.pk).update(began_at=None, state="confirmed")
    usage_meter()
    assert idle(row) == []


def test_it_counts_in_what_the_project_has_cost_this_month():
    books = Books.opened(rate=RATE)
    kept(books, card_of(books))
    the_clock_says(at("2026-03-01T12:00:00"))
    usage_meter()
    assert project_month(project=books.project).amount_micro == 2 * RATE
    Membership.objects.create(user=books.user, role="platform_admin")
    assert {one.kind for one in usage_list(standing=standing(user=books.user))} == {"kept-idle"}


def test_without_a_price_the_time_is_kept_and_the_amount_unknown():
    books = Books.opened(rate=None)
    row = kept(books, card_of(books))
    moved(row, state="ended", over_at=at("2026-03-01T10:00:00") + timedelta(minutes=30))
    usage_meter()
    (one,) = idle(row)
    assert (one.reserved_us, one.amount_micro) == (HOUR_US // 2, None)


def test_who_pays_for_a_kept_card_that_stays_idle_is_what_the_contract_says():
    books = Books.opened(rate=RATE)
    card = card_of(books)
    type(card).objects.filter(pk=card.pk).update(partition=books.partition)
    the_clock_says(at("2026-03-01T12:00:00"))
    home = books.project.organization
    contract_set(since=at("2026-03-01").date(), guarantee_by="platform", actor=SYSTEM)
    kept(books, card)
    usage_meter()
    Cursor.objects.update_or_create(
        name="ledger", defaults={"event": micros(at("2026-03-01T10:00:00"))}
    )
    ledger_post(until=at("2026-03-01T12:00:00"))
    own = Posting.objects.filter(organization_id=home.pk)
    assert not own.exists(), "the platform keeps it at its own cost"
    assert {row.amount_micro for row in idle(Reservation.objects.get())[:2]} == {RATE}
    since, until = at("2026-03-01T10:00:00"), at("2026-03-01T12:00:00")
    assert differences(since=since, until=until) == []
    contract_set(
        organization=home, since=at("2026-03-01").date(), guarantee_by="holders", actor=SYSTEM
    )
    Cursor.objects.filter(name="ledger").update(event=micros(since))
    ledger_post(until=until)
    assert own.aggregate(s=Sum("amount_micro"))["s"] == 2 * RATE
    assert differences(since=since, until=until) == []

"""Reservations: asked with a reserved request, confirmed by its yes, ended with their lease."""

from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.utils.translation import gettext

from pool.clock import now
from pool.errors import Invalid, NoRoom
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.leases import LeaseKind
from pool.lifecycle.reservations import ReservationState
from pool.models.cards import Card
from pool.models.leases import Lease
from pool.models.requests import Request
from pool.models.reservations import Reservation, ReservedCard
from pool.rules.needs import from_mapping
from pool.selectors.calendar.reservations import cards_for, leases_before
from pool.services.calendar.kept import CARD, quota_keep, quota_release
from pool.services.moves import locked, move
from pool.wake import Wake, round_wanted, wake

LIVE = (ReservationState.CONFIRMED, ReservationState.ACTIVE)


def reservation_ask(*, request: Request, actor: Actor) -> None:
    """Note what a reserved request asks to be kept; a request on demand asks for nothing.

    Call it inside the sending or change of the request.

    Raises:
        Invalid: work without a card cannot be reserved.
    """
    row = Reservation.objects.filter(request=request).first()
    if request.lease_kind != LeaseKind.RESERVED:
        if row is not None and row.state == ReservationState.ASKED:
            move(row, ReservationState.CANCELLED, actor=actor, reason="asked on demand now")
        return
    if from_mapping(request.need).parts == 0:
        said = gettext("Only cards can be reserved; this needs none.")
        raise Invalid(lease_kind=said)
    start = max(now(), request.starts_at) if request.starts_at else now()
    span = DateTimeTZRange(start, start + timedelta(seconds=request.duration_seconds))
    if row is not None and row.state == ReservationState.ASKED:
        Reservation.objects.filter(pk=row.pk).update(span=span)
        return
    if row is not None:
        said = gettext("Its reservation was called off: send a new request.")
        raise Invalid(lease_kind=said)
    made = Reservation.objects.create(request=request, project=request.project, span=span)
    record(EventKind.RESERVATION_ASKED, made, actor=actor, request=request.uid)


def reservation_confirm(*, request: Request, lease: Lease, actor: Actor) -> None:
    """Choose the cards and keep them for the lease; nothing for a lease on demand.

    Call it inside the approval. The candidates' rows are locked while they are judged, so that a
    start or another reservation decided meanwhile is seen, or sees this. It begins with the next
    sweep of the clock, never here: quota rows are locked before cards.

    Raises:
        NoRoom: not enough cards are free of other reservations, maintenance and running work.
    """
    if lease.kind != LeaseKind.RESERVED:
        return
    (row,) = locked(Reservation.objects.filter(request=request).select_related("project"))
    choice = cards_for(
        need=from_mapping(lease.need),
        copies=lease.copies,
        partitions=lease.partitions.all(),
        trust=lease.project.trust_group_id,
        version=lease.template_version,
        starts_at=lease.valid.lower,
        ends_at=lease.valid.upper,
        now=now(),
        lock=True,
        goes_on=leases_before(
            project=lease.project_id,
            template=lease.template_version.template_id,
            starts_at=lease.valid.lower,
        ),
    )
    if choice.partition is None:
        raise NoRoom(
            why=gettext("others have them reserved, they are in maintenance, or work runs on them")
        )
    span = lease.valid
    try:
        with transaction.atomic():
            ReservedCard.objects.bulk_create(
                ReservedCard(reservation=row, card_id=card, span=span) for card in choice.cards
            )
    except IntegrityError as taken:
        raise NoRoom(why=gettext("somebody else reserved them a moment ago")) from taken
    lease.partitions.set([choice.partition])
    row.lease, row.partition, row.span = lease, choice.partition, span
    row.save(update_fields=["lease", "partition", "span"])
    move(row, ReservationState.CONFIRMED, actor=actor, told=_told(row))
    wake(Wake.WATCH)
    round_wanted()


def reservation_begin(*, row: Reservation, actor: Actor) -> None:
    """Its time has come: the cards count in quota, whoever uses them, and an event says so."""
    quota_keep(reservation=row)
    began = {"began_at": now()}
    move(row, ReservationState.ACTIVE, actor=actor, told=_told(row), changes=began)
    round_wanted()


def reservation_close(*, lease: Lease, actor: Actor, reason: str) -> None:
    """The lease is over: its cards are anybody's again. Does nothing for a lease on demand."""
    rows = locked(Reservation.objects.filter(lease=lease, state__in=LIVE).select_related("project"))
    for row in rows:
        reservation_end(row=row, actor=actor, reason=reason)


def reservation_drop(*, request: Request, actor: Actor, reason: str) -> None:
    """The request ended without a yes."""
    rows = Reservation.objects.filter(request=request, state=ReservationState.ASKED)
    for row in locked(rows.select_related("project")):
        move(row, ReservationState.CANCELLED, actor=actor, reason=reason)


def reservation_end(*, row: Reservation, actor: Actor, reason: str) -> None:
    """A locked reservation lets its cards go, begun or not."""
    told = _told(row)
    began = row.state == ReservationState.ACTIVE
    if began:
        quota_release(reservation=row)
    ReservedCard.objects.filter(reservation=row).update(live=False)
    then = ReservationState.ENDED if began else ReservationState.CANCELLED
    over = {"over_at": now()} if began else {}
    move(row, then, actor=actor, reason=reason, told=told, changes=over)
    round_wanted()


def _told(row: Reservation) -> dict[str, Any]:
    """What billing reads: which cards, how much of each, for whom, from when to when."""
    cards = Card.objects.filter(reserved__reservation=row).select_related("node").order_by("pk")
    return {
        "request": row.request.uid,
        "lease": row.lease.uid if row.lease else "",
        "partition": row.partition.uid if row.partition else "",
        "cards": [{"card": one.uid, "label": one.label, "micro": CARD} for one in cards],
        "starts_at": row.span.lower.isoformat(timespec="seconds"),
        "ends_at": row.span.upper.isoformat(timespec="seconds"),
    }

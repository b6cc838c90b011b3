"""Reservations, the cards that could be kept for one, and what keeping them would mean."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet

from nodeagent.protocol.vocabulary import Mode
from pool.lifecycle.cards import CardState
from pool.lifecycle.leases import LeaseState
from pool.lifecycle.nodes import NodeState
from pool.lifecycle.reservations import ReservationState
from pool.lifecycle.windows import WindowState
from pool.models.cards import Card
from pool.models.leases import Lease
from pool.models.partitions import Partition
from pool.models.placements import Hold
from pool.models.requests import Request
from pool.models.reservations import Reservation, ReservedCard
from pool.models.templates import TemplateVersion
from pool.models.windows import Window
from pool.models.workloads import Workload
from pool.rules.needs import Need, from_mapping
from pool.rules.reservations import Candidate, cards_to_keep
from pool.selectors.calendar.windows import window_reach
from pool.selectors.memberships import Standing
from pool.selectors.offers import PlacedOption, card_facts, geometry_of, options_for
from pool.selectors.tenants import project_list

LIVE = (ReservationState.CONFIRMED, ReservationState.ACTIVE)


@dataclass(frozen=True, slots=True)
class Choice:
    """The cards that would be kept now, in which partition; none when there are not enough."""

    partition: Partition | None
    cards: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Keeping:
    """What an approver sees: the cards kept, who works there now, and how many wait for such."""

    partition: Partition | None
    cards: tuple[Card, ...]
    starts_at: datetime
    ends_at: datetime
    displaced: tuple[tuple[Workload, datetime], ...]
    waiting: int
    free_after: int
    total: int

    @property
    def possible(self) -> bool:
        return bool(self.cards)


def reservation_list(*, standing: Standing) -> QuerySet[Reservation]:
    """Reservations of the projects whose work the person may read, newest first."""
    rows = Reservation.objects.select_related(
        "project__organization", "partition", "lease", "request__requester"
    ).prefetch_related("kept__card__node")
    if standing.platform:
        return rows
    return rows.filter(project__in=project_list(standing=standing))


def kept_on_cards(*, at: datetime) -> dict[int, ReservedCard]:
    """For each card that is kept now, for whom; one query."""
    rows = ReservedCard.objects.filter(live=True, span__contains=at)
    found = rows.select_related("reservation__project__organization")
    return {one.card_id: one for one in found}


def cards_for(
    *,
    need: Need,
    copies: int,
    partitions: Iterable[Partition],
    trust: int,
    version: TemplateVersion,
    starts_at: datetime,
    ends_at: datetime,
    now: datetime,
    lock: bool = False,
    goes_on: Collection[int] = (),
) -> Choice:
    """The cards to keep, in the first of the partitions that has enough of them for the span.

    With `lock` the candidates' rows are locked, in the order of their ids, before they are judged.
    `goes_on` are keys of leases that end where this begins: their work is carried over.
    """
    places = list(partitions)
    options = options_for(
        need=need,
        partitions=places,
        trust=trust,
        version=version,
        unlimited_modes=version.unlimited_modes,
    )
    holding = [one for one in options if one.option.usable]
    for place in places:
        usable = _by_label(one for one in holding if one.partition.pk == place.pk)
        if not usable:
            continue
        rows = Card.objects.filter(partition=place, label__in=usable, offered=True)
        rows = rows.filter(state__in=[CardState.READY, CardState.PARTIAL, CardState.CORDONED])
        chosen_rows = rows.select_related("node").order_by("pk")
        cards = list(chosen_rows.select_for_update(of=("self",)) if lock else chosen_rows)
        judged = _candidates(cards, usable, (starts_at, ends_at), now, goes_on)
        found = cards_to_keep(
            judged, copies=copies, parts=need.parts, topology=need.topology, starts_at=starts_at
        )
        if found:
            return Choice(place, found)
    return Choice(None, ())


def _by_label(options: Iterable[PlacedOption]) -> dict[str, PlacedOption]:
    """The best usable option of each kind of card."""
    found: dict[str, PlacedOption] = {}
    for one in options:
        found.setdefault(one.option.label, one)
    return found


def _candidates(
    cards: list[Card],
    usable: Mapping[str, PlacedOption],
    span: tuple[datetime, datetime],
    now: datetime,
    goes_on: Collection[int],
) -> list[Candidate]:
    keys = [one.pk for one in cards]
    starts_at, ends_at = span
    before = ReservedCard.objects.filter(live=True, reservation__lease__in=list(goes_on))
    mine = set(before.values_list("card", flat=True)) if goes_on else set()
    kept = set(
        ReservedCard.objects.filter(
            live=True, card__in=keys, span__overlap=(starts_at, ends_at)
        ).values_list("card", flat=True)
    )
    for window in Window.objects.filter(
        state__in=[WindowState.PLANNED, WindowState.ACTIVE], span__overlap=(starts_at, ends_at)
    ):
        kept |= window_reach(window).cards
    busy = _busy(keys, now, goes_on)
    return [
        Candidate(
            card=one.pk,
            node=one.node_id,
            label=one.label,
            per_card=_per_card(usable[one.label], one),
            kept=one.pk in kept or _out(one),
            busy_until=busy.get(one.pk),
            strength=one.strength or 0,
            mine=one.pk in mine,
        )
        for one in cards
    ]


def _out(card: Card) -> bool:
    """Out of service without an end that is known: nobody can count on it."""
    gone = card.node.state not in (NodeState.READY, NodeState.DRAINING, NodeState.CORDONED)
    by_window = card.state_reason.startswith("maintenance")
    node_out = card.node.state != NodeState.READY
    node_by_window = card.node.state_reason.startswith(("maintenance", "drained"))
    return (
        gone
        or (card.state == CardState.CORDONED and not by_window)
        or (node_out and not node_by_window)
    )


def leases_before(*, project: int, template: int, starts_at: datetime) -> list[int]:
    """Reserved leases of the project and template that end where this begins."""
    rows = Lease.objects.filter(
        project=project, template_version__template=template, state=LeaseState.ACTIVE
    )
    near = (starts_at - timedelta(minutes=1), starts_at + timedelta(minutes=1))
    return list(rows.filter(valid__endswith__range=near).values_list("pk", flat=True))


def _busy(keys: list[int], now: datetime, goes_on: Collection[int]) -> dict[int, datetime]:
    """Until when each card's work is expected to hold it; work that gives way does not count."""
    found: dict[int, datetime] = {}
    rows = Hold.objects.filter(card__in=keys, held__upper_inf=True).select_related(
        "placement__attempt__workload"
    )
    for hold in rows:
        attempt = hold.placement.attempt
        work = attempt.workload
        if work.preemptible or work.lease_id in goes_on:
            continue
        begun = attempt.started_at or hold.placement.opened_at
        ends = max(now, begun + timedelta(seconds=work.expected_seconds))
        found[hold.card_id or 0] = max(ends, found.get(hold.card_id or 0, ends))
    return found


def _per_card(one: PlacedOption, card: Card) -> int:
    """How many parts an empty card carries."""
    option = one.option
    if option.mode is Mode.WHOLE:
        return 1
    geometry = geometry_of(card_facts(one.sample), option.mode)
    named = {p.name: p.max_instances for p in geometry.profiles} if geometry else {}
    if option.profile in named:
        return named[option.profile]
    by_compute = 1000 // max(1, option.compute_milli)
    return max(1, min(by_compute, card.memory_mib // max(1, option.memory_mib)))


def keeping_of(*, request: Request, now: datetime) -> Keeping:
    """What a yes to a reserved request would keep free, and whom that touches."""
    starts_at = max(now, request.starts_at) if request.starts_at else now
    ends_at = starts_at + timedelta(seconds=request.duration_seconds)
    choice = cards_for(
        need=from_mapping(request.need),
        copies=request.copies,
        partitions=request.partitions.all(),
        trust=request.project.trust_group_id,
        version=request.template_version,
        starts_at=starts_at,
        ends_at=ends_at,
        now=now,
        goes_on=leases_before(
            project=request.project_id,
            template=request.template_version.template_id,
            starts_at=starts_at,
        ),
    )
    cards = tuple(Card.objects.filter(pk__in=choice.cards).select_related("node").order_by("pk"))
    labels = {one.label for one in cards}
    alike = Card.objects.filter(partition=choice.partition, label__in=labels)
    total = alike.exclude(state=CardState.RETIRED).count() if cards else 0
    others = ReservedCard.objects.filter(
        live=True, card__in=alike, span__overlap=(starts_at, ends_at)
    )
    taken = others.values("card").distinct().count() if cards else 0
    return Keeping(
        partition=choice.partition,
        cards=cards,
        starts_at=starts_at,
        ends_at=ends_at,
        displaced=_displaced(choice.cards, now),
        waiting=_waiting(choice.partition, starts_at, request),
        free_after=max(0, total - taken - len(cards)),
        total=total,
    )


def _displaced(cards: tuple[int, ...], now: datetime) -> tuple[tuple[Workload, datetime], ...]:
    """Work on the cards now that would have to give way when the owner comes."""
    rows = (
        Hold.objects.filter(
            card__in=cards, held__upper_inf=True, placement__attempt__workload__preemptible=True
        )
        .select_related("placement__attempt__workload__project")
        .order_by("pk")
    )
    found: dict[int, tuple[Workload, datetime]] = {}
    for hold in rows:
        work = hold.placement.attempt.workload
        begun = hold.placement.attempt.started_at or hold.placement.opened_at
        found[work.pk] = (work, max(now, begun + timedelta(seconds=work.expected_seconds)))
    return tuple(found.values())


def _waiting(partition: Partition | None, starts_at: datetime, request: Request) -> int:
    """How much queued work of others could have used that partition and may wait longer."""
    if partition is None:
        return 0
    rows = Workload.objects.filter(state="queued", partitions=partition)
    return rows.exclude(project=request.project).count()

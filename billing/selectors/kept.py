"""Cards kept for reserved leases, with what their leases' own work held of them."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, QuerySet

from billing.models.usage import Usage
from billing.rating.charge import Charge, Line, hourly
from billing.rating.intervals import Span, micros
from billing.rating.kept import CARD_MICRO, Held, Step, idle_steps
from billing.rating.tariffs import Rate
from billing.selectors.prices import RateKey, priced_items, rates_of
from nodeagent.protocol.vocabulary import Mode
from pool.models.placements import Hold
from pool.models.reservations import ReservedCard


@dataclass(slots=True)
class IdleHour:
    """What of a kept card was idle in one hour: `idle_us` counts whole cards.

    `micro` is None when some of that time has no price.
    """

    hour_us: int
    span: Span
    idle_micro_us: int = 0
    micro: int | None = 0
    lines: tuple[Line, ...] = ()

    @property
    def idle_us(self) -> int:
        return self.idle_micro_us // CARD_MICRO

    def add(self, span: Span, idle_micro: int, micro: int | None, lines: tuple[Line, ...]) -> None:
        """One more step of the same hour; steps come in order."""
        self.span = Span(self.span.start_us, span.end_us)
        self.idle_micro_us += span.length_us * idle_micro
        self.micro = None if self.micro is None or micro is None else self.micro + micro
        self.lines += lines


@dataclass(frozen=True, slots=True)
class KeptCard:
    """A kept card, its lease's holds on it, and the rates of its partition."""

    row: ReservedCard
    held: tuple[Held, ...]
    rates: dict[RateKey, list[Rate]]
    organization: int
    currency: str

    def span(self, until: datetime) -> Span:
        """For how long it was really kept, up to now."""
        whole = self.row.reservation
        begins = [self.row.span.lower, whole.began_at or until]
        start = max(micros(one) for one in begins)
        end = min(micros(one) for one in (self.row.span.upper, whole.over_at or until, until))
        return Span(start, max(start, end))

    def open(self, until: datetime) -> bool:
        """Whether it is still kept."""
        return self.row.reservation.over_at is None and self.row.span.upper > until

    def hours(self, until: datetime, *, since_us: int = 0) -> list[IdleHour]:
        """One entry for each hour from `since_us` on in which it was kept, used or not."""
        found: dict[int, IdleHour] = {}
        for step in idle_steps(self.span(until), self.held):
            for hour, part, charge in self._charged(step, since_us):
                entry = found.setdefault(hour, IdleHour(hour, part))
                entry.add(part, step.idle_micro, charge.micro, charge.lines)
        return [found[hour] for hour in sorted(found)]

    def _charged(self, step: Step, since_us: int) -> list[tuple[int, Span, Charge]]:
        whole = self.row.reservation
        assert whole.lease is not None
        items = priced_items(
            self.rates,
            partition=whole.partition_id,
            currency=self.currency,
            card_model=self.row.card.label,
            mode=Mode.WHOLE,
            price_class=whole.lease.template_version.price_class,
            equivalents_micro=step.idle_micro,
            cpu_milli=0,
            ram_mib=0,
        )
        return hourly(items, step.span, since_us=since_us)


def kept_cards(*, rows: QuerySet[ReservedCard], until: datetime) -> list[KeptCard]:
    """The kept cards with their holds and rates, in four queries whatever their number."""
    found = list(
        rows.select_related(
            "card",
            "reservation__lease__template_version",
            "reservation__request",
            "reservation__project__organization",
        ).order_by("pk")
    )
    rates = rates_of(
        partitions={
            one.reservation.partition_id
            for one in found
            if one.reservation.partition_id is not None
        }
    )
    held = _held(found, until)
    told = Usage.objects.filter(kept__in=found).order_by("kept", "hour").distinct("kept")
    written = {
        kept: (whose, currency)
        for kept, whose, currency in told.values_list("kept", "organization", "currency")
    }
    return [
        KeptCard(
            one,
            tuple(held[one.reservation.lease_id, one.card_id]),
            rates,
            *written.get(one.pk, _today(one)),
        )
        for one in found
    ]


def _today(one: ReservedCard) -> tuple[int, str]:
    home = one.reservation.project.organization
    return home.pk, home.currency


def _held(rows: list[ReservedCard], until: datetime) -> Mapping[tuple[int | None, int], list[Held]]:
    """What work of each lease held of each card; a hold without an end goes on until now."""
    holds = Hold.objects.filter(
        card__in={one.card_id for one in rows},
        placement__attempt__workload__lease__in={one.reservation.lease_id for one in rows},
    ).annotate(lease=F("placement__attempt__workload__lease"))
    told: dict[tuple[int | None, int], list[Held]] = defaultdict(list)
    for card, lease, span, micro in holds.values_list(
        "card", "lease", "held", "equivalents_micro"
    ).order_by("pk"):
        end = micros(span.upper) if span.upper is not None else micros(until) + 1
        told[lease, card].append(Held(Span(micros(span.lower), end), micro))
    return told

"""What can be read of usage: rows, and what something has cost so far."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Sum

from billing.models.usage import KEPT_IDLE, Usage
from billing.rating.charge import rate_at
from billing.rating.intervals import SECOND_US, micros
from billing.selectors.charged import unless_guaranteed
from billing.selectors.holds import RatedHold, database_now, rated_holds
from pool.models.placements import Hold
from pool.models.tenants import Project
from pool.models.workloads import Workload
from pool.selectors.memberships import Standing

CARD_SECOND = 1_000_000 * SECOND_US


@dataclass(frozen=True, slots=True)
class Cost:
    """What was run up to the moment of asking, in 10⁻⁶ of the currency.

    `amount_micro` is None when nothing of it has a price; `complete` is false when some of it has
    none; `shown` is false where the reader is told the use alone. `card_seconds` counts card
    equivalents; `per_hour_micro` is what is held at this moment, None when that is nothing or has
    no price.
    """

    currency: str
    amount_micro: int | None
    complete: bool
    card_seconds: float
    running: bool
    per_hour_micro: int | None
    shown: bool = True


@dataclass(frozen=True, slots=True)
class MonthCost:
    """A project and what its running month has cost."""

    project: Project
    cost: Cost


@dataclass(slots=True)
class _Total:
    """Adds up finished rows and live holds of one thing."""

    micro: int = 0
    priced: int = 0
    unpriced: int = 0
    card_us: int = 0
    rates: list[int | None] = field(default_factory=list)

    def cost(self, currency: str) -> Cost:
        known = [rate for rate in self.rates if rate is not None]
        return Cost(
            currency=currency,
            amount_micro=None if self.unpriced and not self.priced else self.micro,
            complete=not self.unpriced,
            card_seconds=self.card_us / CARD_SECOND,
            running=bool(self.rates),
            per_hour_micro=sum(known) if known else None,
        )


def usage_list(*, standing: Standing) -> QuerySet[Usage]:
    """Usage rows whose cost the person may read."""
    rows = Usage.objects.filter(standing.spends("project")).exclude(kind=KEPT_IDLE, reserved_us=0)
    return rows.select_related("project", "workload", "owner", "hold", "kept__reservation__lease")


def workload_cost(*, workload: Workload) -> Cost:
    """What one workload has cost, up to now; an array what all its pieces have."""
    if workload.array_size:
        return array_cost(array=workload)
    return workload_costs(workloads=[workload])[workload.pk]


def array_cost(*, array: Workload) -> Cost:
    """The same of all pieces of an array, in a constant number of queries."""
    totals = {array.pk: _Total()}
    done = Usage.objects.filter(workload__parent=array)
    _add_finished(done, Q(running=True), "workload__parent", totals)
    rows = Usage.objects.filter(hold=OuterRef("pk"))
    holds = Hold.objects.filter(placement__attempt__workload__parent=array)
    now = database_now()
    for one in rated_holds(holds=holds.filter(~Exists(rows) | Exists(rows.filter(running=True)))):
        _add_live(one, totals[array.pk], now)
    currencies = Project.objects.values_list("organization__currency", flat=True)
    return totals[array.pk].cost(currencies.get(pk=array.project_id))


def workload_costs(*, workloads: Collection[Workload]) -> dict[int, Cost]:
    """The same for many, in a constant number of queries.

    What the meter has finished is taken from its rows; the rest is computed from the holds as the
    meter will.
    """
    named = {one.pk: one for one in workloads}
    totals = {pk: _Total() for pk in named}
    _add_finished(Usage.objects.filter(workload__in=named), Q(running=True), "workload_id", totals)
    rows = Usage.objects.filter(hold=OuterRef("pk"))
    holds = Hold.objects.filter(placement__attempt__workload__in=named)
    live = rated_holds(holds=holds.filter(~Exists(rows) | Exists(rows.filter(running=True))))
    now = database_now()
    for one in live:
        _add_live(one, totals[one.hold.placement.attempt.workload_id], now)
    projects = Project.objects.filter(pk__in={one.project_id for one in workloads})
    currencies = dict(projects.values_list("pk", "organization__currency"))
    return {pk: totals[pk].cost(currencies[one.project_id]) for pk, one in named.items()}


def project_month(*, project: Project) -> Cost:
    """What a project has cost since this month began in its organization's zone."""
    return _months([project])[project.pk]


def months(*, standing: Standing) -> list[MonthCost]:
    """The running month of every project whose cost may be read, in a constant number of queries.

    Holds that began and ended since the meter's last look are not in it yet. Kept cards that the
    platform pays for are not a cost of the project.
    """
    rows = Project.objects.filter(standing.spends("")).select_related("organization")
    projects = list(rows.distinct())
    costs = _months(projects)
    return [MonthCost(project, costs[project.pk]) for project in projects]


def _months(projects: Collection[Project]) -> dict[int, Cost]:
    now = database_now()
    totals = {project.pk: _Total() for project in projects}
    first = {project.pk: _month(now, project.organization.zone) for project in projects}
    begun: dict[datetime, list[int]] = {}
    for pk, moment in first.items():
        begun.setdefault(moment, []).append(pk)
    inside, split = Q(pk__in=[]), Q(running=True)
    for moment, of in begun.items():
        inside |= Q(project__in=of, ends_at__gt=moment)
        split |= Q(project__in=of, ends_at__gt=moment, starts_at__lt=moment)
    rows = unless_guaranteed(Usage.objects.filter(inside))
    _add_finished(rows, split, "project_id", totals)
    still = Q(held__upper_inf=True, placement__attempt__workload__project__in=totals)
    again = Q(pk__in=rows.filter(split).values("hold"))
    for one in rated_holds(holds=Hold.objects.filter(still | again)):
        pk = one.hold.placement.attempt.workload.project_id
        _add_live(one, totals[pk], now, since_us=micros(first[pk]))
    return {one.pk: totals[one.pk].cost(one.organization.currency) for one in projects}


def _month(now: datetime, zone: str) -> datetime:
    local = now.astimezone(ZoneInfo(zone))
    return local.replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def _add_finished(
    rows: QuerySet[Usage], unfinished: Q, key: str, totals: dict[int, _Total]
) -> None:
    """Rows of holds none of whose rows is `unfinished`; the others are computed anew."""
    other = Usage.objects.filter(unfinished, hold=OuterRef("hold"))
    sums = (
        rows.filter(~Exists(other))
        .order_by()
        .values(key)
        .annotate(
            micro=Sum("amount_micro"),
            priced=Count("amount_micro"),
            rows=Count("pk"),
            card_us=Sum(F("equivalents_micro") * F("reserved_us")),
        )
    )
    for found in sums:
        total = totals[found[key]]
        total.micro += int(found["micro"] or 0)
        total.priced += found["priced"]
        total.unpriced += found["rows"] - found["priced"]
        total.card_us += int(found["card_us"])


def _add_live(one: RatedHold, total: _Total, now: datetime, since_us: int = 0) -> None:
    for part in one.parts(now, since_us=since_us):
        total.card_us += one.hold.equivalents_micro * part.span.length_us
        total.micro += part.charge.micro or 0
        total.priced += part.charge.micro is not None
        total.unpriced += part.charge.micro is None
    if one.open:
        total.rates.append(rate_at(one.items, micros(now)))

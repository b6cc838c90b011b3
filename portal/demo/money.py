"""The demo's money: what was agreed, the real meter and ledger over the month, months, budgets."""

from collections.abc import Iterator
from datetime import date

from billing.rating.budgets import Action
from billing.rating.days import day_of, month_of, next_month
from billing.rating.terms import Basis, Cut
from billing.selectors.team import month_parts
from billing.services.budgets import budget_set, budgets_watch
from billing.services.contracts import contract_set, discount_set, overhead_set
from billing.services.metering import usage_meter
from billing.services.months import month_close, month_open, month_review
from billing.services.posting import ledger_post
from pool.events import SYSTEM
from pool.models import Organization, Project
from portal.demo.plan import DemoPlan

UNIT = 1_000_000
HOURS_AT_ONCE = 240
LEAST = 2_000 * UNIT

COSTS = (
    ("licences", "Virtual GPU licences", 3_200),
    ("operations", "Power, cooling and spare parts", 11_500),
    ("adaptation", "Bringing models to Ascend cards", 4_000),
    ("people", "Platform team", 18_000),
)
"""Costs of each month beside the cards, in whole units of the currency."""

BUDGETS = (
    ("aurora", "", 1.22, Action.NOTIFY),
    ("harbor", "", 1.9, Action.NOTIFY),
    ("meridian", "", 1.04, Action.NOTIFY),
    ("aurora", "language", 1.35, Action.APPROVAL),
    ("aurora", "vision", 1.6, Action.NOTIFY),
    ("harbor", "recsys", 1.1, Action.NOTIFY),
)
"""Of whom, how many times what was spent so far this month, and what happens at the end of it."""


def agreed(plan: DemoPlan) -> None:
    """What was agreed before the month began; call it while the clock stands there."""
    first = month_of(plan.since.date())
    contract_set(since=first, actor=SYSTEM, stranded_by="holders", idle_by="platform")
    labs = Organization.objects.get(slug="meridian")
    contract_set(
        since=first, organization=labs, actor=SYSTEM, basis=Basis.MAX.value, floor_milli=600
    )
    discount_set(kind=Cut.PREEMPTIBLE, milli=200, since=plan.since, actor=SYSTEM, note="gives way")
    discount_set(
        kind=Cut.OFF_PEAK,
        milli=100,
        since=plan.since,
        actor=SYSTEM,
        from_hour=20,
        to_hour=7,
        note="nights",
    )
    for kind, label, units in COSTS:
        overhead_set(
            first=first,
            kind=kind,
            label=label,
            amount_micro=units * UNIT,
            currency="EUR",
            actor=SYSTEM,
            shared=kind != "people",
        )


def metered() -> int:
    """Usage rows by the real meter, all that the log holds; how many."""
    return usage_meter().rows


def posted(plan: DemoPlan) -> int:
    """The ledger by the real poster, hour by hour; how many postings."""
    count = 0
    while True:
        done = ledger_post(until=plan.until, most=HOURS_AT_ONCE)
        count += done.postings
        if not done.more:
            return count


def months_closed(plan: DemoPlan) -> int:
    """A person has reviewed and closed every month that is over; how many statements."""
    count = 0
    for home in Organization.objects.all():
        for first in _over(plan, home):
            month = month_open(organization=home, first=first)
            month_review(month=month, actor=SYSTEM)
            month_close(month=month, actor=SYSTEM)
            count += 1
        month_open(organization=home, first=month_of(day_of(plan.until, home.zone)))
    return count


def _over(plan: DemoPlan, home: Organization) -> Iterator[date]:
    first = month_of(day_of(plan.since, home.zone))
    last = month_of(day_of(plan.until, home.zone))
    while first < last:
        yield first
        first = next_month(first)


def budgets_made(plan: DemoPlan) -> int:
    """Budgets near what was spent so far, so that there is something to see; how many."""
    for slug, team, times, action in BUDGETS:
        home = Organization.objects.get(slug=slug)
        project = Project.objects.filter(slug=team).first()
        spent = _spent(plan, home, project)
        budget_set(
            organization=home,
            project=project,
            limit_micro=max(LEAST, round(spent * times)),
            action=action,
            actor=SYSTEM,
        )
    budgets_watch()
    return len(BUDGETS)


def _spent(plan: DemoPlan, home: Organization, project: Project | None) -> int:
    first = month_of(day_of(plan.until, home.zone))
    mine = [project.pk] if project is not None else None
    return sum(month_parts(organization=home, first=first, projects=mine).values())

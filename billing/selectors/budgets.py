"""What can be read of budgets: how much is spent, what a wish would add, and when it runs out."""

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from django.db.models import F, Q, QuerySet, Sum

from billing.models.budgets import Budget
from billing.models.usage import Usage
from billing.rating.budgets import STOPS_STARTS, Every, Forecast, Measure, forecast, level, percent
from billing.rating.days import day_of, midnight, month_of, next_month
from billing.rating.intervals import HOUR_US, Span, micros, moment
from billing.rating.money import settle
from billing.selectors.charged import charged
from billing.selectors.holds import database_now
from pool.lifecycle.roles import Role
from pool.models.tenants import Project
from pool.models.users import User
from pool.selectors.memberships import Standing

_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Period:
    """From the day it begins; the span is real time in the organization's zone."""

    first: date
    span: Span


@dataclass(frozen=True, slots=True)
class Spent:
    """A budget in its present period. Amounts in 10⁻⁶ of the currency, or of a card-hour.

    `allowed_micro` is the limit with the overdraft that is in force. `percent` is of the limit.
    """

    budget: Budget
    period: Period
    spent_micro: int
    allowed_micro: int
    forecast: Forecast

    @property
    def percent(self) -> int | None:
        """Whole percent of the limit that is spent."""
        return percent(self.spent_micro, self.budget.limit_micro)

    @property
    def level(self) -> int:
        """The highest warning that is reached."""
        return level(self.spent_micro, self.budget.limit_micro)

    @property
    def used_up(self) -> bool:
        """Whether its action counts: the limit and the overdraft are spent."""
        return self.spent_micro >= self.allowed_micro

    @property
    def runs_out_at(self) -> datetime | None:
        """When the limit is reached at today's pace, inside this period."""
        at = self.forecast.runs_out_us
        return None if at is None else moment(at)

    @property
    def ends_at(self) -> datetime:
        """When the period is over."""
        return moment(self.period.span.end_us)


@dataclass(frozen=True, slots=True)
class Effect:
    """What a wish does to one budget. `level` is organization, project or member.

    `refuses` says that nothing of it would start now; `reaches` is the highest warning reached by
    it, of 80, 95 and 100 percent.
    """

    name: str
    level: str
    measure: str
    currency: str
    amount_micro: int
    before_micro: int
    after_micro: int
    over_micro: int
    reaches: int
    runs_out_at: datetime | None
    action: str
    refuses: bool
    budget: Budget = field(repr=False)


def budget_list(*, standing: Standing) -> QuerySet[Budget]:
    """Budgets of the places whose cost the person may read, and one's own."""
    rows = Budget.objects.filter(removed_at=None).select_related("organization", "project", "user")
    if standing.platform:
        return rows
    homes = standing.in_organizations(*standing.organizations)
    leads = standing.in_projects(Role.LEAD)
    seen = Q(user=None) & standing.spends() | Q(project__in=leads) | Q(user=standing.user)
    return rows.filter(Q(organization__in=homes) | seen)


def budgets_over(*, project: Project, user: User | None = None) -> QuerySet[Budget]:
    """All budgets that work of this person in this project counts in."""
    place = Q(project=None, organization=project.organization_id) | Q(project=project)
    whose = Q(user=None) | (Q(user=user) if user is not None else Q(pk__in=[]))
    rows = Budget.objects.filter(place, whose, removed_at=None)
    return rows.select_related("organization", "project", "user")


def period_of(budget: Budget, at: datetime) -> Period | None:
    """The period of a moment; None outside the days of a custom one."""
    zone = budget.organization.zone
    today = day_of(at, zone)
    if budget.every == Every.CUSTOM:
        assert budget.starts_on is not None
        assert budget.ends_on is not None
        first, after = budget.starts_on, budget.ends_on + timedelta(days=1)
        if not first <= today < after:
            return None
    else:
        first = month_of(today)
        if budget.every == Every.QUARTER:
            first = first.replace(month=first.month - (first.month - 1) % 3)
        after = next_month(first)
        if budget.every == Every.QUARTER:
            after = next_month(next_month(after))
    return Period(first, Span(micros(midnight(first, zone)), micros(midnight(after, zone))))


def budget_spent(*, budget: Budget, at: datetime | None = None) -> Spent | None:
    """How the budget stands; None outside its days.

    What is metered and charged counts, before discounts: running work up to a minute ago.
    """
    now = at or database_now()
    period = period_of(budget, now)
    if period is None:
        return None
    rows = _rows(budget)
    spent = _sum(budget, rows, period.span)
    last = micros(now) - micros(now) % HOUR_US
    pace = _sum(budget, rows, Span(max(last - HOUR_US, period.span.start_us), last))
    whole = last - HOUR_US >= period.span.start_us
    overdraft = budget.overdraft_micro if _in_force(budget, now) else 0
    seen = forecast(
        spent=spent,
        limit=budget.limit_micro,
        begin_us=period.span.start_us,
        now_us=micros(now),
        end_us=period.span.end_us,
        per_hour=pace if whole else None,
    )
    return Spent(budget, period, spent, budget.limit_micro + overdraft, seen)


def budget_effect(
    *,
    project: Project,
    user: User | None,
    micro_cost: int | None,
    at: datetime | None = None,
    card_hours_micro: int = 0,
) -> list[Effect]:
    """What a wish that costs so much does to each budget over it; empty when there is none.

    `card_hours_micro` is the same for budgets in card-hours. A cost that is not known adds nothing.
    """
    found = []
    for budget in budgets_over(project=project, user=user):
        now = budget_spent(budget=budget, at=at)
        if now is None:
            continue
        money = budget.measure == Measure.MONEY
        adds = (micro_cost or 0) if money else card_hours_micro
        after = now.spent_micro + adds
        found.append(
            Effect(
                name=budget_name(budget),
                level=budget_level(budget),
                measure=budget.measure,
                currency=budget.organization.currency,
                amount_micro=now.allowed_micro,
                before_micro=now.spent_micro,
                after_micro=after,
                over_micro=max(0, after - now.allowed_micro),
                reaches=level(after, budget.limit_micro),
                runs_out_at=now.runs_out_at,
                action=budget.action,
                refuses=now.used_up and budget.action in STOPS_STARTS,
                budget=budget,
            )
        )
    return found


def budget_level(budget: Budget) -> str:
    """Whose it is: organization, project or member."""
    if budget.user_id is not None:
        return "member"
    return "organization" if budget.project_id is None else "project"


def budget_name(budget: Budget) -> str:
    """The name of whose it is."""
    if budget.user is not None:
        return str(budget.user)
    return budget.organization.name if budget.project is None else budget.project.name


def _in_force(budget: Budget, at: datetime) -> bool:
    until = budget.overdraft_until
    return until is not None and day_of(at, budget.organization.zone) <= until


def _rows(budget: Budget) -> QuerySet[Usage]:
    rows = charged(Usage.objects.filter(organization=budget.organization_id))
    if budget.project_id is not None:
        rows = rows.filter(project=budget.project_id)
    return rows if budget.user_id is None else rows.filter(owner=budget.user_id)


def _sum(budget: Budget, rows: QuerySet[Usage], span: Span) -> int:
    """What lies in the span; a row over its edge counts by the part of its time inside.

    A row lies in one hour: only an edge inside an hour, of a zone off by half of one, cuts any.
    """
    begin, end = moment(span.start_us), moment(span.end_us)
    near = rows.filter(hour__gt=begin - _HOUR, hour__lt=end, currency=budget.organization.currency)
    money = budget.measure == Measure.MONEY
    value = F("amount_micro") if money else F("equivalents_micro") * F("reserved_us")
    inside = near.filter(starts_at__gte=begin, ends_at__lte=end)
    total = int(inside.aggregate(total=Sum(value))["total"] or 0)
    edges = Q(pk__in=[])
    for edge in (begin, end):
        if micros(edge) % HOUR_US:
            edges |= Q(starts_at__lt=edge, ends_at__gt=edge)
    for row in near.filter(edges):
        whole = Span(micros(row.starts_at), micros(row.ends_at))
        worth = (row.amount_micro or 0) if money else row.equivalents_micro * row.reserved_us
        total += settle(worth * whole.cut(span).length_us, whole.length_us)
    return total if money else settle(total, HOUR_US)

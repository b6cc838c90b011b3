"""Bills: the lines of a month, summed from the ledger, or as they were when it was closed."""

from dataclasses import dataclass
from datetime import date

from django.db import connection
from django.db.models import Q, QuerySet

from billing.models.contracts import Overhead
from billing.models.ledger import Posting
from billing.models.months import Dispute, Month, StatementLine
from billing.models.usage import Usage
from billing.rating.accounts import OF_THE_PLATFORM
from billing.rating.days import day_of, month_of
from billing.rating.months import MonthState
from billing.rating.statements import Head, Line, Sum, lines_of, statement_file
from billing.selectors.holds import database_now
from pool.models.tenants import Organization
from pool.selectors.memberships import Standing

_SUMS = """
SELECT p.project_id, coalesce(pr.slug, ''), coalesce(u.cost_centre, pr.cost_centre, ''),
    coalesce(u.card_model, ''), coalesce(u.mode, ''), coalesce(u.price_class, ''), p.account,
    date_trunc('month', p.day)::date <> p.month, sum(p.card_us), sum(p.amount_micro)
FROM billing_posting p
LEFT JOIN billing_usage u ON u.id = p.usage_id
LEFT JOIN pool_project pr ON pr.id = p.project_id
WHERE p.organization_id = %s AND p.month = %s
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
"""


@dataclass(frozen=True, slots=True)
class Bill:
    """A month with its lines; `cents` is what it comes to in hundredths of the currency."""

    month: Month
    lines: tuple[Line, ...]

    @property
    def micro(self) -> int:
        """The exact sum, in 10⁻⁶ of the currency."""
        return sum(line.what.amount_micro for line in self.lines)

    @property
    def cents(self) -> int:
        """The rounded sum."""
        return sum(line.amount_cents for line in self.lines)


def month_list(*, standing: Standing) -> QuerySet[Month]:
    """Months of the organizations whose whole cost the person may read."""
    rows = Month.objects.select_related("organization")
    if standing.platform:
        return rows
    return rows.filter(organization__in=standing.in_organizations(*standing.organizations))


def dispute_list(*, standing: Standing) -> QuerySet[Dispute]:
    """Complaints about bills of those organizations."""
    rows = Dispute.objects.select_related("month__organization", "project", "opened_by")
    return rows.filter(month__in=month_list(standing=standing).values("pk"))


def shown_apart(month: Month) -> list[Overhead]:
    """Costs of the month that nobody pays by this bill: they are told beside it."""
    rows = Overhead.objects.filter(first=month.first, currency=month.currency, shared=False)
    rows = rows.filter(Q(organization=month.organization_id) | Q(organization=None))
    return list(rows.order_by("kind", "label"))


def month_now(organization: Organization) -> date:
    """The first day of the month that runs there."""
    return month_of(day_of(database_now(), organization.zone))


def head_of(month: Month) -> Head:
    """Whose bill of which month."""
    return Head(month.organization.slug, month.first, month.currency, month.zone)


def bill_of(month: Month) -> Bill:
    """The month's lines: kept ones once it is closed, else what the ledger says now."""
    if month.state == MonthState.CLOSED:
        rows = StatementLine.objects.filter(month=month).order_by("number")
        return Bill(month, tuple(_kept(row) for row in rows))
    return bill_now(month)


def bill_now(month: Month) -> Bill:
    """What the ledger says of the month, closed or not."""
    with connection.cursor() as cursor:
        cursor.execute(_SUMS, [month.organization_id, month.first])
        rows = cursor.fetchall()
    sums = [
        Sum(
            project=project,
            project_slug=slug,
            cost_centre=centre,
            card_model=model,
            mode=mode,
            price_class=kind,
            account=account,
            late=late,
            card_us=int(us),
            amount_micro=int(micro),
        )
        for project, slug, centre, model, mode, kind, account, late, us, micro in rows
    ]
    return Bill(month, lines_of(head_of(month), sums))


def bill_file(month: Month) -> bytes:
    """The file for other systems; of a closed month the same bytes every time."""
    return statement_file(head_of(month), bill_of(month).lines)


def line_postings(month: Month, line: Line) -> QuerySet[Posting]:
    """The postings behind one line, oldest first; each leads to its usage row."""
    one = line.what
    rows = Posting.objects.filter(
        organization_id=month.organization_id, month=month.first, account=one.account
    ).exclude(account__in=OF_THE_PLATFORM)
    rows = rows.filter(project_id=one.project).select_related("entry")
    of_the_month = Q(day__gte=month.first)
    rows = rows.filter(~of_the_month if one.late else of_the_month)
    metered = Usage.objects.filter(
        cost_centre=one.cost_centre,
        card_model=one.card_model,
        mode=one.mode,
        price_class=one.price_class,
        project=one.project,
    )
    if not one.mode:
        return rows.filter(usage_id=None).order_by("entry__hour", "id")
    return rows.filter(usage_id__in=metered.values("pk")).order_by("entry__hour", "id")


def line_named(bill: Bill, name: str) -> Line | None:
    """The line with this id."""
    return next((line for line in bill.lines if line.line_id == name), None)


def _kept(row: StatementLine) -> Line:
    what = Sum(
        project=row.project_id,
        project_slug=row.project_slug,
        cost_centre=row.cost_centre,
        card_model=row.card_model,
        mode=row.mode,
        price_class=row.price_class,
        account=row.account,
        late=row.late,
        card_us=row.card_us,
        amount_micro=row.amount_micro,
    )
    return Line(row.number, row.line_id, what, row.amount_cents)

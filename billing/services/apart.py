"""What is on a bill beside the cards: shared overhead, shared idle and down time, the minimum."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from django.db import connection
from django.db.models import Q, Sum

from billing.models.contracts import Overhead
from billing.models.ledger import Posting
from billing.models.months import Month
from billing.rating.accounts import Account
from billing.rating.days import month_span, next_month
from billing.rating.intervals import moment
from billing.rating.lines import PLATFORM, Posted, Whose, difference
from billing.rating.money import apportion, settle
from billing.rating.terms import Terms, tax_on
from billing.selectors.agreed import Agreed
from billing.selectors.holds import database_now
from billing.services.entries import Bills, Draft, entries_write
from pool.events import Actor

CARDS = (Account.USED, Account.HELD_IDLE, Account.HELD_UNKNOWN)
"""What was held, by which costs are shared."""

_POSTED = """
SELECT p.account, p.organization_id, p.project_id, p.day, sum(p.amount_micro)
FROM billing_posting p JOIN billing_entry e ON e.id = p.entry_id
WHERE e.scope = %s AND e.kind = 'overhead' GROUP BY 1, 2, 3, 4
"""


def extras_post(*, month: Month, actor: Actor) -> int:
    """Post what is shared among the month's projects by what they held; again posts the change.

    Call it inside the transaction that reviews or closes the month, under the meter's lock.
    """
    held = _held(month.organization_id, month.first)
    contract = Agreed.now().contract(month.organization_id, month.first)
    day = month.first
    wanted: list[Posted] = []
    for account, micro in _shared(month, contract):
        wanted += _dealt(account, micro, held, month.organization_id, day)
    terms = Terms(tax_milli=contract.tax_milli)
    wanted += _taxed(wanted, terms)
    wanted += _minimum(month, contract.minimum_micro, wanted, terms)
    scope = f"month:{month.pk}"
    lines = difference(wanted, _posted(scope))
    if not lines:
        return 0
    now = database_now()
    draft = Draft(
        scope,
        moment(_begin(month)),
        month.currency,
        lines,
        kind="overhead",
        actor_label=actor.label[:160],
    )
    return entries_write([draft], bills=Bills.now(), now=now)


def _begin(month: Month) -> int:
    return month_span(month.first, month.zone).start_us


def _held(organization: int, first: date) -> dict[int, int]:
    """What each project held in the month, at list prices."""
    rows = Posting.objects.filter(organization_id=organization, month=first, account__in=CARDS)
    told = rows.order_by().values_list("project_id").annotate(Sum("amount_micro"))
    return {project: int(micro) for project, micro in told if project is not None and micro > 0}


def _shared(month: Month, contract: Any) -> list[tuple[Account, int]]:
    found = []
    rows = Overhead.objects.filter(
        Q(organization=month.organization_id) | Q(organization=None),
        first=month.first,
        currency=month.currency,
        shared=True,
    )
    part = _part(month)
    micro = sum(
        row.amount_micro if row.organization_id else settle(row.amount_micro * part[0], part[1])
        for row in rows
    )
    found.append((Account.OVERHEAD, micro))
    for account, by in (
        (Account.PLATFORM_IDLE, contract.idle_by),
        (Account.DOWN, contract.down_by),
    ):
        if by == "shared":
            whole = _platform(month, account)
            found.append((account, settle(whole * part[0], part[1])))
    return found


def _part(month: Month) -> tuple[int, int]:
    """The organization's part of all that was held in its currency that month."""
    rows = Posting.objects.filter(
        month=month.first,
        account__in=CARDS,
        organization_id__isnull=False,
        entry__currency=month.currency,
    )
    every = int(rows.aggregate(s=Sum("amount_micro"))["s"] or 0)
    own = rows.filter(organization_id=month.organization_id)
    return int(own.aggregate(s=Sum("amount_micro"))["s"] or 0), max(every, 1)


def _platform(month: Month, account: Account) -> int:
    rows = Posting.objects.filter(
        organization_id=None,
        account=account,
        day__gte=month.first,
        day__lt=next_month(month.first),
        entry__currency=month.currency,
        entry__kind="metered",
    )
    return int(rows.aggregate(s=Sum("amount_micro"))["s"] or 0)


def _dealt(
    account: Account, micro: int, held: Mapping[int, int], organization: int, day: date
) -> list[Posted]:
    """The same amount, dealt out by what each project held; nothing where nobody held anything."""
    if not micro or not held:
        return []
    projects = sorted(held)
    shares = apportion(micro, [held[one] for one in projects])
    lines = [
        Posted(account, None, Whose(organization, one), day, share)
        for one, share in zip(projects, shares, strict=True)
        if share
    ]
    other = Account.CAPACITY if account is Account.OVERHEAD else account
    return [*lines, Posted(other, None, PLATFORM, day, -micro)]


def _taxed(wanted: list[Posted], terms: Terms) -> list[Posted]:
    """The tax on what is shared: it is on the bill like all the rest."""
    lines = [
        replace(one, account=Account.TAX, micro=tax_on(one.micro, terms))
        for one in wanted
        if one.whose.organization is not None
    ]
    told = [one for one in lines if one.micro]
    if not told:
        return []
    whole = sum(one.micro for one in told)
    return [*told, Posted(Account.REVENUE, None, PLATFORM, told[0].day, -whole)]


def _minimum(month: Month, least: int, wanted: list[Posted], terms: Terms) -> list[Posted]:
    """What is missing to the least charge of a month, before tax, and the tax on it."""
    day = month.first
    rows = Posting.objects.filter(organization_id=month.organization_id, month=month.first)
    rows = rows.exclude(entry__scope=f"month:{month.pk}").exclude(account=Account.TAX)
    total = int(rows.aggregate(s=Sum("amount_micro"))["s"] or 0)
    own = [one for one in wanted if one.whose.organization is not None]
    total += sum(one.micro for one in own if one.account is not Account.TAX)
    missing = max(0, least - total)
    if not missing:
        return []
    tax = tax_on(missing, terms)
    whose = Whose(month.organization_id)
    lines = [
        Posted(Account.MINIMUM, None, whose, day, missing),
        Posted(Account.TAX, None, whose, day, tax),
        Posted(Account.REVENUE, None, PLATFORM, day, -missing - tax),
    ]
    return [one for one in lines if one.micro]


def _posted(scope: str) -> dict[Posted, tuple[int, int]]:
    with connection.cursor() as cursor:
        cursor.execute(_POSTED, [scope])
        rows = cursor.fetchall()
    return {
        Posted(Account(account), None, Whose(home, project), day, 0, 0): (int(micro), 0)
        for account, home, project, day, micro in rows
    }

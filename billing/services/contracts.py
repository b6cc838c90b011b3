"""What was agreed, set by people: contracts by the month, discounts, costs beside the cards."""

from collections.abc import Iterable
from datetime import date, datetime
from typing import Any

from django.db import connection, transaction
from django.utils.translation import gettext as _

from billing.models.contracts import OVERHEADS, Contract, Discount, Overhead
from billing.models.months import Month
from billing.rating.days import day_of, midnight, month_of
from billing.rating.months import MonthState
from billing.rating.terms import Basis, Cut
from billing.services.posting import ledger_repost
from pool.errors import Invalid
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.locks import METER
from pool.models.partitions import Partition
from pool.models.tenants import Organization, Project

TERMS = (
    *("basis", "floor_milli", "tax_milli", "minimum_micro"),
    *("stranded_by", "guarantee_by", "idle_by", "down_by", "showback"),
)
EARLIEST, LATEST = 2000, 2999
"""Years of days that one may agree on."""

BYS = {
    "stranded_by": ("holders", "platform"),
    "guarantee_by": ("holders", "platform"),
    "idle_by": ("platform", "shared"),
    "down_by": ("platform", "shared"),
}


@transaction.atomic
def contract_set(
    *, since: date, actor: Actor, organization: Organization | None = None, **terms: Any
) -> Contract:
    """What counts from a month on, for one organization or for all without words of their own.

    Words that are not given stay as they were before. Open months are posted anew.

    Raises:
        Invalid: a word no contract can have, or a month that was closed already.
    """
    _lock_meter()
    _near(since=since)
    first = month_of(since)
    wrong = _wrong_terms(terms) | _shut(first, organization)
    if wrong:
        raise Invalid(**wrong)
    rows = Contract.objects.filter(organization=organization, since__lte=first)
    before = rows.order_by("-since").first()
    kept = {name: getattr(before, name) for name in TERMS} if before is not None else {}
    row, _made = Contract.objects.update_or_create(
        organization=organization, since=first, defaults={**kept, **terms}
    )
    home = Project(organization=organization) if organization is not None else None
    told = {name: str(value) for name, value in terms.items()}
    record(EventKind.CONTRACT_CHANGED, row, actor=actor, project=home, since=str(first), **told)
    _again(first, organization)
    return row


@transaction.atomic
def discount_set(
    *,
    kind: str,
    milli: int,
    since: datetime,
    actor: Actor,
    until: datetime | None = None,
    organization: Organization | None = None,
    project: Project | None = None,
    partition: Partition | None = None,
    from_hour: int = 0,
    to_hour: int = 0,
    days: Iterable[int] = (),
    note: str = "",
) -> Discount:
    """So many thousandths off from a moment on. Of each kind the most exact one counts.

    Raises:
        Invalid: a value no discount can have, or a time in a closed month.
    """
    _lock_meter()
    _near(since=since, until=until)
    chosen = sorted(set(days))
    home = organization or (project.organization if project is not None else None)
    first = _month_at(since, home)
    wrong = _shut(first, home)
    if kind not in set(Cut):
        wrong["kind"] = ", ".join(Cut)
    if not 0 < milli <= 1000:
        wrong["milli"] = _("Between 0 and 100 percent.")
    if not (0 <= from_hour <= 23 and 0 <= to_hour <= 23 and all(0 <= day <= 6 for day in chosen)):
        wrong["from_hour"] = _("Hours are 0 to 23, days 0 (Monday) to 6.")
    if kind == Cut.OFF_PEAK and from_hour == to_hour:
        wrong["to_hour"] = _("Off peak begins and ends at different hours.")
    if until is not None and until <= since:
        wrong["until"] = _("The end comes after the beginning.")
    if wrong:
        raise Invalid(**wrong)
    row = Discount.objects.create(
        kind=str(kind),
        milli=milli,
        organization=organization,
        project=project,
        partition=partition,
        valid=(since, until),
        from_hour=from_hour,
        to_hour=to_hour,
        days=chosen,
        note=note.strip()[:200],
    )
    _told_of_discount(row, home, actor, milli=milli, since=since.isoformat())
    _again(first, home)
    return row


@transaction.atomic
def discount_end(*, discount: Discount, at: datetime, actor: Actor) -> None:
    """It counts up to a moment; up to its beginning or before, it never counted, and is gone.

    Raises:
        Invalid: it has ended before, or the moment lies in a closed month.
    """
    _lock_meter()
    _near(at=at)
    rows = Discount.objects.select_for_update(of=("self",)).filter(pk=discount.pk)
    row = rows.first()
    if row is None or (row.valid.upper is not None and row.valid.upper <= at):
        raise Invalid(at=_("It has ended already."))
    home = row.organization or (row.project.organization if row.project is not None else None)
    end = max(at, row.valid.lower)
    first = _month_at(end, home)
    wrong = _shut(first, home)
    if wrong:
        raise Invalid(at=wrong["since"])
    if end == row.valid.lower:
        _told_of_discount(row, home, actor, withdrawn=True, milli=row.milli)
        row.delete()
    else:
        row.valid = (row.valid.lower, end)
        row.save(update_fields=["valid"])
        _told_of_discount(row, home, actor, ended=end.isoformat())
    _again(first, home)


@transaction.atomic
def overhead_set(
    *,
    first: date,
    kind: str,
    label: str,
    amount_micro: int,
    currency: str,
    actor: Actor,
    organization: Organization | None = None,
    shared: bool = True,
) -> Overhead:
    """A cost of one month; on the bills when it is reviewed. The same label again replaces it.

    Raises:
        Invalid: a value no cost can have, or a closed month.
    """
    _lock_meter()
    _near(first=first)
    month = month_of(first)
    wrong = _shut(month, organization)
    if kind not in OVERHEADS:
        wrong["kind"] = ", ".join(OVERHEADS)
    if not 0 < len(label.strip()) <= 120:
        wrong["label"] = _("A name of at most 120 characters.")
    if not 0 <= amount_micro <= 10**16:
        wrong["amount_micro"] = _("An amount that is not negative.")
    if wrong:
        raise Invalid(**wrong)
    row, _made = Overhead.objects.update_or_create(
        organization=organization,
        first=month,
        kind=kind,
        label=label.strip(),
        currency=currency,
        defaults={"amount_micro": amount_micro, "shared": shared},
    )
    home = Project(organization=organization) if organization is not None else None
    record(
        EventKind.OVERHEAD_CHANGED,
        row,
        actor=actor,
        project=home,
        label=row.label,
        micro=amount_micro,
        month=f"{month:%Y-%m}",
    )
    return row


def _told_of_discount(row: Discount, home: Organization | None, actor: Actor, **told: Any) -> None:
    place = row.project or (Project(organization=home) if home is not None else None)
    record(EventKind.DISCOUNT_CHANGED, row, actor=actor, project=place, kind_of=row.kind, **told)


def _lock_meter() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [METER])


def _near(**days: date | datetime | None) -> None:
    """Refuse what no calendar of ours holds.

    Raises:
        Invalid: a day before the year 2000 or after 2999.
    """
    far = {
        name: _("A day from 2000 to 2999.")
        for name, day in days.items()
        if day is not None and not EARLIEST <= day.year <= LATEST
    }
    if far:
        raise Invalid(**far)


def _month_at(at: datetime, home: Organization | None) -> date:
    """The month of a moment where it counts."""
    return month_of(day_of(at, home.zone if home is not None else "UTC"))


def _shut(first: date, organization: Organization | None) -> dict[str, str]:
    """Words for a month that is closed for whom it concerns."""
    rows = Month.objects.filter(state=MonthState.CLOSED, first__gte=first)
    if organization is not None:
        rows = rows.filter(organization=organization)
    if rows.exists():
        return {"since": _("A closed month keeps what was agreed for it.")}
    return {}


def _again(first: date, organization: Organization | None) -> None:
    ledger_repost(since=midnight(first, organization.zone if organization else "UTC"))


def _wrong_terms(terms: dict[str, Any]) -> dict[str, str]:
    wrong: dict[str, str] = {
        name: _("There is no such word.") for name in terms if name not in TERMS
    }
    if terms.get("basis", Basis.RESERVED) not in set(Basis):
        wrong["basis"] = ", ".join(Basis)
    for name in ("floor_milli", "tax_milli"):
        if not 0 <= terms.get(name, 0) <= 1000:
            wrong[name] = _("Between 0 and 100 percent.")
    if terms.get("minimum_micro", 0) < 0:
        wrong["minimum_micro"] = _("An amount that is not negative.")
    for name, known in BYS.items():
        if terms.get(name, known[0]) not in known:
            wrong[name] = ", ".join(known)
    return wrong

"""Pure: from what was done with a card in an hour to the postings of it, which sum to zero."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from billing.rating.accounts import Account
from billing.rating.cardhour import Holding, Part, card_hour
from billing.rating.days import by_day
from billing.rating.intervals import Span, moment
from billing.rating.kept import CARD_MICRO
from billing.rating.money import spread
from billing.rating.tariffs import Tariff
from billing.rating.terms import Basis, Cut, Row, Terms, adjustments


@dataclass(frozen=True, slots=True)
class Whose:
    """On whose bill an amount is; without an organization it is the platform's own."""

    organization: int | None = None
    project: int | None = None


PLATFORM = Whose()


@dataclass(frozen=True, slots=True)
class Posted:
    """One posting to be: amounts in 10⁻⁶ of the currency, card time in microseconds."""

    account: Account
    usage: int | None
    whose: Whose
    day: date
    micro: int
    card_us: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Metered:
    """One usage row with what was agreed for it. `idle_us` is of a kept card: whole-card time.

    `licence_micro` is the part of the amount that is for seats: no discount touches it. `strands`
    and `pays_kept` say who pays what it strands, and what was kept for it and stayed idle.
    """

    key: int
    whose: Whose
    zone: str
    currency: str
    span: Span
    micro: int
    amount_micro: int | None
    reserved_us: int
    memory_milli: int = 0
    compute_milli: int = 0
    used_us: int = 0
    known_us: int = 0
    billable: bool = True
    kept: bool = False
    licence_micro: int = 0
    terms: Terms = Terms()
    cuts: tuple[tuple[Cut, int], ...] = ()
    strands: bool = True
    pays_kept: bool = True


def card_lines(
    rows: Sequence[Metered],
    *,
    currency: str,
    span: Span,
    line: Sequence[Tariff],
    down: Sequence[Span] = (),
) -> list[Posted]:
    """All postings of one card and hour in one currency; they sum to zero.

    The parts of the card's price stand against its capacity, what is added to or taken off a row's
    part against revenue.
    """
    by_key = {row.key: row for row in rows if row.currency == currency}
    parts = card_hour(
        span=span,
        line=line,
        held=[_holding(row, currency) for row in rows if not row.kept and row.reserved_us],
        down=down,
        kept=[(row.key, row.reserved_us * CARD_MICRO) for row in by_key.values() if row.kept],
    )
    lists: dict[int, int] = {}
    strands: dict[int, int] = {}
    told: list[Posted] = []
    today = moment(span.start_us).date()
    for part in parts:
        row = by_key.get(part.key)
        if row is None or not _pays(row, part.account):
            key = row.key if row is not None and row.kept else None
            told.append(Posted(part.account, key, PLATFORM, today, part.micro, part.card_us))
            continue
        sums = strands if part.account is Account.STRANDED else lists
        sums[row.key] = sums.get(row.key, 0) + part.micro
        told += _by_day(row, part)
    added = [
        one
        for row in by_key.values()
        if row.pays_kept or not row.kept
        for one in _added(row, lists.get(row.key, 0), strands.get(row.key, 0))
    ]
    return told + added + _other_side(parts_micro(parts), added, today)


def _pays(row: Metered, account: Account) -> bool:
    """Whether the part is on the row's own bill, as its contract says; else the platform's."""
    if row.kept and not row.pays_kept:
        return False
    return account is not Account.STRANDED or (row.strands and row.billable)


def host_lines(rows: Sequence[Metered], *, day: date) -> list[Posted]:
    """The postings of cores and memory of one organization in one hour; they sum to zero."""
    told: list[Posted] = []
    added: list[Posted] = []
    for row in rows:
        amount = row.amount_micro or 0
        if amount:
            told += _by_day(row, Part(Account.HOST, row.key, amount, 0))
        added += _added(row, amount)
    return told + added + _other_side(sum(one.micro for one in told), added, day)


def parts_micro(parts: Iterable[Part]) -> int:
    """What they come to."""
    return sum(part.micro for part in parts)


def difference(wanted: Sequence[Posted], posted: Mapping[Posted, tuple[int, int]]) -> list[Posted]:
    """What must be posted beside what is posted already, to arrive at what is wanted.

    `posted` maps a posting without amounts to the sums of what there is.
    """
    sums: dict[_Bare, list[int]] = {}
    for one in wanted:
        kept = sums.setdefault(_bare(one), [0, 0])
        kept[0] += one.micro
        kept[1] += one.card_us
    for bare, (micro, card_us) in posted.items():
        kept = sums.setdefault(_bare(bare), [0, 0])
        kept[0] -= micro
        kept[1] -= card_us
    return [
        Posted(account, usage, whose, day, micro, card_us)
        for (account, usage, whose, day), (micro, card_us) in sums.items()
        if micro or card_us
    ]


_Bare = tuple[Account, int | None, Whose, date]
"""A posting without its amounts: a plain key, since there are millions of them."""


def _bare(one: Posted) -> _Bare:
    return (one.account, one.usage, one.whose, one.day)


def _holding(row: Metered, currency: str) -> Holding:
    return Holding(
        key=row.key,
        span=row.span,
        micro=row.micro,
        memory_milli=row.memory_milli,
        compute_milli=row.compute_milli,
        used_us=row.used_us,
        known_us=row.known_us,
        elsewhere=row.currency != currency,
    )


def _added(row: Metered, list_micro: int, stranded_micro: int = 0) -> list[Posted]:
    """The steps from the row's part of the card's price to what it is charged."""
    amount = list_micro if row.amount_micro is None else row.amount_micro
    steps = adjustments(
        Row(
            list_micro=list_micro,
            amount_micro=amount - row.licence_micro,
            reserved_us=row.span.length_us,
            used_us=row.used_us,
            known_us=row.known_us,
            billable=row.billable,
            apart_micro=row.licence_micro + stranded_micro,
        ),
        row.terms if not row.kept else replace(row.terms, basis=Basis.RESERVED),
        row.cuts,
    )
    seats = [(Account.LICENCE, row.licence_micro)] if row.licence_micro and row.billable else []
    found: list[Posted] = []
    for account, micro in (*steps, *seats):
        found += _by_day(row, Part(account, row.key, micro, 0))
    return found


def _by_day(row: Metered, part: Part) -> list[Posted]:
    """A row that lies on both sides of a local midnight is on two days, and perhaps two bills."""
    days = list(by_day(row.span, row.zone))
    if len(days) == 1:
        return [Posted(part.account, row.key, row.whose, days[0][0], part.micro, part.card_us)]
    weights = [span.length_us for _day, span in days]
    return [
        Posted(part.account, row.key, row.whose, day, micro, card_us)
        for (day, _span), micro, card_us in zip(
            days, spread(part.micro, weights), spread(part.card_us, weights), strict=True
        )
    ]


def _other_side(capacity: int, added: Sequence[Posted], day: date) -> list[Posted]:
    revenue = sum(one.micro for one in added)
    both = ((Account.CAPACITY, -capacity), (Account.REVENUE, -revenue))
    return [Posted(account, None, PLATFORM, day, micro) for account, micro in both if micro]

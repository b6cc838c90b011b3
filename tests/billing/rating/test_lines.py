"""Postings of an hour sum to zero, and steps lead from the list price to the charge."""

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from billing.rating.accounts import CARD_PARTS, Account
from billing.rating.cardhour import price_of
from billing.rating.intervals import HOUR_US, Span
from billing.rating.lines import Metered, Whose, card_lines, difference, host_lines
from billing.rating.terms import Basis, Cut, Row, Terms, adjustments
from tests.billing.rating.test_cardhour import FOUR, HOUR, lines, spans

US = HOUR_US


def metered(key, micro=1_000_000, amount=4_000_000, **more):
    values = {"span": HOUR, "zone": "UTC", "currency": "EUR", "reserved_us": HOUR_US} | more
    return Metered(key=key, whose=Whose(1, 2), micro=micro, amount_micro=amount, **values)


def by_account(found):
    told = {}
    for one in found:
        told[one.account] = told.get(one.account, 0) + one.micro
    return told


def test_what_a_project_pays_is_its_list_price_and_the_steps():
    row = metered(1, amount=3_000_000, cuts=((Cut.AGREEMENT, 100), (Cut.OFF_PEAK, 500)))
    told = by_account(card_lines([row], currency="EUR", span=HOUR, line=FOUR))
    assert told == {
        Account.HELD_UNKNOWN: 4_000_000,
        Account.PRICE: -1_000_000,
        Account.AGREEMENT: -300_000,
        Account.OFF_PEAK: -1_350_000,
        Account.CAPACITY: -4_000_000,
        Account.REVENUE: 2_650_000,
    }


def test_what_the_platform_lost_is_credited_and_stays_in_sight():
    told = by_account(
        card_lines([metered(1, amount=0, billable=False)], currency="EUR", span=HOUR, line=FOUR)
    )
    assert told[Account.HELD_UNKNOWN] == 4_000_000
    assert told[Account.CREDIT] == -4_000_000


def test_a_row_over_a_local_midnight_is_on_two_days():
    row = metered(1, zone="Asia/Kolkata", span=Span(18 * US, 19 * US))
    found = card_lines([row], currency="EUR", span=Span(18 * US, 19 * US), line=FOUR)
    held = [one for one in found if one.account is Account.HELD_UNKNOWN]
    assert [(one.day, one.micro) for one in held] == [
        (date(1970, 1, 1), 2_000_000),
        (date(1970, 1, 2), 2_000_000),
    ]


def test_the_bases_of_the_charge():
    row = Row(list_micro=100, amount_micro=100, reserved_us=100, used_us=20, known_us=90)
    assert adjustments(row, Terms(), ()) == ()
    assert adjustments(row, Terms(Basis.USED), ()) == ((Account.BASIS, -70),)
    assert adjustments(row, Terms(Basis.MAX, floor_milli=500), ()) == ((Account.BASIS, -50),)
    assert adjustments(row, Terms(tax_milli=190), ()) == ((Account.TAX, 19),)


def test_no_discount_touches_a_licence():
    row = metered(1, amount=5_000_000, licence_micro=1_000_000, cuts=((Cut.AGREEMENT, 1000),))
    told = by_account(card_lines([row], currency="EUR", span=HOUR, line=FOUR))
    assert told[Account.LICENCE] == 1_000_000
    assert told[Account.AGREEMENT] == -4_000_000


def test_tax_is_on_seats_and_on_what_is_stranded_too():
    row = metered(
        1,
        micro=500_000,
        amount=2_200_000,
        licence_micro=200_000,
        memory_milli=900,
        compute_milli=100,
        terms=Terms(tax_milli=200),
        cuts=((Cut.AGREEMENT, 500),),
    )
    told = by_account(card_lines([row], currency="EUR", span=HOUR, line=FOUR))
    assert (told[Account.HELD_UNKNOWN], told[Account.STRANDED]) == (2_000_000, 2_000_000)
    assert told[Account.AGREEMENT] == -1_000_000
    assert told[Account.TAX] == (1_000_000 + 200_000 + 2_000_000) // 5


@st.composite
def rows(draw):
    found = []
    for key in range(1, draw(st.integers(0, 8)) + 1):
        span = draw(spans)
        known = draw(st.integers(0, span.length_us))
        kept = draw(st.booleans()) and key == 1
        found.append(
            metered(
                key,
                micro=draw(st.integers(1, 1_000_000)),
                amount=draw(st.none() | st.integers(0, 10**10)),
                span=span,
                reserved_us=draw(st.integers(0, span.length_us)) if kept else span.length_us,
                kept=kept,
                memory_milli=draw(st.integers(0, 1000)),
                compute_milli=draw(st.integers(0, 1000)),
                known_us=known,
                used_us=draw(st.integers(0, known)),
                currency=draw(st.sampled_from(["EUR", "USD"])),
                zone=draw(st.sampled_from(["UTC", "Asia/Kolkata", "Asia/Kathmandu"])),
                billable=draw(st.booleans()),
                strands=draw(st.booleans()),
                terms=Terms(draw(st.sampled_from(Basis)), draw(st.integers(0, 1000)), 190),
                cuts=tuple(
                    (kind, draw(st.integers(1, 1000))) for kind in Cut if draw(st.booleans())
                ),
            )
        )
    return found


@given(rows(), lines())
def test_every_entry_sums_to_zero_and_its_parts_to_the_cards_price(found, line):
    told = card_lines(found, currency="EUR", span=HOUR, line=line)
    sums = by_account(told)
    assert sum(sums.values()) == 0
    assert sum(sums.get(one, 0) for one in CARD_PARTS) == price_of(line, HOUR)
    assert sum(one.card_us for one in told) == HOUR_US


@given(rows(), rows(), lines(), lines())
def test_what_is_posted_beside_leads_from_any_state_to_any_other(before, after, line, other):
    """A replay posts nothing, a changed price or a corrected row only what changed."""
    first = card_lines(before, currency="EUR", span=HOUR, line=line)
    posted = summed(difference(first, {}))
    assert difference(first, posted) == []
    second = card_lines(after, currency="EUR", span=HOUR, line=other)
    step = difference(second, posted)
    assert sum(one.micro for one in step) == 0
    assert summed([*difference(first, {}), *step]) == summed(difference(second, {}))


def summed(found):
    told = {}
    for one in found:
        bare = type(one)(one.account, one.usage, one.whose, one.day, 0, 0)
        micro, us = told.get(bare, (0, 0))
        told[bare] = (micro + one.micro, us + one.card_us)
    return {key: value for key, value in told.items() if value != (0, 0)}


def test_cores_and_memory_have_an_entry_of_their_own():
    told = by_account(host_lines([metered(1, micro=0, amount=77)], day=date(1970, 1, 1)))
    assert told == {Account.HOST: 77, Account.CAPACITY: -77}

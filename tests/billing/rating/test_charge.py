"""Laws of charging: however time is split, the parts sum to the whole."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from billing.rating.charge import (
    Item,
    accrued,
    card_parts,
    charge,
    core_parts,
    gib_parts,
    hourly,
    rate_at,
)
from billing.rating.intervals import HOUR_US, SECOND_US, Span
from billing.rating.tariffs import FOREVER, Tariff

START = 1_800_000_000 * SECOND_US + 123_457


@st.composite
def lines(draw, gaps=False):
    """A line of rates that covers the time, or leaves holes in it."""
    edges = sorted(draw(st.sets(st.integers(START - HOUR_US, START + 30 * HOUR_US), max_size=4)))
    edges = [0, *edges, FOREVER]
    made = [
        Tariff(f"p{n}", draw(st.integers(0, 9_000_000)), a, b)
        for n, (a, b) in enumerate(zip(edges, edges[1:], strict=False))
    ]
    return tuple(one for one in made if not gaps or draw(st.booleans()))


@st.composite
def items(draw, gaps=False):
    return (
        Item("card", card_parts(draw(st.integers(1, 1_000_000))), draw(lines(gaps))),
        Item("core", core_parts(draw(st.integers(0, 64_000))), draw(lines()), expected=False),
        Item("gib", gib_parts(draw(st.integers(0, 10**6))), draw(lines(True)), expected=False),
    )


spans = st.builds(
    lambda start, length: Span(START + start, START + start + length),
    st.integers(0, 3 * HOUR_US),
    st.integers(1, 26 * HOUR_US),
)


@given(items(), spans)
def test_the_hours_of_a_hold_sum_to_its_whole_exactly(held, span):
    whole = charge(held, since_us=span.start_us, span=span)
    parts = hourly(held, span)
    assert sum(made.micro for _, _, made in parts) == whole.micro
    assert sum(part.length_us for _, part, _ in parts) == span.length_us


@given(items(), spans, st.lists(st.floats(0, 1), max_size=9))
def test_splitting_a_span_anywhere_changes_nothing(held, span, shares):
    cuts = sorted(span.start_us + int(share * span.length_us) for share in shares)
    edges = [span.start_us, *cuts, span.end_us]
    parts = [Span(a, b) for a, b in zip(edges, edges[1:], strict=False)]
    split = [charge(held, since_us=span.start_us, span=part).micro for part in parts]
    assert sum(split) == charge(held, since_us=span.start_us, span=span).micro


@given(items(gaps=True), spans)
def test_lines_sum_to_the_amount_and_none_is_negative(held, span):
    made = charge(held, since_us=span.start_us, span=span)
    total = sum(line.micro for line in made.lines)
    assert made.micro in (None, total)
    assert all(line.micro >= 0 and line.us > 0 for line in made.lines)


@given(items(), spans)
def test_an_amount_is_within_half_a_unit_of_the_exact_one(held, span):
    exact = sum(
        Fraction(item.quantity, 1_000_000 * 1024)
        * tariff.micro
        * Fraction(span.cut(Span(tariff.start_us, tariff.end_us)).length_us, HOUR_US)
        for item in held
        for tariff in item.tariffs
    )
    made = charge(held, since_us=span.start_us, span=span).micro
    assert abs(made - exact) <= Fraction(1, 2)


@given(items(), spans)
def test_the_order_of_what_is_held_changes_no_amount(held, span):
    made = charge(held, since_us=span.start_us, span=span)
    other = charge(held[::-1], since_us=span.start_us, span=span)
    assert made.micro == other.micro


@given(items(), spans, st.floats(0, 1))
def test_a_price_that_changes_to_itself_changes_nothing(held, span, share):
    at = span.start_us + int(share * span.length_us)
    halves = tuple(
        Item(
            item.unit,
            item.quantity,
            tuple(
                Tariff(one.ref, one.micro, start, end)
                for one in item.tariffs
                for start, end in (
                    (one.start_us, min(at, one.end_us)),
                    (max(at, one.start_us), one.end_us),
                )
                if start < end
            ),
            item.expected,
        )
        for item in held
    )
    assert accrued(halves, span) == accrued(held, span)
    made = charge(halves, since_us=span.start_us, span=span).micro
    assert made == charge(held, since_us=span.start_us, span=span).micro


def test_a_whole_card_for_an_hour_costs_its_rate():
    held = (Item("card", card_parts(1_000_000), (Tariff("p", 1_900_000, 0, FOREVER),)),)
    span = Span(START, START + HOUR_US)
    assert charge(held, since_us=START, span=span).micro == 1_900_000
    assert rate_at(held, START) == 1_900_000


def test_fifty_jobs_of_three_seconds_are_not_fifty_zeros():
    held = (Item("card", card_parts(134_000), (Tariff("p", 1_900_000, 0, FOREVER),)),)
    one = charge(held, since_us=START, span=Span(START, START + 3 * SECOND_US)).micro
    assert one == 212


def test_a_card_without_a_price_has_an_unknown_amount_and_a_core_is_free():
    none = (Item("card", card_parts(5), ()),)
    free = (Item("core", core_parts(5), (), expected=False),)
    span = Span(START, START + SECOND_US)
    assert charge(none, since_us=START, span=span).micro is None
    assert rate_at(none, START) is None
    assert charge(free, since_us=START, span=span).micro == 0
    assert rate_at(free, START) == 0


def test_what_is_not_billable_costs_nothing():
    made = charge((), since_us=START, span=Span(START, START + HOUR_US))
    assert (made.micro, made.lines) == (0, ())

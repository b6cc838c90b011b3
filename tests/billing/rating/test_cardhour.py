"""The price of a card and hour is shared to the last unit, whatever was done with the card."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from billing.rating.accounts import Account
from billing.rating.cardhour import Holding, card_hour, price_of
from billing.rating.intervals import HOUR_US, SECOND_US, Span
from billing.rating.money import spread
from billing.rating.tariffs import FOREVER, Tariff

HOUR = Span(10 * HOUR_US, 11 * HOUR_US)
FOUR = (Tariff("p", 4_000_000, 0, FOREVER),)


def holding(key, micro, span=HOUR, *, memory=None, compute=None, **more):
    return Holding(
        key=key,
        span=span,
        micro=micro,
        memory_milli=micro // 1000 if memory is None else memory,
        compute_milli=micro // 1000 if compute is None else compute,
        **more,
    )


def told(parts, key=None):
    found = {}
    for part in parts:
        if key is None or part.key == key:
            found[part.account] = found.get(part.account, 0) + part.micro
    return found


def test_an_empty_card_is_the_platforms():
    parts = card_hour(span=HOUR, line=FOUR, held=[])
    assert told(parts) == {Account.PLATFORM_IDLE: 4_000_000}


def test_what_was_seen_is_told_from_what_was_not():
    seen = {"used_us": HOUR_US // 4, "known_us": HOUR_US // 2}
    parts = card_hour(span=HOUR, line=FOUR, held=[holding(1, 1_000_000, **seen)])
    assert told(parts) == {
        Account.USED: 1_000_000,
        Account.HELD_IDLE: 1_000_000,
        Account.HELD_UNKNOWN: 2_000_000,
    }


def test_fifty_short_jobs_are_not_fifty_zeros():
    line = (Tariff("p", 7, 0, FOREVER),)
    held = [
        holding(
            n,
            1_000_000,
            Span(HOUR.start_us + n * 72 * SECOND_US, HOUR.start_us + (n * 72 + 36) * SECOND_US),
        )
        for n in range(50)
    ]
    found = told(card_hour(span=HOUR, line=line, held=held))
    assert sum(found.values()) == 7
    assert found[Account.HELD_UNKNOWN] in {3, 4}


def test_a_card_that_is_down_costs_its_people_only_what_they_hold():
    half = Span(HOUR.start_us, HOUR.start_us + HOUR_US // 2)
    parts = card_hour(span=HOUR, line=FOUR, held=[holding(1, 500_000)], down=[half])
    assert told(parts) == {
        Account.HELD_UNKNOWN: 2_000_000,
        Account.DOWN: 1_000_000,
        Account.PLATFORM_IDLE: 1_000_000,
    }


def test_the_rest_is_stranded_only_where_one_dimension_is_used_up():
    lean = holding(1, 500_000, memory=900, compute=100)
    parts = card_hour(span=HOUR, line=FOUR, held=[lean])
    assert told(parts) == {Account.HELD_UNKNOWN: 2_000_000, Account.STRANDED: 2_000_000}
    both = holding(1, 900_000, memory=900, compute=900)
    assert Account.STRANDED not in told(card_hour(span=HOUR, line=FOUR, held=[both]))


def test_a_kept_card_takes_of_the_price_only_what_nobody_held():
    parts = card_hour(
        span=HOUR, line=FOUR, held=[holding(1, 250_000)], kept=[(2, HOUR_US * 1_000_000)]
    )
    assert told(parts, 1) == {Account.HELD_UNKNOWN: 1_000_000}
    assert told(parts, 2) == {Account.HELD_IDLE: 3_000_000}
    assert sum(told(parts).values()) == 4_000_000


def test_what_another_currency_pays_is_elsewhere():
    parts = card_hour(span=HOUR, line=FOUR, held=[holding(1, 250_000, elsewhere=True)])
    assert told(parts) == {Account.ELSEWHERE: 1_000_000, Account.PLATFORM_IDLE: 3_000_000}


moments = st.integers(HOUR.start_us, HOUR.end_us)
spans = st.tuples(moments, moments).map(lambda two: Span(min(two), max(two)))
rates = st.lists(st.integers(0, 10**9), min_size=1, max_size=4)


@st.composite
def lines(draw):
    """List rates that change inside the hour, perhaps with a gap."""
    edges = sorted(draw(st.lists(moments, max_size=3)))
    starts, ends = [0, *edges], [*edges, FOREVER]
    return tuple(
        Tariff(f"p{n}", draw(st.integers(0, 10**9)), start, end)
        for n, (start, end) in enumerate(zip(starts, ends, strict=True))
        if end > start and draw(st.booleans())
    )


@st.composite
def holdings(draw):
    """Whatever was held: shares may even sum past the card, as corrected counts can."""
    found = []
    for key in range(1, draw(st.integers(0, 12)) + 1):
        span = draw(spans)
        known = draw(st.integers(0, span.length_us))
        found.append(
            holding(
                key,
                draw(st.integers(1, 1_000_000)),
                span,
                memory=draw(st.integers(0, 1000)),
                compute=draw(st.integers(0, 1000)),
                known_us=known,
                used_us=draw(st.integers(0, known)),
                elsewhere=draw(st.booleans()),
            )
        )
    return found


@given(lines(), holdings(), st.lists(spans, max_size=2), st.integers(0, 2 * HOUR_US))
def test_the_parts_always_sum_to_the_price_and_to_the_hour(line, held, down, kept):
    parts = card_hour(
        span=HOUR, line=line, held=held, down=down, kept=[(99, kept * 1_000_000)] if kept else []
    )
    assert sum(part.micro for part in parts) == price_of(line, HOUR)
    assert sum(part.card_us for part in parts) == HOUR_US
    assert all(part.micro >= 0 and part.card_us >= 0 for part in parts)


@given(lines(), holdings(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(line, held, chance):
    shuffled = list(held)
    chance.shuffle(shuffled)
    assert card_hour(span=HOUR, line=line, held=held) == card_hour(
        span=HOUR, line=line, held=shuffled
    )


@given(st.integers(0, 10**12), st.lists(st.integers(0, 10**15), min_size=1, max_size=20), st.data())
def test_cutting_a_weight_in_two_neighbours_changes_nobodys_share(total, weights, data):
    at = data.draw(st.integers(0, len(weights) - 1))
    first = data.draw(st.integers(0, weights[at]))
    whole = spread(total, weights)
    cut = spread(total, [*weights[:at], first, weights[at] - first, *weights[at + 1 :]])
    assert cut[at] + cut[at + 1] == whole[at]
    assert (*cut[:at], *cut[at + 2 :]) == (*whole[:at], *whole[at + 1 :])
    assert sum(whole) == total


@given(st.integers(0, 10**12), st.lists(st.integers(1, 10**9), min_size=1, max_size=20))
def test_no_share_is_off_by_more_than_one(total, weights):
    every = sum(weights)
    for share, weight in zip(spread(total, weights), weights, strict=True):
        assert abs(share - Fraction(total * weight, every)) <= 1

"""Which price counts when."""

from hypothesis import given
from hypothesis import strategies as st

from billing.rating.tariffs import FOREVER, Rate, Tariff, tariffs

words = {"card_model": "A100-80GB", "mode": "mig", "price_class": "standard"}


def rate(ref, micro, start=0, end=FOREVER, **key):
    return Rate(ref=ref, micro=micro, start_us=start, end_us=end, **key)


def test_the_price_of_the_very_model_goes_before_one_of_any():
    rates = [rate("any", 1), rate("a100", 2, card_model="A100-80GB"), rate("mig", 3, mode="mig")]
    assert tariffs(rates, **words) == (Tariff("a100", 2, 0, FOREVER),)


def test_a_more_exact_price_counts_only_while_it_is_valid():
    rates = [rate("any", 1), rate("night", 2, 10, 20, mode="mig")]
    assert tariffs(rates, **words) == (
        Tariff("any", 1, 0, 10),
        Tariff("night", 2, 10, 20),
        Tariff("any", 1, 20, FOREVER),
    )


def test_prices_of_other_words_never_count_and_leave_a_gap():
    rates = [rate("h100", 9, card_model="H100-80GB"), rate("late", 1, 50)]
    assert tariffs(rates, **words) == (Tariff("late", 1, 50, FOREVER),)


one_rate = st.builds(
    lambda ref, micro, start, length, model, mode, kind: Rate(
        ref=f"{ref}",
        micro=micro,
        start_us=start,
        end_us=start + length,
        card_model=model,
        mode=mode,
        price_class=kind,
    ),
    st.integers(0, 10**6),
    st.integers(0, 10**7),
    st.integers(0, 1000),
    st.integers(1, 1000),
    st.sampled_from(["", "A100-80GB", "H100-80GB"]),
    st.sampled_from(["", "mig", "whole"]),
    st.sampled_from(["", "standard", "spot"]),
)


@given(st.lists(one_rate, max_size=8, unique_by=lambda r: r.ref), st.randoms())
def test_the_line_has_one_price_at_a_time_whatever_the_order(rates, chance):
    line = tariffs(rates, **words)
    assert all(a.end_us <= b.start_us for a, b in zip(line, line[1:], strict=False))
    mixed = list(rates)
    chance.shuffle(mixed)
    assert tariffs(mixed, **words) == line

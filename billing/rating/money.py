"""Amounts: integers in 10⁻⁶ of the currency, rounded in one place; parts that sum to the whole."""

from collections.abc import Sequence
from decimal import Decimal

MICRO = 1_000_000
"""One unit of the currency in the integers that amounts are kept in."""


def settle(numerator: int, denominator: int) -> int:
    """The nearest whole number, half to even: the only place where money is rounded."""
    whole, rest = divmod(numerator, denominator)
    twice = 2 * rest
    return whole + (twice > denominator or (twice == denominator and whole % 2 == 1))


def apportion(total: int, weights: Sequence[int]) -> tuple[int, ...]:
    """Shares of `total` by weight that sum to it exactly: the largest remainders get the rest.

    Equal remainders go to the earlier place. Weights are not negative; when all are zero there is
    nothing to go by and the first takes all. Without weights there is nobody: total must be 0.
    """
    if not weights:
        if total:
            raise ValueError("an amount cannot be shared among nobody")
        return ()
    every = sum(weights)
    if every == 0:
        return (total, *(0 for _ in weights[1:]))
    parts = [divmod(total * weight, every) for weight in weights]
    shares = [whole for whole, _ in parts]
    short = total - sum(shares)
    for place in sorted(range(len(parts)), key=lambda at: (-parts[at][1], at))[:short]:
        shares[place] += 1
    return tuple(shares)


def spread(total: int, weights: Sequence[int]) -> tuple[int, ...]:
    """Shares of `total` by weight, in order, that sum to it exactly; none is off by more than one.

    Each is the rounded sum up to its end less that up to its start, so that a weight which is cut
    into neighbouring pieces gets the same together, and fifty small ones are not fifty zeros. When
    all weights are zero there is nothing to go by and the last takes all.
    """
    every = sum(weights)
    if not weights or every == 0:
        return apportion(total, tuple(reversed(weights)))[::-1]
    shares, before, up_to = [], 0, 0
    for weight in weights:
        up_to += weight
        after = settle(total * up_to, every)
        shares.append(after - before)
        before = after
    return tuple(shares)


def shown(micro: int, digits: int = 2) -> Decimal:
    """An amount in units of the currency with `digits` decimals, for people and files."""
    return Decimal(settle(micro, 10 ** (6 - digits))).scaleb(-digits)

"""What is left of a lease that stands unused: how many copies it keeps, and when it is told so."""

from dataclasses import dataclass

KEPT_USE_MILLI = 500
"""A lease is cut back to what would have been used by half."""


@dataclass(frozen=True, slots=True)
class Judged:
    """How much of a lease was used, in thousandths, and how many copies it would keep."""

    used_milli: int
    keeps: int


def judge(*, copies: int, used_copy_s: float, over_s: float, share_milli: int) -> Judged | None:
    """The judgement on a lease whose copies were in use for so many seconds in all of `over_s`.

    None where enough was used. One copy alone is used enough or ends: there is no half of it.
    """
    used = round(1000 * used_copy_s / (copies * over_s)) if over_s > 0 else 1000
    if used >= share_milli:
        return None
    keeps = -(-copies * used // KEPT_USE_MILLI)
    return Judged(used_milli=used, keeps=min(keeps, copies - 1))

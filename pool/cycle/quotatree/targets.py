"""What time alone does to the quota tree: planned changes, grants, months, drift, cutting back."""

from dataclasses import dataclass

from pool.cycle.round import only_one
from pool.events import SYSTEM
from pool.locks import QUOTA_BOOKS, QUOTA_PLANS
from pool.services.quotatree.cutbacks import cutbacks_due
from pool.services.quotatree.drift import Swept, drifts_swept
from pool.services.quotatree.periods import periods_counted
from pool.services.quotatree.planned import quota_plans_due
from pool.sweeps import part


@dataclass(frozen=True, slots=True)
class Tended:
    """What one look at the books of quotas did."""

    drifts: Swept
    periods: int
    cutbacks: int


def plans_due() -> int | None:
    """Carry out planned changes whose time has come; None when another process is at it."""
    with only_one(QUOTA_PLANS) as mine:
        return quota_plans_due(actor=SYSTEM) if mine else None


def books_tended() -> Tended | None:
    """Count months, look for drift, tell and cut back; None when another process is at it."""
    with only_one(QUOTA_BOOKS) as mine:
        if not mine:
            return None
        return Tended(
            drifts=part(lambda: drifts_swept(actor=SYSTEM), of="drifts", nothing=Swept()),
            periods=part(periods_counted, of="periods", nothing=0),
            cutbacks=part(lambda: cutbacks_due(actor=SYSTEM), of="cutbacks", nothing=0),
        )

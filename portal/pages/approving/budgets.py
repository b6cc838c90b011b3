"""Budgets before and after a wish, as far as the reader may know them."""

from dataclasses import dataclass

from billing.selectors.budgets import Effect, budget_effect, budget_list
from pool.models.tenants import Project
from pool.models.users import User
from pool.selectors.memberships import Standing
from portal.pages.answers import Answer

HOUR_S = 3600


@dataclass(frozen=True, slots=True)
class Budgets:
    """The effects that may be read; `hidden`: one that may not be read would be passed."""

    shown: tuple[Effect, ...] = ()
    hidden: bool = False


def budgets_of(
    *, project: Project, user: User, standing: Standing, answer: Answer | None, seconds: int
) -> Budgets:
    """What the whole wish, all copies over the whole time, does to each budget over it."""
    if answer is None or answer.best is None or answer.need is None:
        return Budgets()
    micro = answer.best.placed.micro(answer.need) * answer.copies
    found = budget_effect(
        project=project,
        user=user,
        micro_cost=answer.total_micro,
        card_hours_micro=micro * seconds // HOUR_S,
    )
    if not found:
        return Budgets()
    known = set(
        budget_list(standing=standing)
        .filter(pk__in=[one.budget.pk for one in found])
        .values_list("pk", flat=True)
    )
    return Budgets(
        shown=tuple(one for one in found if one.budget.pk in known),
        hidden=any(one.over_micro or one.refuses for one in found if one.budget.pk not in known),
    )

"""What a project has spent this month, as far as the reader may know."""

from dataclasses import dataclass

from billing.selectors.usage import months
from pool.lifecycle.roles import Role
from pool.models.tenants import Project
from pool.selectors.memberships import Standing


@dataclass(frozen=True, slots=True)
class Spent:
    """The running month in millionths of the currency."""

    amount_micro: int
    currency: str


def spent_of(*, project: Project, standing: Standing) -> Spent | None:
    """The project's running month; None for readers who may not see its cost."""
    if not Project.objects.filter(standing.spends(""), pk=project.pk).exists():
        return None
    only = Standing(projects={Role.VIEWER: frozenset({project.pk})})
    found = next((one for one in months(standing=only)), None)
    if found is None or found.cost.amount_micro is None:
        return None
    return Spent(found.cost.amount_micro, found.cost.currency)

"""What the queue says to something that is not asked for yet: its wait, who leaves, who waits."""

from collections.abc import Sequence

from pool.cycle.approvals.effects import Effects, Sought, effects_of
from pool.models.partitions import Partition
from pool.models.requests import Request
from pool.models.templates import TemplateVersion
from pool.models.tenants import Project
from pool.models.users import User
from pool.rules.needs import Need, from_mapping
from pool.rules.problems import Problems
from portal.access.rates import Rate
from portal.explained import looked

STALE_S = 5.0
"""So old may the look at the pool be: many ask while they type."""

ASKED = Rate(limit=60, seconds=60)
"""So often one person may have the queue planned anew."""


def effects_for(
    *,
    project: Project,
    owner: User,
    version: TemplateVersion,
    need: Need,
    partitions: Sequence[Partition],
    seconds: int,
    copies: int = 1,
    who: str = "",
) -> Effects | None:
    """The plan with it and without; None when the asker asks too often, or nothing could hold it.

    `who` asks; by default the owner.
    """
    if need.parts < 1 or not partitions or ASKED.knock(who or owner.uid):
        return None
    sought = Sought(
        project=project,
        owner=owner,
        version=version,
        need=need,
        partitions=tuple(partitions),
        seconds=seconds,
        copies=copies,
    )
    return effects_of(looked(stale_s=STALE_S), sought)


def effects_of_request(*, request: Request, who: str) -> Effects | None:
    """The same for a request as it stands; None also when its need cannot be read any more."""
    try:
        need = from_mapping(request.need)
    except Problems:
        return None
    return effects_for(
        project=request.project,
        owner=request.requester,
        version=request.template_version,
        need=need,
        partitions=list(request.partitions.all()),
        seconds=request.duration_seconds,
        copies=request.copies,
        who=who,
    )

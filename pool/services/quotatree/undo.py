"""Taking a change of quotas back: a new change with the numbers from before it."""

from typing import Any

from pool.errors import NotYours
from pool.events import Actor
from pool.lifecycle.events import EventKind
from pool.models.events import Event
from pool.models.partitions import Partition
from pool.models.quotas import Quota
from pool.models.tenants import Organization, Project
from pool.models.users import User
from pool.rules.policies import reason_problem
from pool.services.quotas import QuotaLine, quotas_set
from pool.services.refusals import refuse


def undo_lines(*, change: str) -> list[QuotaLine]:
    """What would take the change back, row by row; each only while it still stands as it was left.

    Raises:
        NotYours: there is no such change, or what it was about is gone.
    """
    told = Event.objects.filter(kind=EventKind.QUOTA_CHANGED, data__change=change).order_by("id")
    lines = [_line(one.data) for one in told if one.data.get("before") != one.data.get("after")]
    if not lines:
        raise NotYours
    return lines


def quotas_undo(*, change: str, actor: Actor, reason: str) -> list[Quota]:
    """Set every row of a change to what it was before it; the rows that changed.

    Raises:
        NotYours: there is no such change.
        Stale: a row was changed again since.
        Invalid: no reason is given.
    """
    refuse({"reason": reason_problem(reason)})
    return quotas_set(lines=undo_lines(change=change), actor=actor, reason=reason)


def _line(data: dict[str, Any]) -> QuotaLine:
    uid = str(data.get("tenant", ""))
    tenant: Organization | Project | None = Project.objects.filter(uid=uid).first()
    tenant = tenant or Organization.objects.filter(uid=uid).first()
    partition = Partition.objects.filter(uid=data["partition"]).first()
    user = User.objects.filter(uid=data["member"]).first() if data.get("member") else None
    if tenant is None or partition is None or (data.get("member") and user is None):
        raise NotYours
    return QuotaLine(
        tenant=tenant,
        user=user,
        partition=partition,
        unit=data["unit"],
        kind=data["of"],
        card_model=data["card_model"],
        limit=data["before"],
        expected=data["after"],
    )

"""Letting one's project look at the files of a notebook, until a time, and ending that."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext

from nodeagent.protocol.vocabulary import WorkloadKind
from pool.clock import now
from pool.errors import Forbidden, Invalid
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models.notebooks.shares import NotebookShare
from pool.models.users import User
from pool.models.workloads import Workload
from pool.rules.idling.words import share_problems
from pool.services.moves import locked
from pool.services.refusals import refuse


@transaction.atomic
def notebook_share(
    *, workload: Workload, user: User, until: datetime, actor: Actor
) -> NotebookShare:
    """Let the people of its project read its files until then; a share before it is replaced.

    Raises:
        Forbidden: it is not this person's own: the files are theirs.
        Invalid: it is no notebook, or the time is not within the next 30 days.
    """
    row = _own(workload, user)
    refuse(share_problems(until=until, now=now()))
    NotebookShare.objects.filter(workload=row, ended_at=None).update(ended_at=now())
    made = NotebookShare.objects.create(workload=row, by=user, until=until)
    _record(made, row, actor, shared=True)
    return made


@transaction.atomic
def notebook_unshare(*, workload: Workload, actor: Actor) -> bool:
    """Nobody else may look any more; false when nobody might. Whoever looks is out within seconds.

    The caller is the owner, or may stop other people's work there.
    """
    (row,) = locked(Workload.objects.filter(pk=workload.pk).select_related("project", "owner"))
    open_one = NotebookShare.objects.filter(workload=row, ended_at=None).first()
    if open_one is None:
        return False
    open_one.ended_at = now()
    open_one.save(update_fields=["ended_at"])
    _record(open_one, row, actor, shared=False)
    return True


def _own(workload: Workload, user: User) -> Workload:
    (row,) = locked(Workload.objects.filter(pk=workload.pk).select_related("project", "owner"))
    if row.owner_id != user.pk:
        raise Forbidden
    if row.kind != WorkloadKind.NOTEBOOK:
        raise Invalid(kind=gettext("This is no notebook."))
    return row


def _record(share: NotebookShare, row: Workload, actor: Actor, *, shared: bool) -> None:
    record(
        EventKind.NOTEBOOK_SHARED,
        row,
        actor=actor,
        share=share.uid,
        shared=shared,
        until=share.until.isoformat(),
    )

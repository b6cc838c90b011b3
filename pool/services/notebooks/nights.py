"""Leaving a notebook alone for a night: asked by its owner, answered by who decides there."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from pool.clock import now
from pool.errors import Forbidden, Invalid, PoolError
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.idleness import NightAnswer
from pool.lifecycle.workloads import WorkloadState
from pool.models.notebooks.nights import NightKeep
from pool.models.notebooks.notebooks import Notebook
from pool.models.users import User
from pool.models.workloads import Workload
from pool.rules.idling.words import night_problems
from pool.rules.notices import NoticeKind
from pool.rules.problems import marked
from pool.services.moves import locked
from pool.services.notebooks.keep import NotRunning
from pool.services.notices.send import notice_send
from pool.services.refusals import refuse


class NothingAsked(PoolError):
    """Nobody asked, or it was answered, or its time is over."""

    code = "nothing_asked"
    status = 409
    text = _("Nothing is asked here any more.")


ASKED = marked(
    "%(who)s asks to leave the notebook %(name)s alone until %(until_at)s. Reason: %(reason)s"
)
ANSWERED = {
    NightAnswer.GRANTED: marked("The notebook %(name)s is left alone until %(until_at)s."),
    NightAnswer.REFUSED: marked("The notebook %(name)s is not left alone for the night. %(words)s"),
}


@transaction.atomic
def night_ask(
    *,
    workload: Workload,
    user: User,
    until: datetime,
    reason: str,
    actor: Actor,
    weights: Mapping[str, int] | None = None,
    deciders: Iterable[User] = (),
) -> NightKeep:
    """Wish that it is not reclaimed before `until`; `weights` are what it will come to.

    Raises:
        Forbidden: it is not this person's own.
        NotRunning: it does not run.
        Invalid: a word is wrong, or a wish is open already.
    """
    (row,) = locked(Workload.objects.filter(pk=workload.pk).select_related("project", "owner"))
    if row.owner_id != user.pk:
        raise Forbidden
    if row.state != WorkloadState.RUNNING:
        raise NotRunning
    refuse(night_problems(until=until, reason=reason, now=now()))
    open_ones = NightKeep.objects.filter(workload=row, answer="")
    open_ones.filter(until__lte=now()).update(answer=NightAnswer.WITHDRAWN, answered_at=now())
    try:
        with transaction.atomic():
            made = NightKeep.objects.create(
                workload=row,
                asked_by=user,
                until=until,
                reason=reason.strip(),
                weights=dict(weights or {}),
            )
    except IntegrityError as twice:
        raise Invalid(until=gettext("This was asked already; withdraw it first.")) from twice
    _record(made, row, actor, asked=True)
    notice_send(
        kind=NoticeKind.TO_DECIDE,
        to=[one for one in deciders if one.pk != user.pk],
        about=row,
        text=ASKED,
        key=f"night:{made.uid}",
        who=str(user),
        name=row.name,
        until_at=until.isoformat(),
        reason=made.reason,
    )
    return made


@transaction.atomic
def night_answer(
    *, night: NightKeep, answer: NightAnswer, user: User, actor: Actor, words: str = ""
) -> NightKeep:
    """Grant, refuse or (its own asker) withdraw it. Nobody grants a wish of their own.

    Raises:
        Forbidden: the person may not give this answer.
        NothingAsked: it was answered, or its time is over.
    """
    (work,) = locked(
        Workload.objects.filter(pk=night.workload_id).select_related("project", "owner")
    )
    row = NightKeep.objects.select_for_update().get(pk=night.pk)
    own = row.asked_by_id == user.pk
    if own != (answer is NightAnswer.WITHDRAWN):
        raise Forbidden
    if row.answer or row.until <= now():
        raise NothingAsked
    row.answer, row.answered_at, row.answered_by = str(answer), now(), user
    row.words = words.strip()[:200]
    row.save(update_fields=["answer", "answered_at", "answered_by", "words"])
    if answer is NightAnswer.GRANTED:
        Notebook.objects.filter(workload=work).update(
            kept_until=row.until, quiet_s=0.0, warned=None
        )
    _record(row, work, actor, answer=str(answer))
    if answer in ANSWERED:
        notice_send(
            kind=NoticeKind.DECIDED,
            to=[work.owner],
            about=work,
            text=ANSWERED[answer],
            key=f"night:{row.uid}:{answer}",
            name=work.name,
            until_at=row.until.isoformat(),
            words=row.words,
        )
    return row


def _record(row: NightKeep, work: Workload, actor: Actor, **more: Any) -> None:
    record(
        EventKind.NOTEBOOK_NIGHT,
        work,
        actor=actor,
        owner=work.owner.uid,
        night=row.uid,
        until=row.until.isoformat(),
        reason=row.reason,
        weights=row.weights,
        **more,
    )

"""Writes a judgement down and does what follows from it: a warning, or the end."""

import dataclasses
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db import transaction
from django.utils.translation import gettext as _

from nodeagent.protocol.vocabulary import ExitReason
from pool.events import SYSTEM, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.idleness import IdleAction, Verdict
from pool.lifecycle.workloads import WorkloadState
from pool.models.approvals.notices import NoticeDelivery
from pool.models.notebooks.notebooks import Notebook
from pool.models.workloads import Workload
from pool.rules.idle import Counted, Judgement, Rule, Signals, judge
from pool.rules.idling.words import DAY_MINUTES
from pool.rules.notices import NoticeKind
from pool.rules.problems import marked
from pool.services.moves import locked
from pool.services.notices.send import notice_send
from pool.services.workloads import workload_stop

WARNED = marked(
    "Nothing moves in the notebook %(name)s: it is stopped in %(minutes)s minutes."
    " Files are kept, variables in memory are lost."
)
RECLAIMED = marked(
    "The notebook %(name)s was stopped, as nothing moved in it."
    " Its files are kept: resume it to go on."
)

LONGEST_S = 60.0
"""Of the time between two judgements no more is known: the sweep itself was away."""


@dataclass(frozen=True, slots=True)
class Clock:
    """When it is. `shift` is how far the pool's clock is moved from the machine's, in seconds."""

    at: datetime
    boot: str
    boottime: float
    shift: float


@transaction.atomic
def notebook_judged(
    *, notebook: Notebook, signals: Signals, rule: Rule, clock: Clock
) -> Judgement | None:
    """Judge and act; None when it does not run any more, or another run has begun meanwhile."""
    rows = Workload.objects.filter(pk=notebook.workload_id).select_related("project", "owner")
    (workload,) = locked(rows)
    row = Notebook.objects.select_for_update().get(pk=notebook.pk)
    if workload.state != WorkloadState.RUNNING or row.attempt_id != notebook.attempt_id:
        return None
    found = judge(signals, rule, Counted(row.quiet_s, row.warned), _elapsed(row, clock))
    if row.kept_until is not None and clock.at < row.kept_until:
        found = dataclasses.replace(found, quiet_s=0.0, warned=None, warn=None, over=False)
    before = row.verdict
    _write(row, found, clock)
    words: dict[str, Any] = {
        "owner": workload.owner.uid,
        "verdict": str(found.verdict),
        "quiet_s": round(found.quiet_s),
        "limit_s": found.limit_s,
    }
    if found.verdict != before:
        record(EventKind.NOTEBOOK_JUDGED, workload, actor=SYSTEM, because=row.evidence, **words)
    if found.warn is not None:
        words |= {"minutes": found.warn, "reclaims": rule.action == IdleAction.RECLAIM}
        number = record(
            EventKind.NOTEBOOK_WARNED, workload, actor=SYSTEM, because=row.evidence, **words
        )
        _tell(workload, WARNED, number, _morning(workload, rule, clock.at), minutes=found.warn)
    if found.over and rule.action == IdleAction.RECLAIM:
        number = record(
            EventKind.NOTEBOOK_RECLAIMED, workload, actor=SYSTEM, because=row.evidence, **words
        )
        _tell(workload, RECLAIMED, number, _morning(workload, rule, clock.at))
        minutes = round(found.quiet_s / 60)
        workload_stop(
            workload=workload,
            actor=SYSTEM,
            reason=ExitReason.RECLAIMED,
            message=_("Nothing moved in it for %(n)d minutes.") % {"n": minutes},
        )
    return found


def _morning(workload: Workload, rule: Rule, at: datetime) -> datetime | None:
    """When the owner's quiet hours end, while they last: only letters rest, nothing else does."""
    here = at.astimezone(ZoneInfo(workload.owner.zone or "UTC"))
    minute = here.hour * 60 + here.minute
    if not rule.quiet(minute):
        return None
    return at + timedelta(minutes=((rule.quiet_until or 0) - minute) % DAY_MINUTES)


def _tell(
    workload: Workload, text: str, number: int, morning: datetime | None, **values: Any
) -> None:
    """The owner's inbox, and what leaves the house by their own choice; each once.

    In quiet hours a warning is not sent out at all: by the morning it is about the past.
    """
    key = f"idle:{workload.uid}:{number}"
    notice_send(
        kind=NoticeKind.IDLE,
        to=[workload.owner],
        about=workload,
        text=text,
        key=key,
        name=workload.name,
        **values,
    )
    if morning is not None:
        letters = NoticeDelivery.objects.filter(notice__user=workload.owner, notice__key=key)
        if text == WARNED:
            letters.delete()
        else:
            letters.filter(due_at__lt=morning).update(due_at=morning)


def _elapsed(row: Notebook, clock: Clock) -> float:
    """Seconds since the last judgement on a steady clock; a moved pool clock counts, too."""
    if row.judged_boottime is None:
        return 0.0
    steady = 0.0
    if row.judged_boot == clock.boot:
        steady = min(max(clock.boottime - row.judged_boottime, 0.0), LONGEST_S)
    return steady + max(clock.shift - row.judged_shift, 0.0)


def _write(row: Notebook, found: Judgement, clock: Clock) -> None:
    if row.verdict != found.verdict:
        row.verdict_at = clock.at
    if found.verdict != Verdict.UNKNOWN or row.judged_boottime is None:
        row.judged_shift = clock.shift
    row.verdict, row.quiet_s, row.limit_s = str(found.verdict), found.quiet_s, found.limit_s
    row.warned = found.warned
    row.evidence = [dataclasses.asdict(one) for one in found.evidence]
    row.judged_boot, row.judged_boottime = clock.boot, clock.boottime
    row.save(
        update_fields=[
            *("verdict", "verdict_at", "quiet_s", "limit_s", "warned", "evidence"),
            *("judged_boot", "judged_boottime", "judged_shift"),
        ]
    )

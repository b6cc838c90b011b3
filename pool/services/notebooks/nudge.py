"""A word to the owner of work that holds card memory for nothing."""

from django.utils.translation import gettext

from pool.clock import now
from pool.errors import Invalid
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.workloads import WorkloadState
from pool.models.workloads import Workload
from pool.rules.notices import NoticeKind
from pool.rules.problems import marked
from pool.services.notices.send import notice_send

NUDGED = marked(
    "%(who)s asks about %(name)s: it holds card memory while nothing computes. %(said)s"
)
MOST_WORDS = 300


def owner_nudged(*, workload: Workload, who: str, words: str, actor: Actor) -> bool:
    """Tell its owner, at most once an hour; false when they were told within it.

    Raises:
        Invalid: it does not run, or the words are too long.
    """
    if workload.state != WorkloadState.RUNNING:
        raise Invalid(workload=gettext("It does not run any more."))
    if len(words) > MOST_WORDS:
        most = gettext("At most %(most)s characters are possible.") % {"most": MOST_WORDS}
        raise Invalid(words=most)
    told = notice_send(
        kind=NoticeKind.IDLE,
        to=[workload.owner],
        about=workload,
        text=NUDGED,
        key=f"nudge:{workload.uid}:{now():%Y%m%d%H}",
        who=who,
        name=workload.name,
        said=words.strip(),
    )
    if told:
        record(EventKind.OWNER_NUDGED, workload, actor=actor, words=words[:300])
    return bool(told)

"""Nodes that say nothing: seen by this machine's own steady clock, never by the wall clock."""

import time
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils.translation import gettext as _

from nodeagent.protocol.vocabulary import ExitReason, Silence
from pool.events import SYSTEM
from pool.lifecycle.alerts import AlertState
from pool.lifecycle.nodes import NodeState
from pool.lifecycle.placements import PlacementState
from pool.lifecycle.workloads import WORKLOAD, AttemptState, WorkloadState
from pool.models.alerts import Alert
from pool.models.nodes import Node
from pool.models.ranks import Rank
from pool.models.workloads import Attempt, Workload
from pool.selectors.ranks import wanted_on
from pool.services.alerts import alert_raise, alert_resolve
from pool.services.attempts import End, attempt_end
from pool.services.gangs.ends import gang_rank_lost
from pool.services.moves import locked, move
from pool.wake import round_wanted

HEARD = (
    NodeState.JOINING,
    NodeState.OBSERVED,
    NodeState.READY,
    NodeState.CORDONED,
    NodeState.DRAINING,
    NodeState.SILENT,
)
MASS = "silence:mass"

GAP_S = 5.0
"""When no machine has watched for so long the count starts anew: the portal itself was away."""

_SEE = """
WITH looked AS (
    SELECT coalesce(max(swept_at) > clock_timestamp() - make_interval(secs => %(gap)s), true) AS on
    FROM pool_nodewatch
)
INSERT INTO pool_nodewatch AS w
    (node_id, watcher_boot_id, report_count, first_seen_boottime, swept_at)
SELECT id, %(boot)s, report_count, %(seen)s, clock_timestamp()
FROM pool_node WHERE state = ANY(%(states)s) ORDER BY id
ON CONFLICT (node_id, watcher_boot_id) DO UPDATE
SET report_count = excluded.report_count, swept_at = excluded.swept_at,
    first_seen_boottime = CASE
        WHEN w.report_count = excluded.report_count AND (SELECT looked.on FROM looked)
        THEN w.first_seen_boottime ELSE excluded.first_seen_boottime END
"""
_QUIET = """
SELECT n.id, n.state, %(seen)s - w.first_seen_boottime
FROM pool_node n JOIN pool_nodewatch w ON w.node_id = n.id AND w.watcher_boot_id = %(boot)s
WHERE n.state = ANY(%(states)s) AND w.report_count = n.report_count
  AND w.first_seen_boottime < %(seen)s - %(after)s
ORDER BY n.id
"""


@cache
def this_boot() -> str:
    """The boot id of the machine that watches."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def boottime() -> float:
    """Seconds since this machine was started; no step of the wall clock moves it."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def silence_sweep(*, seen: float) -> int:
    """Declare silent what said nothing for too long, and fence what asked for it; how many nodes.

    `seen` is the moment on this machine's `boottime`. A new watching machine, or a watch that was
    away, starts counting anew: it only delays.
    """
    words: dict[str, Any] = {
        "boot": this_boot(),
        "seen": seen,
        "states": [str(state) for state in HEARD],
        "after": float(settings.NODE_SILENT_SECONDS),
        "gap": GAP_S,
    }
    with connection.cursor() as cursor:
        cursor.execute(_SEE, words)
        cursor.execute(_QUIET, words)
        quiet = [(int(pk), str(state), float(since)) for pk, state, since in cursor.fetchall()]
    fresh = [pk for pk, state, _since in quiet if state != NodeState.SILENT]
    for pk in fresh:
        _silent(pk)
    if _mass(len(quiet)):
        return len(fresh)
    for pk, _state, since in quiet:
        if since > settings.FENCE_SECONDS + settings.FENCE_MARGIN_SECONDS:
            _fence(pk)
    return len(fresh)


def _mass(quiet: int) -> bool:
    """More than half of several nodes silent at once: the portal may be the one cut off."""
    known = Node.objects.filter(state__in=HEARD).count() if quiet else 0
    if known < 2 or quiet * 2 <= known:
        if Alert.objects.filter(key=MASS).exclude(state=AlertState.RESOLVED).exists():
            alert_resolve(key=MASS, actor=SYSTEM)
        return False
    alert_raise(
        key=MASS,
        subject="pool:silence",
        title=_("%(quiet)d of %(known)d nodes are silent: the portal may be cut off")
        % {"quiet": quiet, "known": known},
        actor=SYSTEM,
        severity="critical",
    )
    return True


def _silent(node_id: int) -> None:
    """The node is silent, and what it runs is out of reach; nothing is stopped."""
    node = Node(pk=node_id)
    running = Attempt.objects.filter(wanted_on(node))
    ids = list(running.order_by("workload_id").values_list("workload_id", flat=True))
    with transaction.atomic():
        works = locked(
            Workload.objects.filter(pk__in=ids).select_related("project", "template_version")
        )
        (row,) = locked(Node.objects.filter(pk=node_id))
        if row.state == NodeState.SILENT:
            return
        for work in works:
            if WORKLOAD.allows(WorkloadState(work.state), WorkloadState.UNREACHABLE):
                move(work, WorkloadState.UNREACHABLE, actor=SYSTEM, told={"node": row.uid})
        move(row, NodeState.SILENT, actor=SYSTEM, reason="it says nothing")
        alert_raise(
            key=f"silent:{row.uid}",
            subject=f"node:{row.uid}",
            title=_("%(node)s says nothing") % {"node": row.name},
            actor=SYSTEM,
        )
        round_wanted()


def _fence(node_id: int) -> None:
    """Work that asked to be run elsewhere: its shim has stopped it by now, agent or no agent."""
    asked = Attempt.objects.filter(
        state=AttemptState.OPEN,
        workload__silence=Silence.REQUEUE,
        workload__state=WorkloadState.UNREACHABLE,
        placements__state=PlacementState.OPEN,
    )
    why = _("its node was cut off")
    alone = asked.filter(node=node_id, size=1)
    for pk in list(alone.order_by("pk").values_list("pk", flat=True)):
        end = End(reason=ExitReason.FENCED, message=why, clean=False)
        attempt_end(attempt_id=pk, end=end, actor=SYSTEM)
    for rank in Rank.objects.filter(
        node=node_id, clean_at=None, lost_at=None, attempt__in=asked
    ).order_by("pk"):
        gang_rank_lost(rank=rank, reason=ExitReason.FENCED, message=why, gone=False, actor=SYSTEM)

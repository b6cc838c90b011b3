"""Look at what waits: can any card there is, idle or not, ever hold it? Flag it, or end it."""

import json
from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta

from django.db.models import Q
from django.utils.translation import gettext

from pool.clock import now
from pool.events import SYSTEM
from pool.lifecycle.workloads import WorkloadState
from pool.models.partitions import Partition
from pool.models.templates import TemplateVersion
from pool.models.workloads import Workload
from pool.rules.needs import from_mapping
from pool.rules.problems import Problems
from pool.selectors.offers import host_holds, options_for
from pool.services.series.impossible import (
    impossible_ended,
    impossible_no_more,
    impossible_told,
)

PATIENCE = timedelta(hours=1)
"""So long the admins have to bring back what was taken away; then the work ends."""

MOST_KINDS = 500
"""So many different needs are judged in one sweep."""

Kind = tuple[str, frozenset[int], TemplateVersion, int]


def impossible() -> int:
    """One sweep over the kinds of waiting work; how many of it were flagged, freed or ended.

    Three queries for each kind of need, not for each piece of work. Safe to repeat.
    """
    kinds = _kinds()
    partitions = {row.pk: row for row in Partition.objects.all()} if kinds else {}
    return sum(
        _decide(rows, _possible(kind, partitions))
        for kind, rows in list(kinds.items())[:MOST_KINDS]
    )


def _kinds() -> dict[Kind, list[Workload]]:
    """What waits, alike needs together; an array stands for its pieces."""
    waiting = Q(state=WorkloadState.QUEUED, parent=None) | Q(state=WorkloadState.ACTIVE)
    rows = Workload.objects.filter(waiting).select_related("project", "template_version")
    found: dict[Kind, list[Workload]] = defaultdict(list)
    for row in rows.defer("command", "env", "files").prefetch_related("partitions").order_by("pk"):
        places = frozenset(one.pk for one in row.partitions.all())
        need = json.dumps(row.need, sort_keys=True)
        found[need, places, row.template_version, row.project.trust_group_id].append(row)
    return found


def _possible(kind: Kind, partitions: dict[int, Partition]) -> bool:
    """Whether some card, or for work without one some machine, could hold it were it idle."""
    said, places, version, trust = kind
    chosen = [partitions[pk] for pk in sorted(places) if pk in partitions]
    try:
        need = from_mapping(json.loads(said))
    except Problems:
        return True
    if need.parts == 0:
        return host_holds(need=need, partitions=chosen)
    options = options_for(
        need=need,
        partitions=chosen,
        trust=trust,
        unlimited_modes=version.unlimited_modes,
        version=version,
    )
    return any(one.holds(need) for one in options)


def _decide(rows: list[Workload], possible: bool) -> int:
    flagged = [row for row in rows if (row.waits or {}).get("reason") == "impossible"]
    if possible:
        return impossible_no_more(workloads=flagged) if flagged else 0
    fresh = [row for row in rows if row not in flagged]
    why = gettext("no card in its partitions is large enough, or of the right kind, any more")
    told = impossible_told(workloads=fresh, why=why, actor=SYSTEM) if fresh else 0
    return told + _over(flagged)


def _over(rows: Iterable[Workload]) -> int:
    last = (now() - PATIENCE).timestamp()
    late = [row for row in rows if float((row.waits or {}).get("since", last + 1)) <= last]
    return sum(impossible_ended(workload=row, actor=SYSTEM) for row in late)

"""The holds of a gang end together, each with its own node's count beside it."""

from django.db import connection

from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models.placements import Hold, Placement
from pool.models.ranks import Rank
from pool.models.workloads import Attempt
from pool.rules.holds import Span, bounds_s, count_is_right

_CLOSE = """
UPDATE pool_hold SET held = pool_close_span(held), agent_held_s = %s
WHERE placement_id = %s AND node_id = %s AND upper_inf(held)
RETURNING extract(epoch FROM lower(held))::float8, extract(epoch FROM upper(held))::float8
"""


def gang_holds_close(placement: Placement, attempt: Attempt, actor: Actor) -> None:
    """End every hold by the clock of the books; a node's own count stands where a clock stepped.

    A rank that was clean early is held until the whole is over: its node's count is no measure
    of that span, so that only ranks which were clean last are judged.
    """
    ranks = list(Rank.objects.filter(attempt=attempt).select_related("node").order_by("rank"))
    last = max((one.clean_at for one in ranks if one.clean_at is not None), default=None)
    for one in ranks:
        with connection.cursor() as cursor:
            cursor.execute(_CLOSE, [one.held_s, placement.pk, one.node_id])
            rows = cursor.fetchall()
        if one.held_s is None or one.clean_at != last:
            continue
        spans = [_span(one, opened, closed) for opened, closed in rows]
        if any(count_is_right(count_s=one.held_s, span=span) for span in spans):
            _correct(placement, attempt, one, spans[0], actor)


def _span(rank: Rank, opened: float, closed: float) -> Span:
    known = [at.timestamp() for at in (rank.started_at, rank.accepted_at) if at is not None]
    return Span(opened=opened, closed=closed, began=min(known, default=None), clean=None)


def _correct(placement: Placement, attempt: Attempt, rank: Rank, span: Span, actor: Actor) -> None:
    Hold.objects.filter(placement=placement, node=rank.node_id).update(corrected_s=rank.held_s)
    least, most = bounds_s(span)
    record(
        EventKind.HOLD_CORRECTED,
        placement,
        actor=actor,
        project=attempt.workload.project,
        workload=attempt.workload.uid,
        attempt=attempt.uid,
        node=rank.node.uid,
        agent_held_s=rank.held_s,
        least_s=round(least, 3),
        most_s=round(most, 3),
        span_s=round(span.closed - span.opened, 3),
    )

"""What the audit reads of orders to leave, ranks, windows and kept cards."""

from collections import defaultdict
from datetime import timedelta

from pool.clock import now
from pool.lifecycle.cards import CardState
from pool.lifecycle.leases import LeaseState
from pool.lifecycle.nodes import NodeState
from pool.lifecycle.reservations import ReservationState
from pool.lifecycle.windows import WindowState
from pool.lifecycle.workloads import AttemptState
from pool.models.cards import Card
from pool.models.nodes import Node
from pool.models.placements import Hold
from pool.models.ranks import Rank
from pool.models.reservations import ReservedCard
from pool.models.windows import Window
from pool.models.yielding import YieldOrder
from pool.rules.books import commitments
from pool.services.calendar.service import REASON

ENDED_SINCE = timedelta(days=1)
"""Windows that ended longer ago have been judged before."""

KEEPING = frozenset({ReservationState.CONFIRMED, ReservationState.ACTIVE})


def committed() -> commitments.Commitments:
    """Everything that `commitments.breaches` judges, as of this transaction."""
    return commitments.Commitments(
        now=now(),
        orders=tuple(
            commitments.OrderRow(id=order, ended_at=ended)
            for order, ended in YieldOrder.objects.filter(settled_at=None)
            .order_by("pk")
            .values_list("pk", "attempt__ended_at")
        ),
        ranks=_ranks(),
        held_nodes=_held_nodes(),
        windows=_windows(),
        kept=_kept(),
    )


def _ranks() -> tuple[commitments.RankRow, ...]:
    rows = Rank.objects.filter(attempt__state=AttemptState.OPEN).order_by("pk")
    return tuple(
        commitments.RankRow(attempt=row.attempt_id, node=row.node_id, over=row.over) for row in rows
    )


def _held_nodes() -> tuple[tuple[int, frozenset[int]], ...]:
    found: dict[int, set[int]] = defaultdict(set)
    open_ones = Hold.objects.filter(
        held__upper_inf=True, placement__attempt__ranks__isnull=False
    ).distinct()
    for attempt, node in open_ones.values_list("placement__attempt", "node"):
        found[attempt].add(node)
    return tuple((attempt, frozenset(nodes)) for attempt, nodes in sorted(found.items()))


def _windows() -> tuple[commitments.WindowRow, ...]:
    at = now()
    begun = Window.objects.filter(state=WindowState.ACTIVE) | Window.objects.filter(
        state__in=[WindowState.ENDED, WindowState.CANCELLED], state_since__gte=at - ENDED_SINCE
    )
    rows = list(begun.order_by("pk"))
    active = [row for row in rows if row.state == WindowState.ACTIVE]
    needed = {
        uid for row in active for name in ("nodes", "cards") for uid in row.taken.get(name, ())
    }
    out = {uid for row in rows for name in ("nodes", "cards") for uid in row.taken.get(name, ())}
    nodes = set(
        Node.objects.filter(
            uid__in=out,
            state__in=[NodeState.CORDONED, NodeState.DRAINING],
            state_reason__startswith=REASON,
        ).values_list("uid", flat=True)
    )
    cards = set(
        Card.objects.filter(
            uid__in=out, state=CardState.CORDONED, state_reason__startswith=REASON
        ).values_list("uid", flat=True)
    )
    return tuple(
        commitments.WindowRow(
            id=row.pk,
            active=row.state == WindowState.ACTIVE,
            ends=row.span.upper,
            ended_at=None if row.state == WindowState.ACTIVE else row.state_since,
            nodes=frozenset(row.taken.get("nodes", ())) & nodes - needed,
            cards=frozenset(row.taken.get("cards", ())) & cards - needed,
        )
        for row in rows
    )


def _kept() -> tuple[commitments.KeptRow, ...]:
    rows = ReservedCard.objects.filter(live=True).select_related("reservation__lease")
    return tuple(
        commitments.KeptRow(
            card=row.card_id,
            reservation=row.reservation_id,
            live_states=row.reservation.state in KEEPING
            and (row.reservation.lease is None or row.reservation.lease.state != LeaseState.ENDED),
            starts=row.span.lower,
            ends=row.span.upper,
        )
        for row in rows.order_by("pk")
    )

"""What is decided ahead of time, for the planner: maintenance, reservations, seats; one query."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from nodeagent.protocol.vocabulary import Mode
from pool.cycle.supply import rows_of
from pool.lifecycle.leases import LeaseKind
from pool.lifecycle.reservations import ReservationState
from pool.models.leases import Lease
from pool.models.workloads import Workload
from pool.rules.policies import numbers_in_force
from pool.scheduling.model import (
    Reservation,
    Rules,
    Running,
    Seats,
    SliceState,
    Waiting,
    Window,
)

NOT_BEGUN = "reservation has not begun"

READ = frozenset(one.name for one in fields(Rules))
"""Numbers that the planner reads; the others are for services and sweeps."""

_AHEAD = """
SELECT 'window', jsonb_build_object(
    'id', w.id,
    'starts', extract(epoch FROM lower(w.span)), 'ends', extract(epoch FROM upper(w.span)),
    'cards', to_jsonb(ARRAY(
        SELECT wc.card_id FROM pool_window_cards wc WHERE wc.window_id = w.id
        UNION
        SELECT c.id FROM pool_card c JOIN pool_window_partitions wp
            ON wp.partition_id = c.partition_id WHERE wp.window_id = w.id)),
    'nodes', to_jsonb(ARRAY(
        SELECT wn.node_id FROM pool_window_nodes wn WHERE wn.window_id = w.id
        UNION
        SELECT c.node_id FROM pool_card c LEFT JOIN pool_window_partitions wp
            ON wp.partition_id = c.partition_id AND wp.window_id = w.id
        WHERE c.state <> 'retired'
        GROUP BY c.node_id HAVING bool_and(wp.id IS NOT NULL))))
FROM pool_window w WHERE w.state IN ('planned', 'active')
UNION ALL
SELECT 'reservation', jsonb_build_object(
    'id', r.id, 'lease', r.lease_id, 'own', to_jsonb(ARRAY(
        SELECT w.id FROM pool_workload w WHERE w.lease_id = r.lease_id AND w.ended_at IS NULL)),
    'state', r.state, 'lends', p.lending,
    'starts', extract(epoch FROM lower(r.span)), 'ends', extract(epoch FROM upper(r.span)),
    'cards', to_jsonb(ARRAY(
        SELECT k.card_id FROM pool_reservedcard k WHERE k.reservation_id = r.id AND k.live)),
    'now', to_jsonb(ARRAY(
        SELECT k.card_id FROM pool_reservedcard k
        WHERE k.reservation_id = r.id AND k.live AND k.span @> pool_now())))
FROM pool_reservation r JOIN pool_partition p ON p.id = r.partition_id
WHERE r.state IN ('confirmed', 'active')
UNION ALL
SELECT 'seats', jsonb_build_object(
    'id', s.id, 'mode', s.mode, 'total', s.total,
    'organization', s.organization_id, 'partition', s.partition_id,
    'used', (
        SELECT count(*) FROM pool_hold h
        JOIN pool_placement l ON l.id = h.placement_id
        JOIN pool_attempt a ON a.id = l.attempt_id
        JOIN pool_workload w ON w.id = a.workload_id
        JOIN pool_project j ON j.id = w.project_id
        WHERE h.mode = s.mode AND h.slice_id IS NOT NULL AND upper_inf(h.held)
          AND (s.organization_id IS NULL OR s.organization_id = j.organization_id)
          AND (s.partition_id IS NULL OR s.partition_id = l.partition_id)))
FROM pool_seats s
UNION ALL
(SELECT 'numbers', v.values FROM pool_policyversion v
 WHERE v.partition_id IS NULL ORDER BY v.number DESC LIMIT 1)
"""


@dataclass(slots=True)
class Ahead:
    """What a round reads of it. `kept` is by lease the cards that it may use now, `own` the
    workloads of those leases."""

    windows: list[Window] = field(default_factory=list)
    reservations: list[Reservation] = field(default_factory=list)
    kept: dict[int, frozenset[int]] = field(default_factory=dict)
    own: frozenset[int] = frozenset()
    seats: list[Seats] = field(default_factory=list)
    rules: Rules = field(default_factory=Rules)


def ahead() -> Ahead:
    """Everything that is decided ahead of time and not over."""
    found: dict[str, list[Any]] = defaultdict(list)
    for noun, told in rows_of(_AHEAD):
        found[noun].append(json.loads(told) if isinstance(told, str) else told)
    return Ahead(
        windows=[_window(one) for one in found["window"]],
        reservations=[_reservation(one) for one in found["reservation"]],
        kept={
            one["lease"]: frozenset(one["now"])
            for one in found["reservation"]
            if one["state"] == ReservationState.ACTIVE
        },
        own=frozenset(work for one in found["reservation"] for work in one["own"]),
        seats=[_seats(one) for one in found["seats"]],
        rules=rules_of(next(iter(found["numbers"]), {})),
    )


def rules_of(stored: Mapping[str, Any]) -> Rules:
    """The planner's rules with the numbers in force."""
    given: Mapping[str, Any] = numbers_in_force(stored)
    return Rules(**{name: value for name, value in given.items() if name in READ})


def _window(one: Mapping[str, Any]) -> Window:
    return Window(
        id=one["id"],
        cards=frozenset(one["cards"]),
        nodes=frozenset(one["nodes"]),
        starts_s=float(one["starts"]),
        ends_s=float(one["ends"]),
    )


def _reservation(one: Mapping[str, Any]) -> Reservation:
    return Reservation(
        id=one["id"],
        cards=frozenset(one["cards"]),
        tenants=frozenset(),
        starts_s=float(one["starts"]),
        ends_s=float(one["ends"]),
        lends=one["lends"],
    )


def _seats(one: Mapping[str, Any]) -> Seats:
    tenant = one["organization"]
    return Seats(
        id=one["id"],
        mode=Mode(one["mode"]),
        total=one["total"],
        used=one["used"],
        tenant=None if tenant is None else f"org:{tenant}",
        partition=one["partition"],
    )


def with_kept(
    waiting: Iterable[Waiting], queue: Iterable[Workload], planned: Ahead
) -> tuple[Waiting, ...]:
    """Work under a lease waits for its begin; under a reserved one it has the cards kept for it."""
    leases = {row.pk: row.lease for row in queue if row.lease is not None}
    return tuple(
        _under(one, leases[one.id], planned) if one.id in leases else one for one in waiting
    )


def lent(
    running: Iterable[Running], slices: Iterable[SliceState], planned: Ahead
) -> tuple[Running, ...]:
    """Work on cards that are kept now for others has borrowed them, whatever its guarantee."""
    cards = frozenset().union(*planned.kept.values())
    on_kept = {one.held_by for one in slices if one.card in cards} - planned.own
    return tuple(replace(one, borrowed=True) if one.id in on_kept else one for one in running)


def _under(one: Waiting, lease: Lease, planned: Ahead) -> Waiting:
    begins = max(one.not_before_s, lease.valid.lower.timestamp())
    if lease.kind != LeaseKind.RESERVED:
        return replace(one, not_before_s=begins)
    kept = planned.kept.get(lease.pk, frozenset())
    held_back = one.held_back or ("" if kept else NOT_BEGUN)
    return replace(one, not_before_s=begins, kept=kept, held_back=held_back)

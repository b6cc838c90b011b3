"""Giving a workload its slices and its host share, and taking them back when the node is clean."""

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import F, Sum

from nodeagent.protocol.vocabulary import Isolation
from pool.announce import wake_node
from pool.clock import now
from pool.errors import Stale
from pool.events import Actor, record
from pool.lifecycle.cards import CardState
from pool.lifecycle.events import EventKind
from pool.lifecycle.leases import LeaseState
from pool.lifecycle.nodes import NodeState
from pool.lifecycle.roles import QuotaUnit
from pool.lifecycle.slices import SliceState
from pool.lifecycle.workloads import WorkloadState
from pool.models.cards import Card
from pool.models.expressions import open_hold
from pool.models.nodes import Node
from pool.models.placements import Hold, Placement, Promise
from pool.models.slices import Slice
from pool.models.workloads import Attempt, Workload
from pool.scheduling.model import NewSlice, Placed
from pool.services import levels
from pool.services.calendar.guard import start_allowed
from pool.services.gangs.opening import in_rank_order, ranks_open
from pool.services.hardware.cuts import slice_planned, sums_checked
from pool.services.moves import locked, move
from pool.services.series.arrays import turn_kept
from pool.services.series.dependencies import dependencies_kept
from pool.services.yielding.promises import promises_of_others

USABLE_CARDS = frozenset({CardState.READY, CardState.PARTIAL})
GIVEN = frozenset({SliceState.PLANNED, SliceState.CREATING, SliceState.READY, SliceState.CLEANING})
"""States of a slice that may be given to work: it exists, or it is on its way."""

CARVE_SECONDS = 120
"""How long the room that is being made on a card is kept for its one workload."""


@dataclass(slots=True)
class Ground:
    """The locked rows that one start stands on."""

    workload: Workload
    cards: dict[int, Card]
    living: dict[int, Slice]
    nodes: dict[int, Node]


def placement_open(*, workload_id: int, placed: Placed, actor: Actor) -> Placement | None:
    """Start what the plan decided, or make room for it; all in one transaction.

    Where idle slices must go first, they are told to go and the room is promised to this workload,
    which stays queued: None is returned. Otherwise the placement with its holds is.

    Raises:
        Stale: what the plan saw is no longer so; nothing was changed.
        QuotaExceeded: a limit would be passed now; nothing was changed.
    """
    try:
        with transaction.atomic():
            return _open(workload_id, placed, actor)
    except IntegrityError as refused:
        diag = getattr(refused.__cause__, "diag", None)
        raise Stale(constraint=getattr(diag, "constraint_name", "") or "") from refused


def _open(workload_id: int, placed: Placed, actor: Actor) -> Placement | None:
    seen = Workload.objects.select_related("project", "lease").get(pk=workload_id)
    asked = asked_of(placed)
    rows = levels.level_rows(
        organization_id=seen.project.organization_id,
        project_id=seen.project_id,
        owner_id=seen.owner_id,
        partition_id=placed.partition,
        kinds=levels.start_kinds(seen.entitlement),
    )
    turn_kept(seen=seen)
    ground = _ground(workload_id, placed)
    dependencies_kept(workload=ground.workload)
    kept = start_allowed(workload=ground.workload, placed=placed)
    if any(one.removes for one in placed.moves):
        _make_room(ground, placed, actor)
        return None
    bound = [row for row in rows if levels.level_counts(row, cards=bool(placed.parts))]
    levels.level_named(rows=bound, asked=asked)
    free = [row for row in bound if row.pk not in kept.rows]
    taken = levels.level_take(rows=free, asked=asked)
    slices = _slices(ground, placed)
    _check_room(ground, placed)
    return placement_write(ground=ground, placed=placed, slices=slices, taken=taken, actor=actor)


def asked_of(placed: Placed) -> dict[tuple[str, str], int]:
    """How much of each unit this start takes, by card label and, for host units, under ''."""
    asked: Counter[tuple[str, str]] = Counter()
    cards = dict(
        Card.objects.filter(pk__in={part.card for part in placed.parts}).values_list("pk", "label")
    )
    there = Slice.objects.in_bulk([p.slice for p in placed.parts if p.slice is not None])
    for part in placed.parts:
        sized = there.get(part.slice) if part.slice is not None else None
        if part.slice is not None and sized is None:
            raise Stale(slice=part.slice)
        amounts = _amounts(part.new) if part.new is not None else _held_amounts(sized)
        for label in ("", cards[part.card]):
            for unit, amount in amounts.items():
                asked[label, unit] += amount
    for host in placed.hosts:
        asked["", QuotaUnit.CPU_MILLI] += host.cpu_milli
        asked["", QuotaUnit.RAM_MIB] += host.memory_mib
        asked["", QuotaUnit.DISK_MIB] += host.disk_mib
    asked["", QuotaUnit.WORKLOADS] += 1
    return dict(asked)


def _amounts(new: NewSlice) -> dict[str, int]:
    return {
        QuotaUnit.CARDS_MICRO: new.card_micro,
        QuotaUnit.MEMORY_MIB: new.memory_mib,
        QuotaUnit.COMPUTE_MILLI: new.compute_milli,
    }


def _held_amounts(row: Slice | None) -> dict[str, int]:
    if row is None:
        return {}
    return {
        QuotaUnit.CARDS_MICRO: row.equivalents_micro,
        QuotaUnit.MEMORY_MIB: row.memory_mib,
        QuotaUnit.COMPUTE_MILLI: row.compute_milli,
    }


def _ground(workload_id: int, placed: Placed) -> Ground:
    """Lock the workload, its cards, all their living slices, the nodes; check they still serve.

    Raises:
        Stale: the workload no longer waits, or a card or a node may not be used now.
    """
    (workload,) = locked(
        Workload.objects.filter(pk=workload_id).select_related(
            "project", "template_version", "lease", "owner"
        )
    )
    if workload.state != WorkloadState.QUEUED or workload.project.suspended:
        raise Stale(workload=workload.uid, state=workload.state)
    if workload.lease is not None and workload.lease.state == LeaseState.ENDED:
        raise Stale(lease=workload.lease.uid)
    wanted = {part.card for part in placed.parts} | {one.card for one in placed.moves}
    cards = {row.pk: row for row in locked(Card.objects.filter(pk__in=wanted))}
    living = {
        row.pk: row for row in locked(Slice.objects.filter(card__in=wanted, lived__upper_inf=True))
    }
    nodes = _nodes(placed)
    for card in cards.values():
        if card.state not in USABLE_CARDS or not card.offered or card.node_id not in nodes:
            raise Stale(card=card.uid, state=card.state)
    if len(cards) != len(wanted):
        raise Stale(cards=len(cards))
    return Ground(workload, cards, living, nodes)


def _nodes(placed: Placed) -> dict[int, Node]:
    """The nodes of a start, locked; each must be ready."""
    hosts = {host.node for host in placed.hosts}
    nodes = {row.pk: row for row in locked(Node.objects.filter(pk__in=hosts))}
    if not hosts or set(nodes) != hosts or len(hosts) != len(placed.hosts):
        raise Stale(nodes=len(nodes))
    for node in nodes.values():
        if node.state != NodeState.READY:
            raise Stale(node=node.uid, state=node.state)
    return nodes


def _make_room(ground: Ground, placed: Placed, actor: Actor) -> None:
    """Tell idle slices to go, and keep their cards for this workload until they are gone."""
    _check_promises(ground)
    removes = {pk for one in placed.moves for pk in one.removes}
    if Hold.objects.filter(slice__in=removes, held__upper_inf=True).exists():
        raise Stale(workload=ground.workload.uid, why="a slice to be removed is held")
    generations = _next_generations(ground)
    for pk in sorted(removes):
        row = ground.living.get(pk)
        if row is None or row.state != SliceState.READY:
            raise Stale(workload=ground.workload.uid, why="a slice to be removed is not idle")
        node = ground.nodes[ground.cards[row.card_id].node_id]
        move(
            row,
            SliceState.DELETING,
            actor=actor,
            reason="makes room",
            changes={"wished_in": generations[node.pk]},
            told={"node": node.uid, "workload": ground.workload.uid},
        )
    until = now() + timedelta(seconds=CARVE_SECONDS)
    for card in sorted({part.card for part in placed.parts} | {m.card for m in placed.moves}):
        Promise.objects.update_or_create(
            card_id=card, defaults={"workload": ground.workload, "until": until}
        )
    Workload.objects.filter(pk=ground.workload.pk).update(waits={"reason": "carving"})


def _slices(ground: Ground, placed: Placed) -> list[Slice]:
    """The slice of each part, in order: one that lives, or a new row that is planned."""
    _check_promises(ground)
    chosen: list[Slice] = []
    new: list[Slice] = []
    for part in placed.parts:
        if part.new is not None:
            card = ground.cards[part.card]
            row = slice_planned(card, part.new, ground.nodes[card.node_id].generation + 1)
            new.append(row)
        else:
            found = ground.living.get(part.slice or 0)
            if found is None or found.card_id != part.card or found.state not in GIVEN:
                raise Stale(slice=part.slice)
            row = found
        chosen.append(row)
    _check_sums(ground, new)
    Slice.objects.bulk_create(new)
    return chosen


def _check_promises(ground: Ground) -> None:
    """Room promised to another workload is not free, whoever asks. Work without a card minds the
    rooms on nodes, other work those on cards."""
    nodes = () if ground.cards else ground.nodes
    if promises_of_others(workload=ground.workload, cards=ground.cards, nodes=nodes):
        raise Stale(workload=ground.workload.uid, why="the card is being made ready for another")


def _check_sums(ground: Ground, new: list[Slice]) -> None:
    """Slices of one card never add up to more than the card; soft ones have no other guard."""
    sums_checked(ground.cards.values(), [*ground.living.values(), *new])


def _check_room(ground: Ground, placed: Placed) -> None:
    """The nodes' CPU, memory and disk still hold this start, counted under the nodes' locks."""
    rows = Hold.objects.filter(node__in=ground.nodes, mode="host", held__upper_inf=True)
    sums = rows.values("node").annotate(
        cpu=Sum("cpu_milli"), ram=Sum("ram_mib"), disk=Sum("disk_mib")
    )
    used = {one["node"]: (one["cpu"], one["ram"], one["disk"]) for one in sums.order_by("node")}
    for host in placed.hosts:
        node = ground.nodes[host.node]
        cpu, ram, disk = used.get(node.pk, (0, 0, 0))
        if (
            cpu + host.cpu_milli > node.cpu_milli
            or ram + host.memory_mib > node.memory_mib
            or disk + host.disk_mib > node.disk_mib
        ):
            raise Stale(node=node.uid, why="its CPU, memory or disk are taken")


def placement_write(
    *,
    ground: Ground,
    placed: Placed,
    slices: list[Slice],
    taken: list[levels.Taken],
    actor: Actor,
    attempt_uid: str = "",
) -> Placement:
    """Attempt, placement, holds; the workload is placed; the node has a newer wish to read.

    Call it with everything locked. `attempt_uid` is given where the attempt has begun already.
    """
    workload = ground.workload
    order = in_rank_order(ground.nodes.values())
    node = order[0]
    begun = {"uid": attempt_uid} if attempt_uid else {}
    attempt = Attempt.objects.create(
        workload=workload, number=workload.attempts_made + 1, node=node, size=len(order), **begun
    )
    ranks_open(attempt=attempt, placed=placed, cards=ground.cards, nodes=order)
    placement = Placement.objects.create(
        attempt=attempt,
        partition_id=placed.partition or None,
        entitled=not placed.borrowed,
        opened_at=now(),
        quota_taken=taken,
    )
    Hold.objects.bulk_create(_holds(ground, placed, slices, placement))
    Promise.objects.filter(workload=workload).delete()
    words = {"attempt": attempt.number, "node": node.uid, "placement": placement.uid}
    if len(order) > 1:
        words["nodes"] = [one.uid for one in order]
    move(
        workload,
        WorkloadState.PLACED,
        actor=actor,
        changes={"attempts_made": attempt.number, "waits": None, "not_before": None},
        told=words,
    )
    record(
        EventKind.PLACEMENT_OPENED,
        placement,
        actor=actor,
        project=workload.project,
        workload=workload.uid,
        node=node.uid,
        attempt=attempt.uid,
        slices=[row.uid for row in slices],
        backfilled=placed.backfilled,
        **({"nodes": words["nodes"]} if len(order) > 1 else {}),
    )
    _next_generations(ground)
    return placement


def _holds(ground: Ground, placed: Placed, slices: list[Slice], placement: Placement) -> list[Hold]:
    trust = ground.workload.project.trust_group_id
    homes = {card.pk: ground.nodes[card.node_id] for card in ground.cards.values()}
    holds = [
        Hold(
            placement=placement,
            slice=row,
            card_id=row.card_id,
            node=homes[row.card_id],
            mode=row.mode,
            isolation=row.isolation,
            trust=trust,
            fenced=_fenced(homes[row.card_id]),
            held=open_hold(row.pk),
            equivalents_micro=row.equivalents_micro,
            memory_mib=row.memory_mib,
            compute_milli=row.compute_milli,
        )
        for row in slices
    ]
    shares = [
        Hold(
            placement=placement,
            node=ground.nodes[host.node],
            mode="host",
            isolation=Isolation.NONE,
            trust=trust,
            fenced=_fenced(ground.nodes[host.node]),
            held=open_hold(None),
            cpu_milli=host.cpu_milli,
            ram_mib=host.memory_mib,
            disk_mib=host.disk_mib,
        )
        for host in placed.hosts
    ]
    return [*holds, *shares]


def _fenced(node: Node) -> bool:
    return node.identity and node.fence


def _next_generations(ground: Ground) -> dict[int, int]:
    """Number a newer wish for each node, and wake the agents after commit; the numbers they get."""
    for node in ground.nodes.values():
        node_wish(node_id=node.pk, uid=node.uid)
    return {node.pk: node.generation + 1 for node in ground.nodes.values()}


def node_wish(*, node_id: int, uid: str) -> None:
    """What is wanted of a node has changed: one generation more, and its agent is woken."""
    Node.objects.filter(pk=node_id).update(generation=F("generation") + 1)
    wake_node(uid)

"""What a start takes on the board of a replay, given back exactly when it ends."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from pool.carving.sizes import MICRO
from pool.scheduling.board import Board
from pool.scheduling.model import HostPart, Placed, Quota, QuotaKind, Running, Snapshot, Waiting
from pool.scheduling.order import likely_micro
from pool.scheduling.outlook.borrowed import judge
from pool.scheduling.quota import card_room, charge
from pool.scheduling.take import vacate
from pool.scheduling.victims import givers, may_oust


@dataclass(frozen=True, slots=True)
class Held:
    """What one run has taken: slices on the cards at `rows`, host shares, card equivalents."""

    work: Waiting
    partition: int
    rows: tuple[int, ...]
    slices: tuple[int, ...]
    hosts: tuple[HostPart, ...]
    parts: tuple[tuple[str, str, int], ...]

    @property
    def cards(self) -> float:
        """Card equivalents."""
        return sum(micro for _, _, micro in self.parts) / MICRO

    @property
    def by_label(self) -> dict[str, int]:
        """Card equivalents of each model, in millionths."""
        found: dict[str, int] = {}
        for label, _, micro in self.parts:
            found[label] = found.get(label, 0) + micro
        return found


class Holder(Protocol):
    """Whoever may hold something."""

    held: Held | None


def allowed(board: Board, work: Waiting) -> bool:
    """Whether its tenants' limits leave room for it somewhere; else no round need look at it.

    A round would say so too, and hold no planned start for it, unless `may_get_back` says that
    some of the same tenants may have to leave for it.
    """
    if not board.quotas or not work.need.parts or board.quotas.keys().isdisjoint(work.tenants):
        return True
    for place in work.partitions:
        one = work if work.partitions[0] == place else replace(work, partitions=(place,))
        micro, labels = likely_micro(board, one)
        if not labels or any(card_room(board, work, place, name) >= micro for name in labels):
            return True
    return False


def may_get_back(snapshot: Snapshot, tenants: Collection[str]) -> Callable[[Waiting], bool]:
    """Whether somebody may have to leave for some work who gives back of a limit of these tenants.

    The quick look: true where a round would have to search.
    """
    looks = {}
    for tenant in tenants if snapshot.rules.preemption else ():
        mine = tuple(run for run in snapshot.running if tenant in run.tenants)
        looks[tenant] = givers(replace(snapshot, running=mine))

    def may(work: Waiting) -> bool:
        return any(may_oust(looks.get(tenant), work) for tenant in work.tenants)

    return may


def hold(board: Board, work: Waiting, placed: Placed) -> Held:
    """What this start took."""
    table = board.cards
    rows = tuple(sorted({table.index[part.card] for part in placed.parts}))
    mine = [p for row in rows for p in table.pieces[row] if p.held_by == placed.workload]
    modes = {piece.id: piece.mode for piece in mine}
    parts = []
    for part in placed.parts:
        label = board.kinds[table.kind[table.index[part.card]]].label
        mode = part.new.mode if part.new is not None else modes[part.slice or 0]
        parts.append((label, mode.value, part.card_micro))
    return Held(
        work=work,
        partition=placed.partition,
        rows=rows,
        slices=tuple(piece.id for piece in mine),
        hosts=placed.hosts,
        parts=tuple(parts),
    )


def let_go(board: Board, held: Held) -> None:
    """Let the board be as if this run had not been."""
    vacate(board, held.work.id, held.rows, held.hosts)
    back = {label: -micro for label, micro in held.by_label.items()}
    hosts = tuple(
        HostPart(
            node=host.node,
            cpu_milli=-host.cpu_milli,
            memory_mib=-host.memory_mib,
            disk_mib=-host.disk_mib,
        )
        for host in held.hosts
    )
    charge(board, held.work, held.partition, back, hosts)


def rejudged(board: Board, running: dict[int, Running], holders: Mapping[int, Holder]) -> None:
    """Who borrows is judged anew, as each live round does; nothing where nobody has a guarantee."""
    rows = tuple(q for q in board.snapshot.quotas if q.kind is QuotaKind.ENTITLEMENT)
    if not rows:
        return
    taken: dict[int, dict[str, int]] = {}
    for number in running:
        held = holders[number].held
        taken[number] = held.by_label if held is not None else {}
    marked, counted = judge(tuple(running.values()), rows, taken)
    running.update((one.id, one) for one in marked)
    board.held.update((row.id, row.held) for row in counted)


def emptied(quotas: tuple[Quota, ...]) -> tuple[Quota, ...]:
    """The same limits with nothing held of them."""
    return tuple(replace(row, held=0) for row in quotas)

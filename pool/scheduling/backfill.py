"""The head's planned start, and what may slip in before it without delaying it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pool.scheduling.board import FREE, LATE_S, Board, Ints, Times, ends_s
from pool.scheduling.calendar import at, bare, forecast_s, free_from, kept_away, timed
from pool.scheduling.headroom import bound, spared
from pool.scheduling.model import (
    Placed,
    PlannedStart,
    PriorityClass,
    Rules,
    Running,
    Topology,
    Waiting,
)
from pool.scheduling.offer import has_room, offer
from pool.scheduling.stock import NEVER
from pool.scheduling.take import release, take

Counts = tuple[int, int, int]
"""A row's id, what one start changes of it, and where it then stands."""

Ending = tuple[float, int, Running]
"""When running work is forecast to end, its id, and the work."""

MOST_TIMES = 64
"""So many ends are looked at where the calendar decides as well."""

MOST_NODES = 4
"""Of nodes that are free at one instant so many are looked at, by their ids."""


@dataclass(frozen=True, slots=True)
class Head:
    """Who is next but has no room yet: when and where it starts if all ends as forecast.

    `left` is what each of its nodes then still has: CPU, memory, disk. `limits` and `seats` are
    the limits and licences that count it: how much it adds to what is held of a limit (takes of
    the seats), and what is held (left) then, with it.
    """

    work: Waiting
    start: PlannedStart
    left: tuple[tuple[int, tuple[int, int, int]], ...]
    limits: tuple[Counts, ...] = ()
    seats: tuple[Counts, ...] = ()


def plan_head(board: Board, work: Waiting) -> Head | None:
    """The earliest time at which the work fits, as running work ends; None when it never does."""
    need = work.need
    if need.whole and not need.nodes and need.topology in (Topology.NODE, Topology.NETWORK):
        times = _card_times(board, work)
        found = _soonest(board, work, _by_node(board, times))
        if found is None:
            return None
        at_s, nodes = found
        head = _quick_head(board, work, max(at_s, _others_too(board, work, times, nodes)), nodes)
        if head is not None:
            return head
    return _searched_head(board, work)


def _by_node(board: Board, times: Times) -> Times:
    """When each node has one, two, three … cards free; never (infinity) beyond what it has."""
    slots = board.slots()[0]
    found: Times = np.sort(np.where(slots >= 0, times[slots], np.inf), axis=1)
    return found


def _soonest(board: Board, work: Waiting, times: Times) -> tuple[float, tuple[int, ...]] | None:
    """The soonest time by cards alone, and the rows of the nodes that then have them."""
    parts, most = work.need.parts, times.shape[1]
    if parts <= most:
        ready = times[:, parts - 1]
        at_s = float(ready.min(initial=np.inf))
        fits = np.flatnonzero(ready == at_s)[:MOST_NODES].tolist()
        return (at_s, tuple(fits)) if np.isfinite(at_s) else None
    if work.need.topology is Topology.NODE:
        return None
    networks = np.unique(board.nodes.network).tolist()
    found = [_gang(times, np.flatnonzero(board.nodes.network == n), parts) for n in networks]
    known = [entry for entry in found if np.isfinite(entry[0])]
    return min(known, default=None)


def _gang(times: Times, nodes: Ints, parts: int) -> tuple[float, tuple[int, ...]]:
    """Whole nodes of one network and one more for the rest, free together the soonest."""
    full, rest = divmod(parts, times.shape[1])
    whole = times[nodes, -1]
    order = np.argsort(whole, kind="stable")
    if len(order) < full + bool(rest):
        return (np.inf, ())
    chosen = order[:full].tolist()
    at_s = float(whole[chosen].max(initial=0.0))
    if rest:
        others = order[full:]
        last = int(others[np.argmin(times[nodes[others], rest - 1])])
        at_s = max(at_s, float(times[nodes[last], rest - 1]))
        chosen.append(last)
    return (at_s, tuple(nodes[chosen].tolist()))


def _others_too(board: Board, work: Waiting, times: Times, nodes: Sequence[int]) -> float:
    """When so many more cards of these nodes' kinds are free that the headroom is left alone."""
    if not bound(board, work):
        return board.snapshot.now_s
    wanted, kinds = spared(board, work) + work.need.parts, board.cards.kind
    found = np.inf
    for kind in sorted(set(kinds[_on(board, nodes)].tolist())):
        mine = times[kinds == kind]
        if len(mine) >= wanted[kind]:
            found = min(found, float(np.partition(mine, wanted[kind] - 1)[wanted[kind] - 1]))
    return found


def _on(board: Board, nodes: Sequence[int]) -> Ints:
    """The rows of the cards of the nodes at these rows."""
    slots = board.slots()[0][list(nodes)]
    found: Ints = slots[slots >= 0]
    return found


def _quick_head(board: Board, work: Waiting, at_s: float, nodes: Sequence[int]) -> Head | None:
    """The head on these nodes once their work has ended, if nothing but cards binds it."""
    pieces = (p for row in _on(board, nodes).tolist() for p in board.cards.pieces[row])
    holders = {piece.held_by for piece in pieces if piece.held_by is not None}
    trial = board.copy()
    trial.headroom = None
    for number in sorted(holders):
        running = board.running(number)
        if running is not None and ends_s(board.snapshot, running) <= at_s:
            release(trial, running)
    if timed(board.snapshot):
        trial.snapshot = at(board.snapshot, at_s)
    placed = offer(trial, work)
    return None if placed is None else head_at(trial, work, placed, at_s)


def _card_times(board: Board, work: Waiting) -> Times:
    """When each card is forecast to be free as a whole for this work.

    Never while something else holds it, or while it is promised to others; only when neither
    maintenance nor a reservation would begin during the run.
    """
    cards = board.cards
    free = cards.whole != NEVER
    held = (cards.held > 0) & cards.offered
    now = board.snapshot.now_s
    ends = np.where(cards.ends < now, now + LATE_S, cards.ends)
    times: Times = np.where(free, now, np.where(held, ends, np.inf))
    times[~cards.offered] = np.inf
    when = timed(board.snapshot)
    plain = replace(board, snapshot=bare(board.snapshot)) if when else board
    for _, fine in kept_away(plain, work):
        times[~fine] = np.inf
    return free_from(board, work, times) if when else times


def _searched_head(board: Board, work: Waiting) -> Head | None:
    """The general answer: the fewest ends after which the work fits, found by halving.

    Where time keeps cards away too, the first later time at which it fits then, of a few.
    """
    ends = ((ends_s(board.snapshot, r), r.id, r) for r in board.snapshot.running)
    running = sorted(ends, key=lambda entry: entry[:2])
    if timed(board.snapshot):
        return _timed_head(board, work, running)
    found = _fewest(board, work, running)
    if found is None:
        return None
    count, trial, placed = found
    return head_at(trial, work, placed, running[count - 1][0])


def _timed_head(board: Board, work: Waiting, running: Sequence[Ending]) -> Head | None:
    """The first time at which the work fits by the room and by the calendar.

    Looked at are the ends of what runs and of what is on the calendar, `MOST_TIMES` at the most
    from when the room would do.
    """
    snapshot = board.snapshot
    found = _fewest(replace(board, snapshot=bare(snapshot)), work, running, from_none=True)
    if found is None:
        return None
    count = found[0]
    first_s = running[count - 1][0] if count else snapshot.now_s
    times = {end for end, _, _ in running} | {w.ends_s for w in snapshot.windows}
    times |= {one.ends_s for one in snapshot.reservations}
    later = sorted(end for end in times if end >= first_s)
    trial, done = board.copy(), 0
    for at_s in later[:MOST_TIMES]:
        while done < len(running) and running[done][0] <= at_s:
            release(trial, running[done][2])
            done += 1
        trial.snapshot = at(snapshot, at_s)
        placed = offer(trial, work)
        if placed is not None:
            return head_at(trial, work, placed, at_s)
    return None


def _fewest(
    board: Board, work: Waiting, running: Sequence[Ending], *, from_none: bool = False
) -> tuple[int, Board, Placed] | None:
    """After how many of these ends the work fits, with the board and its place then."""
    low, high, done = 0 if from_none else 1, len(running), 0
    base = board
    found: tuple[int, Board] | None = None
    while low <= high:
        middle = (low + high) // 2
        trial = base.copy()
        for _, _, ended in running[done:middle]:
            release(trial, ended)
        if has_room(trial, work) is not None:
            found, high = (middle, trial), middle - 1
        else:
            base, done, low = trial, middle, middle + 1
    placed = offer(found[1], work) if found is not None else None
    return None if found is None or placed is None else (*found, placed)


def head_at(trial: Board, work: Waiting, placed: Placed, at_s: float) -> Head:
    """The head with this place and time; `trial` is the board at that time, and is used up."""
    held, seats = dict(trial.held), dict(trial.seats)
    take(trial, work, placed)
    nodes = trial.nodes
    left = []
    for host in placed.hosts:
        row = nodes.index[host.node]
        left.append((row, (int(nodes.cpu[row]), int(nodes.memory[row]), int(nodes.disk[row]))))
    start = PlannedStart(
        workload=work.id,
        at_s=at_s,
        cards=frozenset(part.card for part in placed.parts),
        nodes=frozenset(host.node for host in placed.hosts),
        placed=placed,
    )
    return Head(
        work=work,
        start=start,
        left=tuple(left),
        limits=tuple((n, then - held[n], then) for n, then in trial.held.items() if then > held[n]),
        seats=tuple(
            (n, seats[n] - then, then) for n, then in trial.seats.items() if then < seats[n]
        ),
    )


def keep(guard: Board, head: Head) -> None:
    """Take what the head needs off this board: long work may start only on what is left.

    Its cards and its host share, its nodes where they take one group or nobody else, and its part
    of every limit as that stands then: what ends before gives the head its own part back.
    """
    nodes = guard.nodes
    guard.cards.offered[[guard.cards.index[card] for card in head.start.cards]] = False
    for row, (cpu, memory, disk) in head.left:
        nodes.cpu[row] = min(int(nodes.cpu[row]), cpu)
        nodes.memory[row] = min(int(nodes.memory[row]), memory)
        nodes.disk[row] = min(int(nodes.disk[row]), disk)
        nodes.busy[row] += 1
        nodes.stamp[row] = guard.words.tick()
        _keep_company(guard, head.work, row)
    for number, _, then in head.limits:
        guard.held[number] = max(guard.held[number], then)
    for number, _, then in head.seats:
        guard.seats[number] = min(guard.seats[number], then)


def _keep_company(guard: Board, work: Waiting, row: int) -> None:
    """Let nobody onto the node whom the head could not join there."""
    nodes, mine = guard.nodes, guard.words.code(("trust", work.trust))
    alone = work.need.topology is Topology.WHOLE_NODES
    if nodes.single[row] and nodes.trust[row] in (FREE, mine) and not alone:
        nodes.trust[row] = mine
    elif nodes.single[row] or alone:
        nodes.offered[row] = False


def beside(board: Board, guard: Board, heads: Sequence[Head]) -> Board:
    """The guard for planning one more head: what ends gives its share back only once.

    `board` is the round's own; what the heads take of a node, a limit or the seats is off it,
    whenever they start.
    """
    taken: dict[int, list[int]] = {}
    for head in heads:
        for host in head.start.placed.hosts if head.start.placed else ():
            sums = taken.setdefault(guard.nodes.index[host.node], [0, 0, 0])
            for i, amount in enumerate((host.cpu_milli, host.memory_mib, host.disk_mib)):
                sums[i] += amount
    counted = any(head.limits or head.seats for head in heads)
    if not counted and not any(any(sums) for sums in taken.values()):
        return guard
    trial, there = guard.copy(), board.nodes
    for row, (cpu, memory, disk) in taken.items():
        trial.nodes.cpu[row] = min(int(trial.nodes.cpu[row]), int(there.cpu[row]) - cpu)
        trial.nodes.memory[row] = min(int(trial.nodes.memory[row]), int(there.memory[row]) - memory)
        trial.nodes.disk[row] = min(int(trial.nodes.disk[row]), int(there.disk[row]) - disk)
    if counted:
        _count_all(board, trial, heads)
    return trial


def _count_all(board: Board, trial: Board, heads: Sequence[Head]) -> None:
    """Count the heads on top of what the round has, in every limit and licence."""
    trial.held, trial.seats = dict(board.held), dict(board.seats)
    for head in heads:
        for number, added, _ in head.limits:
            trial.held[number] += added
        for number, taken, _ in head.seats:
            trial.seats[number] -= taken


def ends_before(board: Board, work: Waiting, heads: Sequence[Head]) -> bool:
    """Whether the work is forecast to end before every head's planned start."""
    until = board.snapshot.now_s + forecast_s(work, board.snapshot.rules)
    return all(until <= head.start.at_s for head in heads)


def slip_order(work: Waiting, now_s: float, rules: Rules) -> tuple[float, float, int]:
    """Shortest forecast first, shortened by age so that nobody starves; or plainly by arrival."""
    if not rules.shortest_first:
        return (work.submitted_s, 0.0, work.id)
    age = max(0.0, now_s - work.submitted_s) / rules.slip_age_s
    return (forecast_s(work, rules) / (1.0 + age), work.submitted_s, work.id)


def needs_head(work: Waiting) -> bool:
    """Scavengers take what is left and hold nothing back for themselves."""
    return work.priority_class is not PriorityClass.SCAVENGER

"""What no placement of MIG requests could beat: the longest prefix that fits, exact by CP-SAT."""

import heapq
from collections import Counter

from ortools.sat.python import cp_model

from pool.carving.geometry import EMPTY, cut_of, free_places


def layouts(geometry, names):
    """Every full layout of one card as counts of the named profiles."""
    cut = cut_of(geometry)
    kinds = [cut.index(name) for name in names]
    full, seen, todo = set(), set(), [EMPTY]
    while todo:
        layout = todo.pop()
        if layout in seen:
            continue
        seen.add(layout)
        further = [layout.plus(p) for kind in kinds for p in free_places(cut, layout, kind)]
        todo += further
        if not further:
            full.add(tuple(layout.used.count(kind) for kind in kinds))
    return sorted(full)


def _fits(wanted, full, cards):
    model = cp_model.CpModel()
    used = [model.new_int_var(0, cards, "") for _ in full]
    model.add(sum(used) <= cards)
    for i, count in enumerate(wanted):
        model.add(sum(row[i] * n for row, n in zip(full, used, strict=True)) >= count)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    return solver.solve(model) in (cp_model.OPTIMAL, cp_model.FEASIBLE)


def longest_prefix(geometry, names, requests, cards):
    """How many of the requests, from the first on, some placement could hold all at once."""
    full = layouts(geometry, names)
    low, high = 0, len(requests)
    while low < high:
        middle = (low + high + 1) // 2
        asked = Counter(request.profile for request in requests[:middle])
        if _fits([asked[name] for name in names], full, cards):
            low = middle
        else:
            high = middle - 1
    return low


def first_fit(geometry, requests, cards):
    """First card with a place, highest start: which of the requests are served."""
    taken, leaving, served = [0] * cards, [], []
    known = {p.name: (p.size, sorted(p.starts, reverse=True)) for p in geometry.profiles}
    for request in requests:
        while leaving and leaving[0][0] <= request.arrive_s:
            _, _, card, block = heapq.heappop(leaving)
            taken[card] &= ~block
        size, starts = known[request.profile]
        blocks = [((1 << size) - 1) << start for start in starts]
        place = next(((c, b) for c in range(cards) for b in blocks if not taken[c] & b), None)
        served.append(place is not None)
        if place is not None:
            taken[place[0]] |= place[1]
            if request.leave_s is not None:
                heapq.heappush(leaving, (request.leave_s, request.number, *place))
    return served

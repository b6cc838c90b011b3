"""MIG requests that come and go on cards of one kind, cut by the live planner's own offer."""

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nodeagent.protocol.inventory import Geometry
from nodeagent.protocol.vocabulary import Mode, Vendor
from pool.scheduling.board import Board, build
from pool.scheduling.model import (
    CardState,
    Demand,
    Need,
    NodeState,
    PartitionState,
    Snapshot,
    Waiting,
)
from pool.scheduling.offer import offer
from pool.scheduling.take import take, vacate

PARTITION = 1


@dataclass(frozen=True, slots=True)
class Request:
    """One recorded request for a profile; it stays for good when `leave_s` is None."""

    number: int
    arrive_s: float
    leave_s: float | None
    profile: str


@dataclass(frozen=True, slots=True)
class Cut:
    """Where one request was put; `card` is None when no card could be cut for it."""

    number: int
    card: int | None
    start: int | None


def replay(cards: int, geometry: Geometry, requests: Sequence[Request]) -> Iterator[Cut]:
    """Serve the requests in order of arrival; at one instant leavers go before arrivals."""
    board = build(_world(cards, geometry, requests))
    leaving: list[tuple[float, int, int]] = []
    for request in sorted(requests, key=lambda r: (r.arrive_s, r.number)):
        while leaving and leaving[0][0] <= request.arrive_s:
            _, number, row = heapq.heappop(leaving)
            vacate(board, number, [row], [])
        cut = _serve(board, request)
        if cut.card is not None and request.leave_s is not None:
            heapq.heappush(leaving, (request.leave_s, request.number, cut.card))
        yield cut


def _serve(board: Board, request: Request) -> Cut:
    work = Waiting(
        id=request.number,
        uid=str(request.number),
        tenants=("recorded",),
        trust="recorded",
        need=Need(profile=request.profile, modes=(Mode.MIG,)),
        partitions=(PARTITION,),
        submitted_s=request.arrive_s,
        declared_s=None if request.leave_s is None else request.leave_s - request.arrive_s,
    )
    placed = offer(board, work)
    if placed is None or placed.parts[0].new is None:
        return Cut(request.number, None, None)
    take(board, work, placed)
    return Cut(request.number, placed.parts[0].card, placed.parts[0].new.start)


def _world(cards: int, geometry: Geometry, requests: Sequence[Request]) -> Snapshot:
    """Empty cards on one node, with the recorded mix of profiles as the recent demand."""
    node = NodeState(
        id=0,
        name="recorded",
        cpu_milli=0,
        memory_mib=0,
        disk_mib=0,
        cpu_free_milli=0,
        memory_free_mib=0,
        disk_free_mib=0,
    )
    nominal = max(profile.nominal_gb for profile in geometry.profiles)
    usable = max(profile.memory_mib for profile in geometry.profiles)
    mix = Counter(request.profile for request in requests)
    return Snapshot(
        now_s=0.0,
        nodes=(node,),
        cards=tuple(
            CardState(
                id=i,
                uuid=str(i),
                node=0,
                partition=PARTITION,
                label="recorded",
                vendor=Vendor.NVIDIA,
                memory_mib=usable,
                nominal_gb=nominal,
                modes=frozenset({Mode.MIG}),
                mode=Mode.MIG,
                geometries=(geometry,),
                index=i,
            )
            for i in range(cards)
        ),
        partitions=(PartitionState(id=PARTITION, name="recorded"),),
        demand=tuple(
            Demand(need=Need(profile=name, modes=(Mode.MIG,)), weight=float(n))
            for name, n in sorted(mix.items())
        ),
    )

"""The pool without any work in it, and patterns of cards that could be bought."""

import json
from dataclasses import replace
from functools import cache
from importlib.resources import files

from nodeagent.protocol.vocabulary import Mode, Vendor
from pool.clock import now
from pool.cycle import snapshot as rounds
from pool.management.recorded import geometry_named
from pool.models.nodes import Node
from pool.models.partitions import Partition
from pool.replay.whatif.settle import emptied
from pool.replay.whatif.trace import World
from pool.scheduling.model import CardState, NodeState

SOFT = {Mode.WHOLE, Mode.MPS, Mode.TIMESLICE}


def world_now() -> World:
    """Every card and machine as if whole and idle; what is closed today is open in it.

    Observed machines stay out. Maintenance, reservations and licence seats belong to today and are
    left away; limits stand with nothing held of them.
    """
    seen = rounds.take(now())
    watched = set(Node.objects.filter(observe=True).values_list("pk", flat=True))
    cards = tuple(_bare(card) for card in seen.cards if card.node not in watched)
    return World(
        snapshot=replace(
            seen,
            now_s=0.0,
            nodes=tuple(_idle(node) for node in seen.nodes if node.id not in watched),
            cards=cards,
            slices=(),
            waiting=(),
            running=(),
            quotas=emptied(seen.quotas),
            shares=(),
            reservations=(),
            windows=(),
            promises=(),
            seats=(),
            demand=(),
        ),
        patterns=patterns(),
        places=tuple(Partition.objects.order_by("pk").values_list("pk", "slug")),
    )


def _bare(card: CardState) -> CardState:
    return replace(card, mode=None, trust=None, offered=True)


def _idle(node: NodeState) -> NodeState:
    return replace(
        node,
        cpu_free_milli=node.cpu_milli,
        memory_free_mib=node.memory_mib,
        disk_free_mib=node.disk_mib,
        trust=None,
        offered=True,
    )


@cache
def patterns() -> tuple[CardState, ...]:
    """One card of each published model, as it would be bought, for what is not there yet."""
    told = json.loads((files("nodeagent.facts") / "cards.json").read_text(encoding="utf-8"))
    return tuple(
        CardState(
            id=0,
            uuid=row["label"],
            node=0,
            partition=0,
            label=row["label"],
            vendor=Vendor(row["vendor"]),
            memory_mib=row["usable_mib"],
            nominal_gb=row["nominal_gb"],
            modes=frozenset(SOFT | {Mode.MIG} if row["mig"] else SOFT),
            geometries=(geometry_named(row["mig"]),) if row["mig"] else (),
            model=row["model"],
            architecture=row["architecture"],
            compute_capability=row["compute_capability"] or "",
            strength=round(row["strength"] or 0),
            nvenc=row["nvenc"] or 0,
            nvdec=row["nvdec"] or 0,
            graphics=bool(row["graphics"]),
        )
        for row in told["cards"]
        if row["nominal_gb"] and row["usable_mib"]
    )

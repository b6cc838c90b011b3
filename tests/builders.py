"""One-line worlds for the pure rooms: snapshot().node("n1").card("A100-80GB").queue(req(gb=20))."""

import json
from dataclasses import replace
from functools import cache
from importlib.resources import files

from nodeagent.protocol.inventory import Geometry, Profile
from nodeagent.protocol.vocabulary import Isolation, Mode, Vendor
from pool.scheduling.model import (
    CardState,
    Need,
    NodeState,
    PartitionState,
    PriorityClass,
    Quota,
    QuotaKind,
    Rules,
    Running,
    SliceStage,
    SliceState,
    Snapshot,
    Unit,
    Waiting,
)

NOW = 1_000_000.0

CARDS = {
    "A100-80GB": ("nvidia", 80, 81920, "a100_80gb", 624),
    "A100-40GB": ("nvidia", 40, 40960, "a100_40gb", 468),
    "H100-80GB": ("nvidia", 80, 81559, "h100_80gb", 1978),
    "A30": ("nvidia", 24, 24576, "a30_24gb", 214),
    "L40S": ("nvidia", 48, 46068, None, 579),
    "RTX4090": ("nvidia", 24, 24564, None, 215),
    "MI300X": ("amd", 192, 196608, None, 4000),
    "910B": ("ascend", 64, 65536, None, 576),
}
"""Vendor, nominal GB, usable MiB, MIG table and strength of the cards that tests use."""


@cache
def mig(name: str) -> Geometry:
    """The MIG geometry of a card, as the published tables give it."""
    told = json.loads((files("nodeagent.facts") / "mig" / f"{name}.json").read_text())
    names = ("name", "compute", "size", "memory_mib", "nominal_gb", "max_instances", "media")
    names += ("encoders", "decoders")
    return Geometry(
        mode=Mode.MIG,
        units=told["units"],
        compute_units=told["compute_units"],
        isolation=Isolation.HARDWARE,
        reset_to_enter=told["reset_to_enter"],
        profiles=tuple(
            Profile(profile_id=str(p["id"]), starts=tuple(p["starts"]), **{n: p[n] for n in names})
            for p in told["profiles"]
        ),
    )


def req(number=1, *, gb=None, parts=1, priority="normal", tenant="p1", trust=None, **rest):
    """A waiting workload. Words of `Need` and of `Waiting` may both be given."""
    own = {k: rest.pop(k) for k in list(rest) if k in Need.__slots__}
    work = {
        "submitted_s": NOW - 10.0 + number * 1e-3,
        "partitions": (1,),
        "tenants": ("o1", tenant, f"{tenant}/u"),
    }
    work.update(rest)
    return Waiting(
        id=number,
        uid=f"wl-{number}",
        trust=trust or tenant,
        need=Need(parts=parts, memory_gb=gb, **own),
        priority_class=PriorityClass(priority),
        **work,
    )


def whole(number=1, parts=1, **rest):
    """A waiting workload that wants whole cards."""
    return req(number, parts=parts, whole=True, **rest)


class World:
    """A snapshot in the making; every call answers with a new world."""

    def __init__(self, made=None):
        self.made = made or Snapshot(
            now_s=NOW,
            partitions=(PartitionState(id=1, name="main"),),
            rules=Rules(preemption=True),
        )

    def _with(self, **changed):
        return World(replace(self.made, **changed))

    def node(self, name, cpu=64_000, memory=512_000, disk=1_000_000, **rest):
        """A node; the cards that follow are on it."""
        number = len(self.made.nodes) + 1
        free = {
            "cpu_free_milli": rest.pop("cpu_free", cpu),
            "memory_free_mib": rest.pop("memory_free", memory),
            "disk_free_mib": rest.pop("disk_free", disk),
        }
        made = NodeState(
            id=number,
            name=name,
            cpu_milli=cpu,
            memory_mib=memory,
            disk_mib=disk,
            **free,
            **rest,
        )
        return self._with(nodes=(*self.made.nodes, made))

    def card(self, label="A100-80GB", count=1, modes=("whole", "mig"), **rest):
        """Cards on the last node."""
        vendor, nominal, usable, table, strength = CARDS[label]
        first = len(self.made.cards) + 1
        made = []
        for number in range(first, first + count):
            told = {
                "uuid": f"GPU-{number}",
                "node": self.made.nodes[-1].id,
                "partition": 1,
                "index": number - first,
                "vendor": Vendor(vendor),
                "nominal_gb": nominal,
                "memory_mib": usable,
                "strength": strength,
                "geometries": (mig(table),) if table else (),
            }
            told.update(rest)
            found = frozenset(Mode(mode) for mode in modes)
            made.append(CardState(id=number, label=label, modes=found, **told))
        return self._with(cards=(*self.made.cards, *made))

    def slice(self, card, profile, start=None, mode="mig", stage="ready", by=None, **rest):
        """A slice on a card; `by` is a running workload's number."""
        state = next(c for c in self.made.cards if c.id == card)
        size, memory, compute = (
            rest.pop("size", None),
            rest.pop("memory", 0),
            rest.pop("compute", 0),
        )
        for geometry in state.geometries:
            for known in geometry.profiles if geometry.mode == mode else ():
                if known.name == profile:
                    size, memory = known.size, known.memory_mib
                    compute = known.compute * 1000 // geometry.compute_units
        if mode == "whole":
            start, size, memory, compute = 0, 8, state.memory_mib, 1000
        made = SliceState(
            id=len(self.made.slices) + 1,
            card=card,
            mode=Mode(mode),
            profile=profile,
            start=start,
            size=size,
            memory_mib=memory,
            compute_milli=compute,
            stage=SliceStage(stage),
            held_by=by,
            **rest,
        )
        cards = tuple(
            replace(c, mode=Mode(mode), trust=rest.get("trust", c.trust)) if c.id == card else c
            for c in self.made.cards
        )
        return self._with(slices=(*self.made.slices, made), cards=cards)

    def running(self, number, slices=(), ends=None, hosts=(), tenant="p1", **rest):
        """Work that runs now on these slices (by number), ending in `ends` seconds."""
        told = {
            "uid": f"wl-{number}",
            "tenants": ("o1", tenant, f"{tenant}/u"),
            "trust": tenant,
            "purpose": "training",
            "priority_class": PriorityClass.NORMAL,
            "started_s": NOW - 100.0,
            "lost_since_s": NOW - 100.0,
            "partition": 1,
        }
        told.update(rest)
        held = tuple(
            replace(s, held_by=number, trust=told["trust"]) if s.id in slices else s
            for s in self.made.slices
        )
        cards = {s.card for s in held if s.id in slices}
        made = Running(
            id=number,
            slices=tuple(slices),
            hosts=tuple(hosts),
            ends_s=None if ends is None else NOW + ends,
            **told,
        )
        return self._with(
            slices=held,
            running=(*self.made.running, made),
            cards=tuple(
                replace(c, trust=told["trust"]) if c.id in cards else c for c in self.made.cards
            ),
        )

    def busy(self, count, ends=None, first=900, **rest):
        """The first `count` cards of the last node are held whole by one workload each."""
        world = self
        last = [card for card in self.made.cards if card.node == self.made.nodes[-1].id]
        for number, card in enumerate(last[:count]):
            world = world.slice(card.id, "whole", mode="whole")
            world = world.running(
                first + number, slices=(len(world.made.slices),), ends=ends, **rest
            )
        return world

    def quota(self, tenant, limit, held=0, kind="limit", unit="card_micro", **rest):
        """A quota row; limits in whole cards for card equivalents."""
        factor = 1_000_000 if unit == "card_micro" else 1
        made = Quota(
            id=len(self.made.quotas) + 1,
            tenant=tenant,
            kind=QuotaKind(kind),
            unit=Unit(unit),
            limit=round(limit * factor),
            held=round(held * factor),
            **rest,
        )
        return self._with(quotas=(*self.made.quotas, made))

    def queue(self, *works):
        """Waiting workloads."""
        return self._with(waiting=(*self.made.waiting, *works))

    def rules(self, **changed):
        """Numbers that differ from the usual ones."""
        return self._with(rules=replace(self.made.rules, **changed))

    def have(self, **changed):
        """Anything else of a snapshot, given as it is."""
        return self._with(**changed)


def snapshot():
    """An empty world with one partition, open to all."""
    return World()

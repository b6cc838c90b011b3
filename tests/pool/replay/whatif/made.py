"""Recorded work and pools in one line, for the tests of what-if."""

import random
from dataclasses import replace

from pool.replay.whatif.trace import Kind, Trace, Work, World
from pool.scheduling.model import Need, PriorityClass, Topology
from tests.builders import snapshot

HALF_LIFE_S = 7 * 86_400


def world(nodes=2, cards=4, *, label="A100-80GB", modes=("whole", "mig", "mps"), **rest):
    """A pool without work: equal nodes of one partition, `main`."""
    made = snapshot()
    for number in range(nodes):
        made = made.node(f"n{number}").card(label, cards, modes=modes)
    return World(snapshot=replace(made.made, **rest), places=((1, "main"),))


def kind(team="vision", **rest):
    """One kind of work; words of `Need` may be given beside its own."""
    own = {k: rest.pop(k) for k in list(rest) if k in Need.__slots__}
    own = own or {"whole": True}
    told = {"tenants": ("org:1", f"project:{team}", f"member:{team}.1"), "trust": team}
    told.update(rest)
    return Kind(team=team, need=Need(**own), partitions=(1,), **told)


def trace(kinds, works, until=None):
    """Works as (kind, submit, duration) or with a class as the fourth."""
    made = []
    for number, (which, at, length, *more) in enumerate(works):
        priority = PriorityClass(more[0]) if more else PriorityClass.NORMAL
        made.append(
            Work(
                number=number,
                kind=which,
                submit_s=float(at),
                arrives_s=float(at),
                duration_s=float(length),
                declared_s=float(length),
                priority=priority,
            )
        )
    last = max((work.submit_s for work in made), default=0.0)
    return Trace(since_s=0.0, until_s=until or last + 1.0, kinds=tuple(kinds), works=tuple(made))


def busy(seed, count, *, teams=("vision", "speech"), every_s=60.0):
    """A queue of mixed needs that has to wait: whole cards, gangs, shares and MIG profiles."""
    chance = random.Random(seed)
    kinds = []
    for team in teams:
        kinds += [
            kind(team, whole=True, parts=1),
            kind(team, whole=True, parts=2, checkpoint_s=600.0),
            kind(team, whole=True, parts=8, topology=Topology.NETWORK),
            kind(team, memory_gb=20, compute_milli=250),
            kind(team, profile="3g.40gb"),
        ]
    clock, works = 0.0, []
    for _ in range(count):
        clock += chance.expovariate(1 / every_s)
        which = chance.choices(range(len(kinds)), [8, 3, 1, 6, 2] * len(teams))[0]
        works.append((which, clock, chance.choice([60, 300, 900, 3000])))
    return trace(kinds, works)

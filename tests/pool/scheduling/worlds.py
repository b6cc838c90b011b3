"""Random worlds for the laws: small pools with everything that the planner knows."""

from dataclasses import replace

from hypothesis import strategies as st

from nodeagent.protocol.vocabulary import Isolation, Mode
from pool.scheduling.model import Ceiling, CeilingScope, PartitionState, Policy, Topology
from pool.scheduling.plan import plan
from tests.builders import NOW, req, snapshot

LABELS = ("A100-80GB", "A30", "L40S", "MI300X")
MODES = {
    "A100-80GB": ("whole", "mig", "mps"),
    "A30": ("whole", "mig"),
    "L40S": ("whole", "mps", "timeslice"),
    "MI300X": ("whole",),
}

needs = st.one_of(
    st.fixed_dictionaries(
        {"gb": st.sampled_from([5, 10, 20, 40, 80]), "parts": st.integers(1, 2)},
        optional={
            "compute_milli": st.sampled_from([100, 300, 500]),
            "isolation": st.just(Isolation.HARDWARE),
            "modes": st.sampled_from([(Mode.MPS,), (Mode.MIG, Mode.WHOLE), (Mode.TIMESLICE,)]),
            "topology": st.just(Topology.SPREAD),
            "heavy_bandwidth": st.just(True),
        },
    ),
    st.fixed_dictionaries({"memory_mib": st.integers(1, 30_000)}),
    st.fixed_dictionaries({"share_milli": st.integers(1, 1000)}),
    st.fixed_dictionaries({"profile": st.sampled_from(["1g.10gb", "3g.40gb", "2g.12gb"])}),
    st.fixed_dictionaries(
        {
            "whole": st.just(True),
            "parts": st.integers(1, 5),
            "topology": st.sampled_from(
                [Topology.NODE, Topology.NETWORK, Topology.SPREAD, Topology.WHOLE_NODES]
            ),
        },
        optional={"labels": st.just(frozenset({"A100-80GB"}))},
    ),
    st.just({"parts": 0}),
)


@st.composite
def works(draw, number):
    """One waiting workload."""
    tenant = draw(st.sampled_from(["p1", "p2", "p3"]))
    return req(
        number,
        tenant=tenant,
        trust=draw(st.sampled_from([tenant, "shared"])),
        cpu_milli=draw(st.sampled_from([0, 1000, 9000])),
        host_memory_mib=draw(st.sampled_from([0, 4000])),
        priority=draw(st.sampled_from(["critical", "high", "normal", "low", "scavenger"])),
        submitted_s=NOW - draw(st.integers(0, 5000)),
        declared_s=draw(st.sampled_from([None, 60.0, 3600.0])),
        purpose=draw(st.sampled_from(["training", "inference"])),
        checkpointed=draw(st.booleans()),
        **draw(needs),
    )


@st.composite
def empty_worlds(draw):
    """Nodes and cards, sometimes with a quota, a ceiling, a shy node."""
    world = snapshot()
    for name in range(draw(st.integers(1, 3))):
        fenced = draw(st.booleans())
        world = world.node(
            f"n{name}", cpu=draw(st.sampled_from([4000, 64_000])), fence=fenced, network="net"
        )
        for _ in range(draw(st.integers(0, 2))):
            label = draw(st.sampled_from(LABELS))
            offered = draw(st.integers(0, 9)) > 0
            count = draw(st.integers(1, 3))
            mixed = draw(st.booleans())
            world = world.card(label, count=count, modes=MODES[label], offered=offered, mixed=mixed)
    if draw(st.booleans()):
        world = world.quota(draw(st.sampled_from(["o1", "p1"])), limit=draw(st.integers(0, 5)))
    if draw(st.booleans()):
        world = world.quota("p2", limit=2, kind="entitlement", partition=1)
    policy = draw(st.sampled_from(list(Policy)))
    scopes = draw(st.sets(st.sampled_from(list(CeilingScope)), max_size=2))
    ceilings = tuple(
        Ceiling(scope=scope, purposes=frozenset({"training"}), compute_milli=800)
        for scope in sorted(scopes)
    )
    part = PartitionState(id=1, name="main", policy=policy, ceilings=ceilings)
    return world.have(partitions=(part,))


@st.composite
def worlds(draw, most=8):
    """A pool with work on it (put there by a first plan) and a queue."""
    world = draw(empty_worlds())
    first = [draw(works(number)) for number in range(1, draw(st.integers(1, 6)))]
    world = world.have(waiting=tuple(first))
    world = settled(world, plan(world.made), draw(st.lists(st.integers(1, 6), max_size=2)))
    waiting = [draw(works(number)) for number in range(101, 101 + draw(st.integers(0, most)))]
    return world.have(waiting=tuple(waiting)).made


def settled(world, made, ended=()):
    """The world after the plan was carried out and some of its work has ended."""
    waiting = {work.id: work for work in world.made.waiting}
    for placed in made.placed:
        world = _started(world, waiting[placed.workload], placed, placed.workload in ended)
    return world.have(waiting=())


def _started(world, work, placed, ended):
    held = []
    for part in placed.parts:
        new = part.new
        if new is None:
            held.append(part.slice)
            continue
        removed = {n for move in placed.moves for n in move.removes}
        world = world.have(slices=tuple(s for s in world.made.slices if s.id not in removed))
        number = max((s.id for s in world.made.slices), default=0) + 1
        world = world.slice(
            part.card,
            new.profile,
            start=new.start,
            mode=new.mode.value,
            size=new.size,
            memory=new.memory_mib,
            compute=new.compute_milli,
            encoder_units=new.encoder_units,
            decoder_units=new.decoder_units,
        )
        slices = (*world.made.slices[:-1], replace(world.made.slices[-1], id=number))
        world = world.have(slices=slices)
        held.append(number)
    if ended:
        return world
    hosts = tuple((h.node, h.cpu_milli, h.memory_mib, h.disk_mib) for h in placed.hosts)
    world = world.running(
        placed.workload,
        slices=tuple(held),
        ends=100.0 + work.id,
        hosts=hosts,
        tenant=work.tenants[1],
        trust=work.trust,
        purpose=work.purpose,
        priority_class=work.priority_class,
    )
    return _host_taken(world, work, hosts)


def _host_taken(world, work, hosts):
    taken = {node: (cpu, memory, disk) for node, cpu, memory, disk in hosts}
    nodes = []
    for node in world.made.nodes:
        cpu, memory, disk = taken.get(node.id, (0, 0, 0))
        nodes.append(
            replace(
                node,
                cpu_free_milli=node.cpu_free_milli - cpu,
                memory_free_mib=node.memory_free_mib - memory,
                disk_free_mib=node.disk_free_mib - disk,
                trust=work.trust if node.id in taken else node.trust,
            )
        )
    told = {"purpose": work.purpose, "heavy_bandwidth": work.need.heavy_bandwidth}
    slices = tuple(replace(s, **told) if s.held_by == work.id else s for s in world.made.slices)
    return world.have(nodes=tuple(nodes), slices=slices)

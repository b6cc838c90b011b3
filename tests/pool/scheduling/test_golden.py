"""One busy round as text: a change of behaviour shows in the difference of a file."""

from pathlib import Path

from pool.scheduling.plan import plan
from tests.builders import req, snapshot, whole

GOLDEN = Path(__file__).parents[2] / "golden" / "plans.txt"


def _world():
    """Two busy nodes, one mixed and one small, and a queue of every kind of need."""
    world = snapshot().node("big").card("A100-80GB", count=4).busy(2, ends=600)
    world = world.node("cut").card("A100-80GB", count=2)
    world = world.slice(5, "1g.10gb", start=0).slice(5, "1g.10gb", start=1)
    world = world.node("mixed").card("L40S", count=2, modes=("whole", "mps")).card("A30")
    world = world.node("plain", cpu=8000).quota("p3", limit=0.2)
    return world.queue(
        whole(101, 4, priority="high", declared_s=3600.0),
        whole(102, 2, declared_s=300.0),
        req(103, gb=20, compute_milli=300),
        req(104, profile="3g.40gb", tenant="p2"),
        req(105, gb=12, tenant="p2", trust="p2"),
        req(106, gb=12, tenant="p3", trust="p3"),
        req(107, parts=0, cpu_milli=4000),
        req(108, gb=200),
        req(109, gb=5, priority="scavenger", declared_s=60.0),
        req(110, gb=5, held_back="on hold"),
    ).made


def _lines(world):
    made = plan(world)
    nodes = {node.id: node.name for node in world.nodes}
    for placed in made.placed:
        for move in placed.moves:
            yield f"{placed.workload} moves card {move.card}: removes {move.removes} -> {move.mode}"
        parts = [
            f"card {p.card} slice {p.slice}"
            if p.new is None
            else f"card {p.card} {p.new.mode} {p.new.profile or 'share'} at {p.new.start}"
            f" {p.new.memory_mib} MiB {p.new.compute_milli}/1000"
            for p in placed.parts
        ]
        hosts = ", ".join(f"{nodes[h.node]} {h.cpu_milli}m" for h in placed.hosts)
        how = " (slipped in)" if placed.backfilled else ""
        yield f"{placed.workload} starts on {hosts}: {'; '.join(parts) or 'no card'}{how}"
    for told in made.waits.values():
        counts = ", ".join(f"{reason} {count}" for reason, count in told.counts)
        short = told.shortage
        lack = f"; needs {short.needed} {short.unit}, free {short.free}" if short else ""
        yield (
            f"{told.workload} waits at {told.position}: {told.level} {told.reason}"
            f" ({counts or 'nothing counted'}){lack}"
        )
    for start in made.starts:
        yield f"{start.workload} is planned in {start.at_s - world.now_s:.0f} s"
    for order in made.evictions:
        yield f"{order.victim} leaves for {order.winner}"


def test_one_busy_round_is_as_it_was():
    assert "\n".join(_lines(_world())) + "\n" == GOLDEN.read_text(encoding="utf-8")

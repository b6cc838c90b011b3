"""The farm: many agents in one process against one stack. Do heartbeats come, how fast is a report?

`FARM_NODES` (1,000), `FARM_CARDS` a node (10) and `FARM_SECONDS` (60) size it; all have to be in
within `FARM_JOIN_SECONDS` (1,200). How they come in is told every half minute.
"""

import json
import os
import statistics
import subprocess
import sys
import time

import psutil

from tests.architecture.house import ROOT
from tests.benchmarks import parts
from tests.house import House
from tests.stack import NOT_PASSED_ON
from tests.waiting import until

NODES = int(os.environ.get("FARM_NODES", "1000"))
CARDS = int(os.environ.get("FARM_CARDS", "10"))
SECONDS = int(os.environ.get("FARM_SECONDS", "60"))
JOIN_S = float(os.environ.get("FARM_JOIN_SECONDS", "1200"))
TELL_S = 30.0
LOOK_S = 2.0
"""Between two looks at the books: each makes a connection, which costs the machine as much as a
node does.
"""

NODE = (
    "  - {{name: farm-{n:04d}, cpus: 128, memory_gib: 1024, disk_gib: 8000,"
    " cards: [{{model: A100-80GB, count: {cards}}}]}}\n"
)
TOKENS = """
import pathlib
from pool.events import SYSTEM
from pool.services.nodes import join_token_issue
for n in range({nodes}):
    row, plain = join_token_issue(node=f"farm-{{n:04d}}", actor=SYSTEM)
    pathlib.Path({folder!r}, f"farm-{{n:04d}}.token").write_text(plain)
"""
COMING = (
    "SELECT count(*), count(*) FILTER (WHERE state = 'ready' AND report_count > 2) FROM pool_node"
)
SEEN = "SELECT sum(report_count), min(report_count), count(*) FROM pool_node WHERE state = 'ready'"
WORST = """
SELECT max(extract(epoch FROM clock_timestamp() - last_report_at)),
       count(*) FILTER (WHERE clock_timestamp() - last_report_at > interval '15 s')
FROM pool_node WHERE state = 'ready'
"""
ROWS = "SELECT count(*) FROM pool_sample"


def kept():
    return {k: v for k, v in os.environ.items() if not k.startswith(NOT_PASSED_ON)}


def tokens(house, nodes):
    """One for each node, issued as an administrator would."""
    folder = house.root / "tokens"
    folder.mkdir(mode=0o700)
    code = TOKENS.format(nodes=nodes, folder=str(folder))
    known = {
        "GPUPOOL_DATA_DIR": str(house.data),
        "DJANGO_SETTINGS_MODULE": "portal.settings.local",
    }
    words = [sys.executable, "manage.py", "shell", "-v", "0", "-c", code]
    subprocess.run(words, cwd=ROOT, env=kept() | known, check=True)
    return folder


def joined(house, farm, nodes):
    """Wait until all nodes are in, telling now and then how far they are and what is busy."""
    stack, crowd = psutil.Process(house.stack.process.pid), psutil.Process(farm.pid)
    began = told_at = time.monotonic()
    before = parts.spent(stack) | {"farm": sum(parts.spent(crowd).values())}

    def all_in():
        nonlocal told_at, before
        assert farm.poll() is None, "the farm has ended"
        time.sleep(LOOK_S)
        ((known, ready),) = house.rows(COMING)
        now = time.monotonic()
        if now - told_at >= TELL_S or ready == nodes:
            after = parts.spent(stack) | {"farm": sum(parts.spent(crowd).values())}
            busy = parts.said(parts.between(before, after, now - told_at))
            print(  # noqa: T201
                f"{now - began:.0f} s: {known} joined, {ready} ready; cores: {busy}", flush=True
            )
            told_at, before = now, after
        return ready == nodes

    until(all_in, seconds=JOIN_S, what="all nodes are ready")
    return time.monotonic() - began


def farmed(house, nodes, cards, seconds):
    """What was seen of so many nodes in so many seconds, once all are there."""
    (house.root / "farm.yaml").write_text(
        "nodes:\n" + "".join(NODE.format(n=n, cards=cards) for n in range(nodes))
    )
    seen, marks = house.root / "seen.json", house.root / "measure"
    words = [
        *(sys.executable, "-m", "tests.benchmarks.farm", str(seen), str(marks)),
        *("--all-nodes", "--portal", house.stack.url, "--fleet", str(house.root / "farm.yaml")),
        *("--state-dir", str(house.root / "farm"), "--work-dir", str(house.root / "work")),
        *("--join-token-folder", str(tokens(house, nodes))),
    ]
    with (house.root / "farm.log").open("wb") as said:
        farm = subprocess.Popen(words, cwd=ROOT, env=kept(), stdout=said, stderr=said)
        try:
            took = joined(house, farm, nodes)
            marks.touch()
            time.sleep(5)
            found = measured(house, psutil.Process(farm.pid), seen, seconds)
            return found | {"joined_s": took}
        finally:
            farm.kill()
            farm.wait(30)


def measured(house, farm, seen, seconds):
    stack = psutil.Process(house.stack.process.pid)
    before = (house.rows(SEEN)[0], house.rows(ROWS)[0][0], parts.spent(farm), parts.spent(stack))
    began = time.monotonic()
    looks = []
    while time.monotonic() < began + seconds:
        looks.append(house.rows(WORST)[0])
        time.sleep(2)
    took = time.monotonic() - began
    after = (house.rows(SEEN)[0], house.rows(ROWS)[0][0], parts.spent(farm), parts.spent(stack))
    busy = parts.between(before[3], after[3], took)
    times = json.loads(seen.read_text())
    return {
        "beats_a_second": float(after[0][0] - before[0][0]) / took,
        "rows_a_second": (after[1] - before[1]) / took,
        "ready": after[0][2],
        "oldest_s": float(max(age for age, _ in looks)),
        "late": max(late for _, late in looks),
        "farm_cores": sum(parts.between(before[2], after[2], took).values()),
        "stack_cores": sum(busy.values()),
        "parts": busy,
        "farm_mib": farm.memory_info().rss / 2**20,
        **times,
    }


def told(what, found):
    print(  # noqa: T201
        f"\n{what}: {found['beats_a_second']:.0f} messages of life and {found['rows_a_second']:.0f}"
        f" rows a second stored; {found['ready']} nodes ready, the oldest word of a node"
        f" {found['oldest_s']:.1f} s ago, at most {found['late']} older than 15 s at once;"
        f" agents {found['farm_cores']:.2f} cores and {found['farm_mib']:.0f} MiB,"
        f" stack {found['stack_cores']:.2f} cores ({parts.said(found['parts'])});"
        f" all were in after {found['joined_s']:.0f} s; failed {found['failed']}"
    )
    for name, times in sorted(found["times"].items()):
        cuts = statistics.quantiles(times, n=100)
        print(  # noqa: T201
            f"  {name}: {len(times)}, median {cuts[49]:.3f} s, p95 {cuts[94]:.3f} s,"
            f" p99 {cuts[98]:.3f} s"
        )


def test_a_thousand_agents_in_one_process_keep_their_heartbeats():
    house = House("--no-agent", "--first-run", "empty")
    try:
        house.stack.ready()
        found = farmed(house, NODES, CARDS, SECONDS)
        told(f"{NODES} nodes with {CARDS} cards", found)
        assert found["ready"] == NODES
    finally:
        house.over()


def test_what_one_agent_costs_its_node():
    house = House("--no-agent", "--first-run", "empty")
    try:
        house.stack.ready()
        found = farmed(house, 1, 8, SECONDS)
        told("one node with 8 cards, read every 2 s", found)
        assert found["ready"] == 1
    finally:
        house.over()

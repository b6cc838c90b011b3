"""Agents and shims are killed, lines cut, messages lost and said twice, at random, under jobs."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

from tests.architecture.house import ROOT
from tests.drills.agents import NODES, house_with_agents
from tests.drills.stream import Stream
from tests.waiting import until

pytestmark = [pytest.mark.flow, pytest.mark.xdist_group("drills")]

CYCLES = int(os.environ.get("DRILL_CYCLES", "12"))
SEED = int(os.environ.get("DRILL_SEED", "4"))
AT_ONCE = 6
KINDS = ["agent", "shim", "cut", "unplugged", "deaf", "twice", "held", "paused"]
AUDIT = "from pool.cycle.audit import breaches_now; print('breaches:', breaches_now())"


class Faults:
    """One kind of bad luck after the other; each is over when its cycle is."""

    def __init__(self, agents, stream, chance):
        self.agents, self.stream, self.chance = agents, stream, chance
        self.done = Counter()
        self.deck = []

    def cycle(self):
        """One or two faults at once, for a while; then everything runs again."""
        for kind in sorted({self._next() for _ in range(self.chance.choice([1, 2]))}):
            getattr(self, kind)()
            self.done[kind] += 1
        time.sleep(self.chance.uniform(0.1, 2.5))
        self.agents.well()
        for name in NODES:
            self.agents.kill(name, signal.SIGCONT)
            self.agents.start(name)

    def _next(self):
        """Each kind once before any comes again, so that a short run meets all of them."""
        self.deck = self.deck or self.chance.sample(KINDS, len(KINDS))
        return self.deck.pop()

    def agent(self):
        for name in self.chance.sample(NODES, self.chance.choice([1, 2])):
            self.agents.kill(name)
        if self.chance.random() < 0.5:
            for name in NODES:
                self.agents.start(name)

    def shim(self):
        found = sorted(self.agents.shims().items())
        if found:
            pid, attempt = self.chance.choice(found)
            self.stream.hit.add(attempt)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def cut(self):
        self.agents.line.set(cut=True)

    def unplugged(self):
        for name in self.chance.sample(NODES, self.chance.choice([1, 2])):
            self.agents.unplug(name)

    def deaf(self):
        self.agents.line.set(deaf=True)

    def twice(self):
        self.agents.line.set(twice=True)

    def held(self):
        self.agents.line.set(held=self.chance.uniform(0.2, 1.5))

    def paused(self):
        self.agents.kill(self.chance.choice(NODES), signal.SIGSTOP)


def audited(house):
    """What the pool's own audit finds wrong in these books."""
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "-v", "0", "-c", AUDIT],
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "GPUPOOL_DATA_DIR": str(house.data),
            "DJANGO_SETTINGS_MODULE": "portal.settings.local",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip().splitlines()[-1:] or [done.stderr[-800:]]


def test_nothing_runs_twice_is_orphaned_or_ends_falsely_through_random_faults():
    """`DRILL_CYCLES=200` is the long run; what it saw stands in docs/measured.md."""
    chance = random.Random(SEED)
    with house_with_agents() as (house, agents):
        stream = Stream(house, chance)
        faults = Faults(agents, stream, chance)
        for _ in range(CYCLES):
            stream.top_up(AT_ONCE)
            faults.cycle()
        seen = stream.judged(seconds=180)
        until(lambda: not agents.shims(), seconds=30, what="no shim is left")
        held = "SELECT count(*) FROM pool_hold WHERE upper_inf(held)"
        until(lambda: house.rows(held) == [(0,)], seconds=60, what="every hold is closed")
        quota = "SELECT count(*) FROM pool_quota WHERE kind <> 'entitlement' AND held <> 0"
        assert house.rows(quota) == [(0,)]
        assert audited(house) == ["breaches: []"]
        line = agents.line
        print(  # noqa: T201
            f"\n{CYCLES} cycles, seed {SEED}: {dict(sorted(faults.done.items()))}; {seen};"
            f" messages {line.heard}, answers lost {line.lost}, said twice {line.doubled};"
            f" {agents.network}"
        )

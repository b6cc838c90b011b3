"""The books are put back to what they were before three jobs began; all three run on."""

import os
import subprocess
import sys

import pytest

from tests.architecture.house import ROOT
from tests.drills.agents import house_with_agents
from tests.stack import RunningStack
from tests.waiting import until

pytestmark = [pytest.mark.flow, pytest.mark.xdist_group("drills")]

JOB = "m={marks}/{name}; echo ran >> $m.runs; while [ ! -e $m.go ]; do sleep 0.3; done; exit {code}"


def started(house, agents):
    """The stack over the same folder; its agents find it where it listens now."""
    work = ("--work-dir", str(house.root / "work"), "--fleet", str(house.root / "fleet.yaml"))
    house.stack = RunningStack(house.data, *work, "--no-agent").ready(seconds=240)
    agents.line.portal = house.stack.port


def managed(house, *words):
    """One of manage.py's commands beside or instead of the stack; what it said, and its code."""
    known = {"PATH": os.environ["PATH"], "GPUPOOL_DATA_DIR": str(house.data)}
    settings = {"DJANGO_SETTINGS_MODULE": "portal.settings.local"}
    line = [sys.executable, "manage.py", *words]
    done = subprocess.run(
        line, cwd=ROOT, env=known | settings, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr, done.returncode


def test_three_jobs_that_began_after_the_backup_are_found_and_adopted_and_never_killed():
    with house_with_agents() as (house, agents):
        archive = str(house.root / "books.gpupool")
        said, code = managed(house, "backup", archive)
        assert code == 0 and "Verified" in said, said
        epoch = house.rows("SELECT epoch FROM pool_installation")
        names = [f"later-{n}" for n in range(3)]
        lines = [JOB.format(marks=house.marks, name=n, code=c) for c, n in enumerate(names)]
        uids = [house.submit(line, name=n) for n, line in zip(names, lines, strict=True)]
        house.all_in_state(uids, "running", seconds=120)
        shims = set(agents.shims())
        assert len(shims) == 3
        agents.line.set(cut=True)
        why = ("--reason", "the drill", "--yes")
        said, code = managed(house, "restore", archive, *why)
        assert code == 1 and "already running" in said, said
        assert set(agents.shims()) == shims
        house.stack.stop()
        said, code = managed(house, "restore", archive, *why)
        assert code == 0 and "Restored" in said, said
        started(house, agents)
        assert house.rows("SELECT epoch FROM pool_installation") == [(epoch[0][0] + 1,)]
        assert house.rows("SELECT count(*) FROM pool_workload WHERE uid = ANY(%s)", uids) == [(0,)]
        agents.line.well()
        admin = house.as_("platform_admin")
        until(
            lambda: (
                [bool(one["origin"]) for one in admin.every("found-work?state=running")]
                == [True] * 3
            ),
            seconds=120,
            what="all three are found, and their node has told as what they were started",
        )
        assert set(agents.shims()) == shims
        found = {one["told_workload"]: one for one in admin.every("found-work")}
        assert set(found) == set(uids)
        home = {"project": house.project, "user": "mei", "template": "finetune-20g-30"}
        for uid in uids:
            told = admin("POST", f"found-work/{found[uid]['uid']}/adopt", home)
            assert (told["state"], told["workload"]) == ("adopted", uid)
        house.all_in_state(uids, "running", seconds=60)
        assert set(agents.shims()) == shims
        for name in names:
            (house.marks / f"{name}.go").touch()
        done = house.ended(uids, seconds=90)
        assert [done[uid]["exit_code"] for uid in uids] == [0, 1, 2]
        assert [(house.marks / f"{n}.runs").read_text() for n in names] == ["ran\n"] * 3
        until(lambda: not agents.shims(), seconds=30, what="no shim is left")
        held = "SELECT count(*) FROM pool_hold WHERE upper_inf(held)"
        until(lambda: house.rows(held) == [(0,)], seconds=60, what="every hold is closed")

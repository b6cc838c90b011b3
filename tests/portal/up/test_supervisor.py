"""The supervisor keeps its parts alive, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from portal.up.child import delay
from portal.up.processes import descendants
from tests.architecture.house import ROOT
from tests.waiting import until

# A part that says that it is well, and writes a line when asked to end.
PLAIN = """
import os, pathlib, signal, sys, time
folder = pathlib.Path(os.environ["FOLDER"])
def end(number, frame):
    with (folder / "ends").open("a") as file: file.write("NAME\\n")
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
(folder / "NAME.pid").write_text(str(os.getpid()))
(folder / "NAME.well").touch()
while True: time.sleep(60)
"""
STUBBORN = PLAIN.replace("sys.exit(0)", "pass")
# A part whose own child has left its session, as a workload's shim does.
PARENT = PLAIN.replace(
    "while True",
    "import subprocess\n"
    "away = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'],"
    " start_new_session=True)\n"
    "(folder / 'away').write_text(str(away.pid))\n"
    "while True",
)
FAILING = "import sys; sys.exit(3)"


@pytest.fixture
def small(tmp_path):
    """Starts a small stack; whatever it still runs at the end is killed."""
    started = []

    def start(**programs: str) -> subprocess.Popen[str]:
        words = [f"{name}={program.replace('NAME', name)}" for name, program in programs.items()]
        running = subprocess.Popen(
            [sys.executable, "-m", "tests.portal.up.small_stack", str(tmp_path), *words],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(running)
        for name, program in programs.items():
            if program is not FAILING:
                until((tmp_path / f"{name}.well").exists, what=f"{name} is well")
        return running

    yield start
    for one in started:
        for pid in [one.pid, *descendants(one.pid)]:
            if one.poll() is None:
                os.kill(pid, signal.SIGKILL)
        one.communicate()


def pid_in(file: Path) -> int:
    """The number that a part writes there sooner or later."""
    return int(until(lambda: file.exists() and file.read_text(), what=f"a number in {file.name}"))


def pid_of(folder: Path, name: str) -> int:
    return pid_in(folder / f"{name}.pid")


def gone(pid: int) -> bool:
    """Ended; a zombie holds nothing and counts as gone."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state in "ZX"


def test_a_killed_part_is_started_again_and_that_is_shown(small, tmp_path):
    stack = small(one=PLAIN)
    first = pid_of(tmp_path, "one")
    os.kill(first, signal.SIGKILL)
    until(lambda: pid_of(tmp_path, "one") != first, what="a new process")
    stack.terminate()
    said, _ = stack.communicate(timeout=30)
    assert "one: restarting (killed by SIGKILL; again in 0.5 s)" in said


def test_the_pause_before_a_new_start_grows_to_half_a_minute():
    assert [delay(n) for n in (1, 2, 3, 7, 8, 100)] == [0.5, 1, 2, 30, 30, 30]


def test_a_part_that_fails_at_once_is_tried_again_after_growing_pauses(small):
    stack = small(bad=FAILING)
    said = []
    for line in stack.stdout:
        said.append(line)
        if "again in 2 s" in line:
            break
    assert [n for n in ("0.5", "1", "2") if any(f"exit 3; again in {n} s" in s for s in said)] == [
        "0.5",
        "1",
        "2",
    ]


def test_parts_end_in_the_order_given_and_nothing_is_left(small, tmp_path):
    stack = small(door=PLAIN, work=PLAIN, ground=PLAIN)
    pids = [pid_of(tmp_path, name) for name in ("door", "work", "ground")]
    stack.terminate()
    assert stack.wait(30) == 0
    assert (tmp_path / "ends").read_text().split() == ["door", "work", "ground"]
    assert all(gone(pid) for pid in pids)


def test_what_left_its_parents_session_is_adopted_and_ended_at_the_end(small, tmp_path):
    stack = small(one=PARENT)
    away = pid_in(tmp_path / "away")
    first = pid_of(tmp_path, "one")
    os.kill(first, signal.SIGKILL)
    until(lambda: pid_of(tmp_path, "one") != first, what="a new process")
    assert not gone(away), "it outlives its parent"
    stack.send_signal(signal.SIGINT)
    assert stack.wait(30) == 0
    assert gone(away)


def test_a_second_request_to_end_does_not_wait_for_the_stubborn(small, tmp_path):
    stack = small(one=STUBBORN, two=PLAIN)
    stack.send_signal(signal.SIGINT)
    until((tmp_path / "ends").exists, what="the first request reached the part")
    stack.send_signal(signal.SIGINT)
    assert stack.wait(20) == 0, "its grace would have been a minute"
    assert gone(pid_of(tmp_path, "one"))


def test_parts_do_not_outlive_a_supervisor_that_was_killed(small, tmp_path):
    stack = small(one=PLAIN, two=PLAIN)
    pids = [pid_of(tmp_path, name) for name in ("one", "two")]
    stack.kill()
    stack.wait(10)
    until(lambda: all(gone(pid) for pid in pids), what="both parts are gone")

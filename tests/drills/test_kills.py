"""Parts of the stack die while ten jobs run; no job notices, and the books are right again."""

import os
import signal
from pathlib import Path

import pytest

from tests.drills.jobs import Jobs
from tests.drills.looker import Looker
from tests.waiting import until

pytestmark = [pytest.mark.flow, pytest.mark.xdist_group("stack")]


def killed(stack, words):
    """SIGKILL to the parents among the processes that these words name; they are gone."""
    pids = stack.pids(words)
    assert pids, words
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    until(lambda: not set(pids) & set(stack.pids(words)), what=f"{words} is gone")


def test_agent_worker_valkey_and_postgresql_are_killed_in_turn_while_ten_jobs_run(house):
    """And the page that somebody looks at all the time tells the truth again by itself."""
    stack = house.stack
    jobs = Jobs.running(house, "kill")
    topics = [f"workload:{uid}" for uid in jobs.uids]
    with Looker(house, "member", topics) as looker:
        until(lambda: {looker.state(t) for t in topics} == {"running"}, what="the page shows all")
        for words, ending in (
            ("nodeagent --portal", (0, 1, 2)),
            ("celery -A portal worker", (3, 4)),
            ("valkey-server", (5, 6)),
            ("bin/postgres -D", (7, 8, 9)),
        ):
            killed(stack, words)
            jobs.let_go(*ending)
            house.ended([jobs.uids[number] for number in ending], seconds=90)
            stack.healthy_again(seconds=90)
        jobs.all_ended_right()
        jobs.books_are_empty()
        truth = ["succeeded"] + ["failed"] * 9
        until(lambda: [looker.state(t) for t in topics] == truth, what="the page tells the truth")
        assert 'data-state="failed"' in looker.page(f"/workloads/{jobs.uids[9]}/")


def test_portal_workers_and_database_are_down_for_ninety_seconds_and_no_job_is_signalled(house):
    stack = house.stack
    jobs = Jobs.running(house, "dark")
    down = ("uvicorn", "celery -A portal", "valkey-server", "bin/postgres -D")
    os.kill(stack.process.pid, signal.SIGSTOP)
    try:
        for words in down:
            for pid in stack.pids(words):
                os.kill(pid, signal.SIGKILL)
        before = [jobs.ticked(number) for number in range(10)]
        jobs.let_go(0, 1, 2, 3)
        ticks = 90 / 0.5  # a job comes round every half second at most
        until(
            lambda: all(jobs.ticked(n) - before[n] >= ticks for n in range(4, 10)),
            seconds=180,
            what="the others ran on in the dark",
        )
        assert stack.health()["code"] == 0
        assert all(jobs.read(number, "signals") == [] for number in range(10))
    finally:
        os.kill(stack.process.pid, signal.SIGCONT)
    stack.healthy_again(seconds=90)
    house.all_in_state(jobs.uids[4:], "running", seconds=60)
    jobs.let_go(*range(4, 10))
    jobs.all_ended_right()
    jobs.books_are_empty()
    assert not Path(f"/proc/{stack.process.pid}/status").read_text().count("zombie")

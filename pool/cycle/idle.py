"""Notebooks that nobody uses: look at all that run, judge each, warn or reclaim."""

from django.conf import settings
from django.db import connection

from nodeagent.protocol.notebooks import Stage
from pool.clock import now
from pool.cycle.round import only_one
from pool.cycle.silence import boottime, this_boot
from pool.lifecycle.workloads import WorkloadState
from pool.locks import IDLE
from pool.models.notebooks.notebooks import Notebook
from pool.selectors.notebooks.rules import rules_of
from pool.selectors.notebooks.signals import Read, readings_of, signals_of, sizes_of
from pool.services.notebooks.judged import Clock, notebook_judged
from pool.sweeps import each


def idle() -> int | None:
    """One sweep; how many were judged. None when another process is at it."""
    with only_one(IDLE) as mine:
        return sweep(clock_now()) if mine else None


def sweep(clock: Clock) -> int:
    """Judge every notebook that is ready and runs. One that fails never keeps the others."""
    rows = list(
        Notebook.objects.filter(workload__state=WorkloadState.RUNNING, stage=Stage.READY)
        .exclude(attempt=None)
        .select_related("workload__project", "workload__template_version")
        .order_by("workload_id")
    )
    attempts = [row.attempt_id for row in rows if row.attempt_id is not None]
    if not attempts:
        return 0
    reads = readings_of(attempts=attempts, now=clock.at)
    sizes = sizes_of(attempts=attempts)
    rules = rules_of(workloads=[row.workload for row in rows])

    def act(row: Notebook) -> bool:
        key = row.attempt_id or 0
        signals = signals_of(row, reads.get(key, Read()), sizes.get(key, (0, 0)), clock.at)
        rule = rules[row.workload_id]
        notebook_judged(notebook=row, signals=signals, rule=rule, clock=clock)
        return True

    return each(rows, act, of="idle")


def clock_now() -> Clock:
    """This moment on the pool's clock and on this machine's steady one."""
    return Clock(at=now(), boot=this_boot(), boottime=boottime(), shift=_shift())


def _shift() -> float:
    """How far the pool's clock stands from the database's; nothing where it cannot be moved."""
    if not getattr(settings, "CLOCK_MOVABLE", False):
        return 0.0
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM pool_now() - clock_timestamp())")
        return float(cursor.fetchone()[0])

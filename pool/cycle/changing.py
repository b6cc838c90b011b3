"""Look, decide, write: apply one change to waiting work if it still starts it, on a fresh look."""

from copy import copy
from dataclasses import replace

from django.db import OperationalError, connection, transaction

from pool.clock import now
from pool.cycle.commit import words
from pool.cycle.demand import waiting_of
from pool.cycle.snapshot import take
from pool.errors import HelpsNoMore, Stale
from pool.events import Actor
from pool.lifecycle.workloads import WorkloadState
from pool.locks import ROUND
from pool.models.workloads import Workload
from pool.scheduling.model import Snapshot
from pool.scheduling.plan import plan
from pool.selectors.telemetry.bandwidth import learned_heavy
from pool.services.moves import locked
from pool.services.queueing.change import changes_barred, workload_as_changed, workload_changed

PATIENCE_MS = 5000
"""So long a click waits for a round that is being made."""


@transaction.atomic
def change_apply(*, workload: Workload, change: str, amount: int | None, actor: Actor) -> Workload:
    """Change work that waits so that the next round starts it; nothing is written otherwise.

    It is planned again on the pool as it is now, while no round can be made.

    Raises:
        Invalid: there is no such change of this work.
        Stale: it does not wait any more, it would start by itself, or a round takes long.
        HelpsNoMore: with the change it would still wait, or take another's start.
    """
    _between_rounds()
    row = _waiting(workload)
    if change in changes_barred(row):
        raise HelpsNoMore(why="barred")
    after = workload_as_changed(workload=copy(row), change=change, amount=amount or 0)
    snapshot = take(now())
    _judge(snapshot, row, after)
    return workload_changed(before=row, after=after, change=change, amount=amount or 0, actor=actor)


def _between_rounds() -> None:
    """Keep rounds out until the transaction ends.

    Raises:
        Stale: a round has not ended in time.
    """
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{PATIENCE_MS}ms"])
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [ROUND])
            cursor.execute("SET LOCAL lock_timeout TO DEFAULT")
    except OperationalError as late:
        raise Stale from late


def _waiting(workload: Workload) -> Workload:
    rows = Workload.objects.filter(pk=workload.pk)
    related = ("project__fair_use", "project__organization__fair_use", "template_version", "lease")
    found = locked(rows.select_related(*related).annotate(learned_heavy=learned_heavy()))
    if not found or found[0].state != WorkloadState.QUEUED:
        raise Stale
    return found[0]


def _judge(snapshot: Snapshot, before: Workload, after: Workload) -> None:
    """Pass when the change, and nothing else, starts the work and costs nobody a start."""
    starts = {placed.workload for placed in plan(snapshot).placed}
    if before.pk in starts:
        raise Stale
    known = next((one for one in snapshot.waiting if one.id == before.pk), None)
    if known is None:
        raise Stale
    changed = replace(
        waiting_of(after, known.held_back),
        spent=known.spent,
        short=known.short,
        over=known.over,
    )
    waiting = tuple(changed if one.id == before.pk else one for one in snapshot.waiting)
    made = plan(replace(snapshot, waiting=waiting))
    again = {placed.workload for placed in made.placed}
    if before.pk not in again:
        raise HelpsNoMore(why="waits", waits=words(made.waits[before.pk]))
    if not starts <= again:
        raise HelpsNoMore(why="others", others=len(starts - again))

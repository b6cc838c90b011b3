"""One scheduling pass after another, until nobody wants one: look, decide, write."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import structlog
from django.db import connection
from django.db.models import F
from django.db.models.functions import Greatest

from pool.clock import now
from pool.cycle import lending
from pool.cycle.carried.memory import Memory
from pool.cycle.commit import Done, commit
from pool.cycle.restored import unheard
from pool.cycle.snapshot import take
from pool.cycle.turns import settle
from pool.lifecycle.workloads import WorkloadState
from pool.locks import ROUND
from pool.models.installation import Installation
from pool.models.rounds import Round
from pool.models.workloads import Workload
from pool.scheduling.model import Reason
from pool.scheduling.outlook.expected import expect
from pool.scheduling.plan import plan_board
from pool.services.queueing.rounds import round_kept

log = structlog.get_logger(__name__)

DEBOUNCE_S = 0.05
"""Two rounds of one holder start at least so far apart."""

MOST_ROUNDS = 200
"""A holder that has made so many rounds in a row leaves the rest to the next task."""


MEMORY = Memory()
"""What this process's rounds know of the look before; used under the lock of the rounds only."""

MOST_REFUSED = 100
"""A round is planned again at most until so much work was refused by its limits."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """What one run of the task did."""

    rounds: int = 0
    opened: int = 0
    stale: int = 0


@contextmanager
def only_one(key: int) -> Iterator[bool]:
    """Whether this connection got the advisory lock; it is given back in any case."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [key])
        got = bool(cursor.fetchone()[0])
    try:
        yield got
    finally:
        if got:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [key])


def run_rounds(*, anyway: bool = True) -> Rounds:
    """Make rounds while anybody wants one. Another process at it? Then it will see the wish.

    `anyway` makes one round though nobody wants it when work waits: time alone may open a place.
    The wish is read again after the lock was given back: a wish that came in between is either
    seen here, or its own task gets the lock.
    """
    total = Rounds()
    while total.rounds < MOST_ROUNDS and not unheard():
        with only_one(ROUND) as mine:
            if not mine:
                break
            total = _while_wanted(total, anyway=anyway and not total.rounds)
        if not _wanted()[0]:
            break
    return total


def _while_wanted(total: Rounds, *, anyway: bool) -> Rounds:
    """Rounds until none is wanted; a stale decision gets another round, idle repeats do not."""
    began = 0.0
    while total.rounds < MOST_ROUNDS:
        wanted, number = _wanted()
        if not wanted and not (anyway and _anybody_waits()):
            break
        anyway = False
        wait = DEBOUNCE_S - (time.monotonic() - began)
        if wait > 0:
            time.sleep(wait)
        began = time.monotonic()
        done, full = _one()
        total = Rounds(total.rounds + 1, total.opened + done.opened, total.stale + done.stale)
        if not full and not (done.stale and done.opened + done.carving):
            Installation.objects.filter(pk=1).update(round_done=Greatest(F("round_done"), number))
    return total


def _one() -> tuple[Done, bool]:
    """One round; whether its limit left work that could start at once.

    Work that a limit refused which the planner does not count keeps no room from others: the
    round is planned again without it.
    """
    settle()
    done, full = _pass(frozenset())
    over, total = done.over, done
    while done.over and len(over) <= MOST_REFUSED:
        done, full = _pass(over)
        over |= done.over
        total = Done(
            total.opened + done.opened,
            total.carving + done.carving,
            total.stale,
            evicted=total.evicted + done.evicted,
        )
    return total, full


def _pass(refused: frozenset[int]) -> tuple[Done, bool]:
    """Look, decide, write, with some of the waiting work held back."""
    clocks = [time.monotonic()]
    snapshot = take(now(), refused=refused, memory=MEMORY)
    clocks.append(time.monotonic())
    board = MEMORY.board(snapshot)
    made = expect(snapshot, plan_board(board), board)
    clocks.append(time.monotonic())
    done = commit(made, share_milli=snapshot.rules.preempt_share_milli)
    lending.store(snapshot.running)
    clocks.append(time.monotonic())
    taken, planned, committed = (round((b - a) * 1e6) for a, b in pairwise(clocks))
    kept = Round(
        at=now(),
        taken_us=taken,
        planned_us=planned,
        committed_us=committed,
        cards=len(snapshot.cards),
        waiting=len(snapshot.waiting),
        placed=done.opened,
        carving=done.carving,
        preempted=done.evicted,
        stale=done.stale,
    )
    round_kept(made=kept)
    if made.placed or made.evictions:
        log.info(
            "round.done",
            opened=done.opened,
            carving=done.carving,
            evicted=done.evicted,
            stale=done.stale,
            waits=len(made.waits),
            took_us=[taken, planned, committed],
        )
    return done, any(why.reason is Reason.ROUND_FULL for why in made.waits.values())


def _wanted() -> tuple[bool, int]:
    """Whether a round is wanted, and the number of the newest wish."""
    wanted, done = Installation.objects.values_list("round_wanted", "round_done").get(pk=1)
    return wanted > done, wanted


def _anybody_waits() -> bool:
    """Whether there is anything that a round could start."""
    return Workload.objects.filter(state=WorkloadState.QUEUED).exists()

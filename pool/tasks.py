"""Celery's door to the cycle: thin. Each may run twice, late or beside itself without harm."""

from celery import shared_task
from django.db import OperationalError

from pool.cycle import audit as audits
from pool.cycle import departures as departing
from pool.cycle import expire as expiry
from pool.cycle import housekeep as housekeeping
from pool.cycle import idle as idling
from pool.cycle import impossible as possibility
from pool.cycle import recurring as recurrence
from pool.cycle import watch as watching
from pool.cycle.alerting.turn import alerting_turn
from pool.cycle.quotatree import targets
from pool.cycle.round import run_rounds
from pool.cycle.whatif.run import studies_due
from pool.services.telemetry.rollups import rollups_due
from pool.wake import Wake

AGAIN = (OperationalError,)


@shared_task(name=Wake.PLACEMENT_ROUND.value, autoretry_for=AGAIN, max_retries=3)
def placement_round(anyway: bool = False) -> None:
    """Give waiting work its place until no round is wanted; beat asks for one `anyway`."""
    run_rounds(anyway=anyway)


@shared_task(name=Wake.WATCH.value)
def watch() -> None:
    """End what lasts too long; beat comes again in a second."""
    watching.watch()


@shared_task(name=Wake.EXPIRE.value)
def expire() -> None:
    """Bring about what time alone brings about."""
    expiry.expire()


@shared_task(name="pool.recurring")
def recurring() -> None:
    """Submit what is due by its schedule; beat comes again in five seconds."""
    recurrence.recurring()


@shared_task(name="pool.quota_plans")
def quota_plans() -> None:
    """Carry out planned changes of quotas; beat comes again in five seconds."""
    targets.plans_due()


@shared_task(name="pool.quota_books")
def quota_books() -> None:
    """Count months, find drift, cut back what stands unused; beat comes again in a minute."""
    targets.books_tended()


@shared_task(name="pool.impossible")
def impossible() -> None:
    """Flag waiting work that no card can hold any more; beat comes again in half a minute."""
    possibility.impossible()


@shared_task(name="pool.idle")
def idle() -> None:
    """Judge notebooks, warn and reclaim; beat comes again in five seconds."""
    idling.idle()


@shared_task(name="pool.alerts")
def alerts() -> None:
    """Look at alert rules, hand words to their routes; beat comes again in five seconds."""
    alerting_turn()


@shared_task(name="pool.housekeep")
def housekeep() -> None:
    """Make tomorrow's partitions, drop what has been kept long enough."""
    housekeeping.housekeep()


@shared_task(name="pool.audit")
def audit() -> None:
    """Judge the books; people are told of every broken promise."""
    audits.audit()


@shared_task(name="pool.departures")
def departures() -> None:
    """Wind down who left and what closes; beat comes again in ten seconds."""
    departing.departures()


@shared_task(name="pool.rollups")
def rollups() -> None:
    """Condense readings that have come; beat comes again in twenty seconds."""
    rollups_due()


@shared_task(name=Wake.STUDIES.value)
def studies() -> None:
    """Replay what-ifs, one after the other, in a queue of their own; beat comes again."""
    studies_due()

"""One turn of alerting: rules are looked at, what is over is ended, words are handed out."""

from pool.clock import now
from pool.cycle.alerting.evaluate import rules_looked
from pool.cycle.alerting.stale import stale_ended
from pool.services.alerting.tell import alerts_told
from pool.services.alerting.ways import ways_there


def alerting_turn() -> int:
    """How many words were handed to their routes. Safe to repeat, or beside itself."""
    rules_looked()
    stale_ended()
    ways_there()
    return alerts_told(at=now())

"""One turn of alerting: rules are looked at, what is over is ended, words are handed out."""

from pool.clock import now
from pool.cycle.alerting.evaluate import rules_looked
from pool.cycle.alerting.stale import stale_ended
from pool.services.alerting.tell import alerts_told
from pool.services.alerting.ways import ways_there
from pool.sweeps import part


def alerting_turn() -> int:
    """How many words were handed to their routes. Safe to repeat, or beside itself.

    What goes wrong in one part keeps no word of another in the house.
    """
    part(rules_looked, of="alerting.rules", nothing=0)
    part(stale_ended, of="alerting.stale", nothing=0)
    part(ways_there, of="alerting.ways", nothing=False)
    return part(lambda: alerts_told(at=now()), of="alerting.told", nothing=0)

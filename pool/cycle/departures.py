"""People who left and projects that close: what still runs of them ends in time."""

from dataclasses import dataclass

from pool.cycle.round import only_one
from pool.locks import DEPARTURES
from pool.services.people.closing import closings_due
from pool.services.people.leavers import leavers_due
from pool.sweeps import part


@dataclass(frozen=True, slots=True)
class Gone:
    """What one sweep finished: people wound down, projects closed or moved."""

    people: int = 0
    projects: int = 0


def departures() -> Gone | None:
    """One sweep; None when another process is at it."""
    with only_one(DEPARTURES) as mine:
        if not mine:
            return None
        return Gone(
            part(leavers_due, of="leavers", nothing=0),
            part(closings_due, of="closings", nothing=0),
        )

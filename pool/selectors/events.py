"""Reading the log after a cursor, without ever passing over an event that commits late."""

from collections.abc import Collection
from dataclasses import dataclass

from django.db import connection

from pool.lifecycle.events import EventKind
from pool.models.events import Event

_AFTER = """
SELECT epoch, xact, id, kind, subject FROM pool_event
WHERE (epoch, xact, id) > (%s, %s, %s)
  AND (xact < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
       OR epoch < (SELECT epoch FROM pool_installation))
ORDER BY epoch, xact, id
LIMIT %s
"""
_END = """
SELECT epoch, xact, id FROM pool_event
WHERE xact < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
   OR epoch < (SELECT epoch FROM pool_installation)
ORDER BY epoch DESC, xact DESC, id DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A place in the log: everything up to and with it has been read."""

    epoch: int = 0
    xact: int = 0
    event: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    """The next stretch of the log: the subjects of the wanted kinds in order, and where it ends.

    `numbers` are the ids of all its events, wanted or not.
    """

    subjects: tuple[tuple[EventKind, str], ...]
    place: Place
    full: bool
    numbers: tuple[int, ...] = ()


def log_end() -> Place:
    """The place after which everything is still to come, for a reader that begins now."""
    with connection.cursor() as cursor:
        cursor.execute(_END)
        row = cursor.fetchone()
    return Place(*row) if row else Place()


def events_after(*, place: Place, kinds: Collection[EventKind], limit: int = 2000) -> Page:
    """At most `limit` events after `place`, of which only the wanted kinds are handed on.

    Nothing is read that a transaction still open could precede: ids are not given in the order
    of commits. Events of an earlier epoch are all there: raising it waits for whoever still writes,
    and the transaction ids of a restored cluster start again from below. `full` says that more may
    be there.
    """
    with connection.cursor() as cursor:
        cursor.execute(_AFTER, [place.epoch, place.xact, place.event, limit])
        rows = cursor.fetchall()
    wanted = tuple((EventKind(kind), subject) for *_, kind, subject in rows if kind in kinds)
    end = Place(*rows[-1][:3]) if rows else place
    return Page(wanted, end, len(rows) == limit, tuple(row[2] for row in rows))


def event_newest() -> int:
    """The number of the newest event that can be read; 0 in an empty log. One query."""
    return Event.objects.order_by("-id").values_list("id", flat=True).first() or 0

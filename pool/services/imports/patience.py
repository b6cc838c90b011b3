"""How long loading a file may take, and how long it waits for what others hold."""

from datetime import timedelta
from types import TracebackType

from django.db import OperationalError, connection
from django.utils.translation import gettext as _

from pool.clock import now

LONGEST = timedelta(minutes=1)
"""A file that takes longer is to be split: what it has touched is held from others meanwhile."""

LOCKS_S = 5
"""So long it waits for a row, or for a round that is being made."""


class Busy(Exception):
    """Loading gave up: something was held, or it took too long. The text is for people."""


class Patience:
    """Bounds the waiting of what is inside; the transaction around it is taken back by `Busy`."""

    def __init__(self) -> None:
        self._until = now() + LONGEST

    def __enter__(self) -> "Patience":
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{LOCKS_S}s"])
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        raised: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Give back the usual waiting.

        Raises:
            Busy: the database gave up on a lock, or on a deadlock.
        """
        if isinstance(raised, OperationalError):
            raise Busy(_("Others use these rows. Nothing is loaded: try again.")) from raised
        if raised is None:
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout TO DEFAULT")

    def check(self) -> None:
        """Pass while there is time.

        Raises:
            Busy: there is none.
        """
        if now() > self._until:
            raise Busy(_("This takes too long. Nothing is loaded: split the file."))

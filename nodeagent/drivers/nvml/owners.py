"""Names of accounts: a directory is asked apart from the cards, whose answers never wait for it."""

import contextlib
import pwd
import threading
from dataclasses import dataclass, field

from nodeagent import clock

PATIENCE_S = 0.5
"""How long one look at a card waits for a name in all; a directory that is slower names it later.
"""

KEPT_S = 600.0
"""After so long a name is asked for again; the old one serves until the answer is there."""


@dataclass
class _Asked:
    since: float
    thread: threading.Thread


@dataclass
class Owners:
    """What is known of accounts. One question is open at a time, however many cards ask."""

    _known: dict[int, tuple[str, float]] = field(default_factory=dict)
    _open: _Asked | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, uid: int) -> str:
        """The account's name; its number while no name of it is known."""
        found = self._known.get(uid)
        if found is None or clock.boottime() - found[1] > KEPT_S:
            self._ask(uid)
        return self._known.get(uid, (f"account {uid}", 0.0))[0]

    def _ask(self, uid: int) -> None:
        with self._lock:
            if self._open is None or not self._open.thread.is_alive():
                # A daemon: a directory that never answers does not keep the agent from its end.
                thread = threading.Thread(target=self._learn, args=(uid,), daemon=True)
                self._open = _Asked(clock.boottime(), thread)
                thread.start()
            waited = self._open
        waited.thread.join(max(waited.since + PATIENCE_S - clock.boottime(), 0.0))

    def _learn(self, uid: int) -> None:
        name = f"account {uid}"
        with contextlib.suppress(KeyError, OSError):
            name = pwd.getpwuid(uid).pw_name
        self._known[uid] = (name, clock.boottime())


OWNERS = Owners()
"""Of this machine."""

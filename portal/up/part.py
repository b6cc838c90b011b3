"""One part of the stack: what to run, how to see that it is well, how to end it."""

import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from portal.up.account import Account


class Phase(StrEnum):
    """Where a part stands, as the progress list shows it."""

    WAITING = "waiting"
    STARTING = "starting"
    HEALTHY = "healthy"
    DONE = "done"
    UNWELL = "not answering"
    RESTARTING = "restarting"
    STOPPED = "stopped"


@dataclass(frozen=True)
class Part:
    """A process the supervisor keeps alive.

    `well` answers whether it does its work now. `before` runs before each start (what a dead one
    left is cleared there). `death` is what the kernel sends it when the supervisor dies.
    `grace` is how long, in seconds, its end may take after `farewell`.
    """

    name: str
    command: list[str]
    well: Callable[[], bool]
    environment: Mapping[str, str] = field(default_factory=dict)
    own_environment: bool = False
    account: Account = field(default_factory=Account)
    before: Callable[[], None] = lambda: None
    farewell: signal.Signals = signal.SIGTERM
    death: signal.Signals = signal.SIGKILL
    grace: float = 10.0
    keep_open: tuple[int, ...] = ()
    umask: int = 0o077

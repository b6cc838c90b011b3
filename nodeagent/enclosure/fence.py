"""The device fence: which device files the processes of a control group may open."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from nodeagent.enclosure import program

ANY = -1


@dataclass(frozen=True)
class Device:
    """A character device by its numbers; a minor of `ANY` is every one of that major."""

    major: int
    minor: int

    def rule(self) -> str:
        """The line that the devices controller of version 1 reads."""
        minor = "*" if self.minor == ANY else str(self.minor)
        return f"c {self.major}:{minor} rwm"


PLAIN = (
    Device(1, 3),
    Device(1, 5),
    Device(1, 7),
    Device(1, 8),
    Device(1, 9),
    Device(5, 0),
    Device(5, 2),
    Device(136, ANY),
)
"""null, zero, full, random, urandom, tty, ptmx and terminals: what every program may expect."""


def device(path: str) -> Device | None:
    """The device behind a file; None when there is none, as on a machine without that driver."""
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    if not stat.S_ISCHR(found.st_mode):
        return None
    return Device(os.major(found.st_rdev), os.minor(found.st_rdev))


def close_by_list(folder: Path, allowed: tuple[Device, ...]) -> None:
    """Version 1: deny all, then allow these.

    Raises:
        OSError: the kernel refuses.
    """
    (folder / "devices.deny").write_text("a", encoding="ascii")
    for one in allowed:
        (folder / "devices.allow").write_text(one.rule(), encoding="ascii")


def close_by_program(folder: Path, allowed: tuple[Device, ...]) -> None:
    """Version 2: attach a program that the kernel asks at every open; it lives with the group.

    Raises:
        OSError: the kernel refuses.
    """
    program.attach(
        folder, [(one.major, None if one.minor == ANY else one.minor) for one in allowed]
    )

"""Whose work is on a card and its instances: by (card, GPU instance, compute instance)."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pynvml

from nodeagent.drivers.nvml.strangers import strangers

MIB = 1024 * 1024
NO_INSTANCE = 0xFFFFFFFF
"""What the library says of a process on a card that is not cut."""


@dataclass(frozen=True)
class Occupant:
    """One process on a card: MiB of card memory, None when not told, and the instance it is in.

    `instance` and `compute` are the library's own numbers; None on a card that is not cut, and
    where the driver does not tell them.
    """

    pid: int
    memory_mib: float | None
    instance: int | None = None
    compute: int | None = None


def occupants(handle: Any) -> tuple[Occupant, ...]:
    """Everybody's processes on a card. Raises NVMLError."""
    rows = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
    return tuple(
        Occupant(
            one.pid,
            _mib(getattr(one, "usedGpuMemory", None)),
            _told(getattr(one, "gpuInstanceId", None)),
            _told(getattr(one, "computeInstanceId", None)),
        )
        for one in rows
    )


def _mib(size: int | None) -> float | None:
    return None if size is None else size / MIB


def _told(number: int | None) -> int | None:
    return None if number is None or number == NO_INSTANCE else int(number)


def inside(rows: Iterable[Occupant], instance: int, compute: int) -> list[Occupant]:
    """Those in one compute instance; one that tells its GPU instance alone is in all of it."""
    return [one for one in rows if one.instance == instance and one.compute in (None, compute)]


def foreign(
    rows: tuple[Occupant, ...], slices: Mapping[int, str], hosts: Container[int] = frozenset()
) -> tuple[str, ...]:
    """Processes that the pool did not start, with the slice or the instance that each is in.

    `slices` names the slices of the card by the number of their instance; `hosts` are daemons that
    serve the pool's own work.
    """
    if not strangers([one.pid for one in rows], hosts):
        return ()
    places = dict.fromkeys(one.instance for one in rows)
    found = []
    for place in places:
        there = strangers([one.pid for one in rows if one.instance == place], hosts)
        found += [name + _where(place, slices) for name in there]
    return tuple(found)


def _where(instance: int | None, slices: Mapping[int, str]) -> str:
    if instance is None:
        return ""
    return f" in slice {slices[instance]}" if instance in slices else f" in instance {instance}"

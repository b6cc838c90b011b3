"""MIG through the library: its profiles and places read live, instances made and removed by place.

An instance is known by (card, profile id, start): its numbers and its UUID change when it is made
anew. Nothing here remembers anything, so every call may be repeated.
"""

import re
from collections.abc import Iterator
from ctypes import byref, c_uint
from dataclasses import dataclass
from typing import Any

import pynvml

from nodeagent.drivers.base import Busy, DriverError, NotSupported, Refused
from nodeagent.drivers.nvml import read
from nodeagent.protocol.inventory import Geometry, Profile
from nodeagent.protocol.vocabulary import Isolation, Mode

HOPPER = 9
"""Compute capability from which the mode changes without a reset of the card."""

WITHOUT = (pynvml.NVML_ERROR_NOT_SUPPORTED, pynvml.NVML_ERROR_FUNCTION_NOT_FOUND)
"""What a card or a driver without MIG answers."""

NO_ROOM = (pynvml.NVML_ERROR_INSUFFICIENT_RESOURCES, pynvml.NVML_ERROR_INVALID_ARGUMENT)


@dataclass(frozen=True)
class Instance:
    """A GPU instance as it lies on the card. `device` is "" while it has no compute instance.

    `number` is the driver's own for it, and `compute` that of its compute instance: good for
    counters, processes and events, never for its identity.
    """

    profile_id: int
    start: int
    size: int
    device: str
    handle: Any
    number: int = -1
    compute: int = 0


def refusal(failure: pynvml.NVMLError) -> DriverError:
    """What a failed MIG call means: busy cards may be asked again, full ones not."""
    if failure.value == pynvml.NVML_ERROR_IN_USE:
        return Busy(str(failure))
    if failure.value in NO_ROOM:
        return Refused(str(failure))
    return read.refusal(failure)


def geometry(handle: Any) -> Geometry | None:
    """How this card, with this driver, can be cut; None where it cannot and is handed out whole.

    Raises:
        NVMLError: the card does not tell its mode.
        NotSupported: it is in MIG mode and does not tell how it is cut.
    """
    try:
        current = mode(handle)
    except pynvml.NVMLError as failure:
        if failure.value in WITHOUT:
            return None
        raise
    capability = read.known(lambda: pynvml.nvmlDeviceGetCudaComputeCapability(handle))
    profiles = tuple(_profiles(handle))
    if capability is None or not profiles:
        if current == Mode.MIG:
            raise NotSupported("the card is in MIG mode and does not tell its profiles")
        return None
    return Geometry(
        Mode.MIG,
        max(max(one.starts) + one.size for one in profiles),
        max(one.compute for one in profiles),
        profiles,
        Isolation.HARDWARE,
        capability[0] < HOPPER,
    )


def _profiles(handle: Any) -> Iterator[Profile]:
    for kind in range(pynvml.NVML_GPU_INSTANCE_PROFILE_COUNT):
        info: Any = read.known(
            lambda k=kind: pynvml.nvmlDeviceGetGpuInstanceProfileInfo(handle, k)  # type: ignore[misc]
        )
        places = None if info is None else read.known(lambda i=info: _places(handle, i.id))  # type: ignore[misc]
        if not places:
            continue
        name = read.text(info.name).removeprefix("MIG ")
        said = re.search(r"\.(\d+)gb", name)
        if said is not None:
            yield Profile(
                name,
                str(info.id),
                info.sliceCount,
                places[0][1],
                info.memorySizeMB,
                int(said[1]),
                tuple(sorted(start for start, _ in places)),
                info.instanceCount,
                info.multiprocessorCount,
                "+me" in name,
                info.encoderCount,
                info.decoderCount,
            )


def _places(handle: Any, profile_id: int) -> list[tuple[int, int]]:
    count = c_uint(0)
    pynvml.nvmlDeviceGetGpuInstancePossiblePlacements(handle, profile_id, None, byref(count))
    rows = (pynvml.c_nvmlGpuInstancePlacement_t * max(count.value, 1))()
    pynvml.nvmlDeviceGetGpuInstancePossiblePlacements(handle, profile_id, rows, byref(count))
    return [(row.start, row.size) for row in rows[: count.value]]


def mode(handle: Any) -> Mode:
    """The mode in force, whatever is pending. Raises NVMLError."""
    current, _ = pynvml.nvmlDeviceGetMigMode(handle)
    return Mode.MIG if current == pynvml.NVML_DEVICE_MIG_ENABLE else Mode.WHOLE


def switch(handle: Any, wanted: Mode, geometry: Geometry) -> None:
    """Return only when the mode is in force. An occupied card is not asked, and none is reset.

    Raises:
        NotSupported, Busy, Lost, Refused
    """
    try:
        if mode(handle) == wanted:
            return
        if wanted == Mode.WHOLE and any(True for _ in instances(handle, geometry)):
            raise Busy("the card holds instances")
        if pynvml.nvmlDeviceGetComputeRunningProcesses(handle):
            raise Busy("processes run on the card")
        status = pynvml.nvmlDeviceSetMigMode(handle, int(wanted == Mode.MIG))
        if status == pynvml.NVML_ERROR_RESET_REQUIRED:
            raise Refused("the mode comes into force when an administrator resets the card")
        if status == pynvml.NVML_ERROR_IN_USE:
            raise Busy("a program holds the card open")
        if status != pynvml.NVML_SUCCESS or mode(handle) != wanted:
            raise Refused(f"the mode is not in force; the library answered {status}")
    except pynvml.NVMLError as failure:
        raise refusal(failure) from failure


def instances(handle: Any, geometry: Geometry) -> Iterator[Instance]:
    """What lies on a card in MIG mode, whoever made it. Raises NVMLError."""
    for profile in geometry.profiles:
        rows = (pynvml.c_nvmlGpuInstance_t * max(profile.max_instances, 1))()
        count = c_uint(profile.max_instances)
        pynvml.nvmlDeviceGetGpuInstances(handle, int(profile.profile_id), rows, byref(count))
        for gpu in rows[: count.value]:
            info = pynvml.nvmlGpuInstanceGetInfo(gpu)
            parts = list(_compute(gpu))
            device = _device(parts[0]) if parts else ""
            compute = pynvml.nvmlComputeInstanceGetInfo(parts[0]).id if parts else 0
            place = info.placement
            yield Instance(info.profileId, place.start, place.size, device, gpu, info.id, compute)


def at(handle: Any, geometry: Geometry, profile_id: int, start: int) -> Instance | None:
    """The instance at exactly this place. Raises NVMLError."""
    for one in instances(handle, geometry):
        if (one.profile_id, one.start) == (profile_id, start):
            return one
    return None


def make(handle: Any, profile: Profile, start: int) -> Any:
    """Take the place. The instance cannot be used before `complete`. Raises NVMLError."""
    place = pynvml.c_nvmlGpuInstancePlacement_t(start, profile.size)
    return pynvml.nvmlDeviceCreateGpuInstanceWithPlacement(
        handle, int(profile.profile_id), byref(place)
    )


def complete(gpu: Any, profile: Profile) -> str:
    """Give the instance its one compute instance; returns the UUID that jobs are told.

    Raises:
        NVMLError
        NotSupported: no compute instance takes all of it.
    """
    parts = list(_compute(gpu))
    if parts:
        return _device(parts[0])
    for kind in _compute_profiles(gpu):
        if kind.sliceCount == profile.compute:
            return _device(pynvml.nvmlGpuInstanceCreateComputeInstance(gpu, kind.id))
    raise NotSupported(f"no compute instance takes all of {profile.name}")


def remove(one: Instance) -> None:
    """Compute instances first, then the instance itself; what is gone already is passed over.

    Raises:
        Busy: something uses it; what was removed stays removed and the call may be repeated.
        NotSupported, Lost, Refused
    """
    try:
        for part in list(_compute(one.handle)):
            _gone(pynvml.nvmlComputeInstanceDestroy, part)
        _gone(pynvml.nvmlGpuInstanceDestroy, one.handle)
    except pynvml.NVMLError as failure:
        raise refusal(failure) from failure


def idle(device: str) -> bool:
    """Does no process run in it? One that does not say counts as used."""
    try:
        part = pynvml.nvmlDeviceGetHandleByUUID(device)
        return not pynvml.nvmlDeviceGetComputeRunningProcesses(part)
    except pynvml.NVMLError:
        return False


def _gone(destroy: Any, handle: Any) -> None:
    try:
        destroy(handle)
    except pynvml.NVMLError as failure:
        if failure.value != pynvml.NVML_ERROR_NOT_FOUND:
            raise


def _compute_profiles(gpu: Any) -> Iterator[Any]:
    shared = pynvml.NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED
    for kind in range(pynvml.NVML_COMPUTE_INSTANCE_PROFILE_COUNT):
        found = read.known(
            lambda k=kind: pynvml.nvmlGpuInstanceGetComputeInstanceProfileInfo(gpu, k, shared)  # type: ignore[misc]
        )
        if found is not None:
            yield found


def _compute(gpu: Any) -> Iterator[Any]:
    for kind in _compute_profiles(gpu):
        rows = (pynvml.c_nvmlComputeInstance_t * max(kind.instanceCount, 1))()
        count = c_uint(kind.instanceCount)
        pynvml.nvmlGpuInstanceGetComputeInstances(gpu, kind.id, rows, byref(count))
        yield from rows[: count.value]


def _device(part: Any) -> str:
    return read.text(pynvml.nvmlDeviceGetUUID(pynvml.nvmlComputeInstanceGetInfo(part).device))

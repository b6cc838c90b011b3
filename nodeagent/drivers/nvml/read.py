"""What NVML says, turned into the protocol's words; what it does not say stays None."""

from collections.abc import Callable
from typing import Any, TypeVar

import pynvml
from msgspec.structs import replace

from nodeagent.drivers.base import DriverError, Load, Lost, NotSupported
from nodeagent.drivers.nvml.strangers import strangers
from nodeagent.protocol.inventory import Card, Geometry, Profile
from nodeagent.protocol.report import CardHealth
from nodeagent.protocol.samples import Reading
from nodeagent.protocol.vocabulary import Isolation, Mode, Vendor

T = TypeVar("T")

MIB = 1024 * 1024
GONE = (pynvml.NVML_ERROR_GPU_IS_LOST, pynvml.NVML_ERROR_RESET_REQUIRED)

SILENT = "silent"
ILL = {
    pynvml.NVML_ERROR_GPU_IS_LOST: "lost",
    pynvml.NVML_ERROR_RESET_REQUIRED: "reset_needed",
}
ANSWERS = (pynvml.NVML_ERROR_NOT_SUPPORTED, pynvml.NVML_ERROR_NO_PERMISSION)
"""A card that says so is alive: some have no memory of their own to speak of."""


def refusal(failure: pynvml.NVMLError) -> DriverError:
    """An NVML error as one of the four ways a card may say no."""
    return Lost(str(failure)) if failure.value in GONE else NotSupported(str(failure))


def known(ask: Callable[[], T]) -> T | None:
    """The answer, or None when this card or driver has none."""
    try:
        return ask()
    except pynvml.NVMLError:
        return None


def text(value: Any) -> str:
    """Older bindings answer in bytes, newer ones in text."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def cards() -> tuple[tuple[Card, Any], ...]:
    """Every card that answers, with its handle; one bad card does not hide the others."""
    pynvml.nvmlInit()
    driver = text(pynvml.nvmlSystemGetDriverVersion())
    found: list[tuple[Card, Any]] = []
    for index in range(pynvml.nvmlDeviceGetCount()):
        handle = known(lambda i=index: pynvml.nvmlDeviceGetHandleByIndex(i))  # type: ignore[misc]
        card = None if handle is None else known(lambda h=handle, i=index: _card(h, i, driver))  # type: ignore[misc]
        if card is not None:
            found.append((card, handle))
    return tuple(found)


def _card(handle: Any, index: int, driver: str) -> Card:
    memory = pynvml.nvmlDeviceGetMemoryInfo(handle).total // MIB
    nominal = max(round(memory / 1000), 1)
    capability = known(lambda: pynvml.nvmlDeviceGetCudaComputeCapability(handle))
    power = known(lambda: pynvml.nvmlDeviceGetPowerManagementDefaultLimit(handle))
    model = text(pynvml.nvmlDeviceGetName(handle))
    whole = Profile("whole", "whole", 1, 1, memory, nominal, (0,), 1)
    serial = known(lambda: text(pynvml.nvmlDeviceGetSerial(handle)))
    return Card(
        uuid=text(pynvml.nvmlDeviceGetUUID(handle)),
        index=index,
        vendor=Vendor.NVIDIA,
        model=model,
        label=model.removeprefix("NVIDIA ").replace(" ", "-"),
        nominal_gb=nominal,
        memory_mib=memory,
        modes=() if _in_mig(handle) else (Mode.WHOLE,),
        geometries=(Geometry(Mode.WHOLE, 1, 1, (whole,), Isolation.HARDWARE),),
        serial=serial,
        pci=known(lambda: text(pynvml.nvmlDeviceGetPciInfo(handle).busId)),
        compute_capability=None if capability is None else f"{capability[0]}.{capability[1]}",
        driver=driver,
        tdp_w=None if power is None else power // 1000,
        cores=None,
    )


def _in_mig(handle: Any) -> bool:
    """Whether the card is in MIG mode: then no process can use it whole."""
    mode = known(lambda: pynvml.nvmlDeviceGetMigMode(handle))
    return mode is not None and mode[0] == pynvml.NVML_DEVICE_MIG_ENABLE


def meters(at: float, uuid: str, handle: Any) -> Reading:
    """One look at a card. Raises NVMLError only when the card itself is gone."""
    memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
    use = known(lambda: pynvml.nvmlDeviceGetUtilizationRates(handle))
    power = known(lambda: pynvml.nvmlDeviceGetPowerUsage(handle))
    heat = known(lambda: pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU))
    throttle = known(lambda: pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle))
    return Reading(
        at=at,
        card=uuid,
        util_mean=None if use is None else float(use.gpu),
        memory_mib_mean=memory.used / MIB,
        power_w_mean=None if power is None else power / 1000,
        temperature_c_max=None if heat is None else float(heat),
        throttle=throttle,
    )


def health(uuid: str, handle: Any) -> CardHealth:
    """How the card does: whether it answers at all, and whose work is on it."""
    try:
        pynvml.nvmlDeviceGetMemoryInfo(handle)
    except pynvml.NVMLError as failure:
        if failure.value not in ANSWERS:
            return CardHealth(uuid=uuid, health=ILL.get(failure.value, SILENT), reason=str(failure))
    running = known(lambda: pynvml.nvmlDeviceGetComputeRunningProcesses(handle)) or []
    foreign = strangers([process.pid for process in running])
    if foreign:
        why = "work that the pool did not start: " + ", ".join(foreign)
        return CardHealth(uuid=uuid, health="contested", reason=why, foreign=foreign)
    return CardHealth(uuid=uuid, health="ok")


def with_slice(card: Reading, load: Load | None, names: dict[str, str]) -> list[Reading]:
    """The card's own row, and the same for the whole-card slice that stands for it."""
    uid = next((name for name, owner in names.items() if owner == card.card), None)
    if uid is None:
        return [card]
    row = replace(card, slice=uid, attempt=None if load is None else load.attempt)
    if load is not None:
        milli = None if load.cpu is None else load.cpu * 1000
        row = replace(row, cpu_milli_mean=milli, ram_mib_mean=load.ram_mib)
    return [card, row]

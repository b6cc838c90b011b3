"""What NVML says, turned into the protocol's words; what it does not say stays None."""

import threading
from collections.abc import Callable, Container, Mapping
from typing import Any, TypeVar

import pynvml
from msgspec.structs import replace

from nodeagent.drivers.base import DriverError, Lost, NotSupported
from nodeagent.drivers.nvml.occupants import foreign, occupants
from nodeagent.drivers.published import enriched, nominal_gb
from nodeagent.protocol.inventory import Card, Geometry, Profile
from nodeagent.protocol.report import CardHealth
from nodeagent.protocol.vocabulary import Isolation, Mode, Vendor

T = TypeVar("T")

MIB = 1024 * 1024
FIRST_LOOK_S = 5.0
"""How long one card may take to say who it is when the agent starts."""

GONE = (pynvml.NVML_ERROR_GPU_IS_LOST, pynvml.NVML_ERROR_RESET_REQUIRED)

SILENT = "silent"
ILL = {
    pynvml.NVML_ERROR_GPU_IS_LOST: "lost",
    pynvml.NVML_ERROR_RESET_REQUIRED: "reset_needed",
}
PARTIAL = (
    pynvml.NVML_ERROR_NOT_SUPPORTED,
    pynvml.NVML_ERROR_NO_PERMISSION,
    pynvml.NVML_ERROR_FUNCTION_NOT_FOUND,
)
"""A card that says so lives, and does not tell all that it told when the agent started."""

ARCHITECTURES = {
    5: "Volta",
    6: "Turing",
    7: "Ampere",
    8: "Ada",
    9: "Hopper",
    10: "Blackwell",
}


def refusal(failure: pynvml.NVMLError) -> DriverError:
    """An NVML error as one of the four ways a card may say no."""
    return Lost(str(failure)) if failure.value in GONE else NotSupported(str(failure))


def known(ask: Callable[[], T]) -> T | None:
    """The answer, or None when this card or driver has none, or says what is no text."""
    try:
        return ask()
    except (pynvml.NVMLError, pynvml.NVMLLibraryMismatchError, UnicodeDecodeError):
        return None


def within(limit_s: float, ask: Callable[[], T]) -> T | None:
    """The answer, or None when there is none in time: what hangs holds only its own thread."""
    box: list[T | None] = []
    asking = threading.Thread(target=lambda: box.append(known(ask)), daemon=True)
    asking.start()
    asking.join(limit_s)
    return box[0] if box else None


def text(value: Any) -> str:
    """Older bindings answer in bytes, newer ones in text; what cannot be read is left out."""
    said = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return "".join(letter for letter in said if letter.isprintable() and letter != "\ufffd").strip()


def cards() -> tuple[tuple[tuple[Card, Any], ...], int]:
    """Every card that tells who it is, with its handle; and how many there are that do not.

    Numbered by their place on the bus: the library may number them anew at each start.
    """
    pynvml.nvmlInit()
    driver = text(pynvml.nvmlSystemGetDriverVersion())
    runtime = known(pynvml.nvmlSystemGetCudaDriverVersion_v2)
    found: list[tuple[Card, Any]] = []
    count = pynvml.nvmlDeviceGetCount()
    for index in range(count):
        told = within(FIRST_LOOK_S, lambda i=index: _told(i, driver, runtime))  # type: ignore[misc]
        if told is not None:
            found.append(told)
    found.sort(key=lambda row: (row[0].pci or "", row[0].uuid))
    numbered = tuple((replace(card, index=n), handle) for n, (card, handle) in enumerate(found))
    return numbered, count - len(found)


def _told(index: int, driver: str, runtime: int | None) -> tuple[Card, Any]:
    handle = pynvml.nvmlDeviceGetHandleByIndex(index)
    return _card(handle, driver, runtime), handle


def _card(handle: Any, driver: str, runtime: int | None) -> Card:
    memory = pynvml.nvmlDeviceGetMemoryInfo(handle).total // MIB
    capability = known(lambda: pynvml.nvmlDeviceGetCudaComputeCapability(handle))
    power = known(lambda: pynvml.nvmlDeviceGetPowerManagementDefaultLimit(handle))
    kind = known(lambda: pynvml.nvmlDeviceGetArchitecture(handle))
    numa = known(lambda: pynvml.nvmlDeviceGetNumaNodeId(handle))
    model = known(lambda: text(pynvml.nvmlDeviceGetName(handle))) or "NVIDIA card"
    nominal = nominal_gb(memory)
    whole = Profile("whole", "whole", 1, 1, memory, nominal, (0,), 1)
    card = Card(
        uuid=text(pynvml.nvmlDeviceGetUUID(handle)),
        index=0,
        vendor=Vendor.NVIDIA,
        model=model,
        label=model.removeprefix("NVIDIA ").replace(" ", "-"),
        nominal_gb=nominal,
        memory_mib=memory,
        modes=() if _in_mig(handle) else (Mode.WHOLE,),
        geometries=(Geometry(Mode.WHOLE, 1, 1, (whole,), Isolation.HARDWARE),),
        serial=known(lambda: text(pynvml.nvmlDeviceGetSerial(handle))),
        pci=known(lambda: text(pynvml.nvmlDeviceGetPciInfo(handle).busId)),
        architecture=ARCHITECTURES.get(kind or 0),
        compute_capability=None if capability is None else f"{capability[0]}.{capability[1]}",
        driver=driver,
        runtime=None if not runtime else f"{runtime // 1000}.{runtime % 1000 // 10}",
        tdp_w=None if power is None else power // 1000,
        display=known(lambda: pynvml.nvmlDeviceGetDisplayActive(handle)) == 1,
        numa=None if numa is None or numa < 0 else numa,
        pcie_width_max=known(lambda: pynvml.nvmlDeviceGetMaxPcieLinkWidth(handle)),
        pcie_generation_max=known(lambda: pynvml.nvmlDeviceGetMaxPcieLinkGeneration(handle)),
    )
    return enriched(card)


def _in_mig(handle: Any) -> bool:
    """Whether the card is in MIG mode: then no process can use it whole."""
    mode = known(lambda: pynvml.nvmlDeviceGetMigMode(handle))
    return mode is not None and mode[0] == pynvml.NVML_DEVICE_MIG_ENABLE


def health(
    uuid: str, handle: Any, slices: Mapping[int, str], hosts: Container[int] = frozenset()
) -> CardHealth:
    """How the card does: whether it answers at all, and whose work is on it.

    `slices` names its slices by the number of their instance; `hosts` are daemons of this agent.
    """
    try:
        pynvml.nvmlDeviceGetMemoryInfo(handle)
    except pynvml.NVMLError as failure:
        word = "partial" if failure.value in PARTIAL else ILL.get(failure.value, SILENT)
        return CardHealth(uuid=uuid, health=word, reason=str(failure))
    there = foreign(known(lambda: occupants(handle)) or (), slices, hosts)
    if there:
        why = "work that the pool did not start: " + ", ".join(there)
        return CardHealth(uuid=uuid, health="contested", reason=why, foreign=there)
    return CardHealth(uuid=uuid, health="ok")

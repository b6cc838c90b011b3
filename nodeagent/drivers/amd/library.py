"""AMD's own Python module: loaded only where its library is, since it prints and fails without."""

import importlib
from collections.abc import Callable, Mapping
from ctypes.util import find_library
from dataclasses import replace
from pathlib import Path
from typing import Any

from nodeagent.drivers.amd.cards import Entry, flat
from nodeagent.drivers.base import NotSupported
from nodeagent.drivers.words import number

PARTITION_SHIFT, PARTITION_BITS = 28, 0xF
"""Where the number of a partition stands in the one number that names a place on the bus."""

PLACES = ("/opt/rocm/lib/libamd_smi.so", "/usr/lib/x86_64-linux-gnu/libamd_smi.so")


def installed(places: tuple[str, ...] = PLACES) -> bool:
    """Is the library that the module needs on this machine?"""
    return find_library("amd_smi") is not None or any(Path(place).exists() for place in places)


def load(present: Callable[[], bool] = installed) -> Any:
    """The module, ready to be asked.

    Raises:
        NotSupported: the library or the module is not here, or it does not start.
    """
    if not present():
        raise NotSupported("libamd_smi.so is not installed")
    try:
        module = importlib.import_module("amdsmi")
        module.amdsmi_init()
    except Exception as failure:  # the module raises KeyError and its own kinds alike
        raise NotSupported(f"amdsmi: {failure}") from failure
    return module


def entries(module: Any) -> tuple[Entry, ...]:
    """Every board and partition side by side, with its meters; what one call does not tell is
    absent.
    """
    found = []
    addresses = {}
    for index, handle in enumerate(module.amdsmi_get_processor_handles()):
        asic = _asked(module, "amdsmi_get_gpu_asic_info", handle)
        memory = _asked(module, "amdsmi_get_gpu_vram_usage", handle)
        driver = _asked(module, "amdsmi_get_gpu_driver_info", handle)
        uuid = _word(module, "amdsmi_get_gpu_device_uuid", handle)
        bdf, partition = _place(module, handle)
        addresses[index] = _word(module, "amdsmi_get_gpu_device_bdf", handle)
        values = _asked(module, "amdsmi_get_gpu_activity", handle)
        values |= _asked(module, "amdsmi_get_power_info", handle)
        values |= _asked(module, "amdsmi_get_gpu_total_ecc_count", handle)
        values |= flat(_asked(module, "amdsmi_get_pcie_info", handle).get("pcie_metric") or {})
        values |= {"vram_used": memory.get("vram_used"), "hotspot": _heat(module, handle)}
        found.append(
            Entry(
                index=index,
                uuid=f"GPU-{uuid}"
                if uuid and not uuid.startswith("GPU-")
                else uuid or f"GPU-{bdf}",
                bdf=bdf,
                name=str(asic.get("market_name") or "AMD card"),
                memory_mib=int(memory.get("vram_total") or 0),
                driver=driver.get("driver_version"),
                values=values,
                partition=partition,
            )
        )
    return _boards_first(found, addresses)


def _boards_first(found: list[Entry], told: Mapping[int, str]) -> tuple[Entry, ...]:
    """A function that is not 0 is a partition only where the board itself is listed, too: else it
    is a board at the address that was told of it, as a machine sees that was given it.
    """
    boards = {one.bdf for one in found if one.partition == 0}
    return tuple(one if one.bdf in boards else _alone(one, told[one.index]) for one in found)


def _alone(one: Entry, bdf: str) -> Entry:
    uuid = f"GPU-{bdf}" if one.uuid == f"GPU-{one.bdf}" else one.uuid
    return replace(one, partition=0, bdf=bdf, uuid=uuid)


def _place(module: Any, handle: Any) -> tuple[str, int]:
    """The address of the board, and the place of this partition on it.

    Newer drivers give all partitions the address of their board and tell the place apart; older
    ones put it into the function of the address.
    """
    bdf = _word(module, "amdsmi_get_gpu_device_bdf", handle)
    told = number(_asked(module, "amdsmi_get_gpu_kfd_info", handle).get("current_partition_id"))
    if told is None:
        whole = _word(module, "amdsmi_get_gpu_bdf_id", handle)
        told = int(whole) >> PARTITION_SHIFT & PARTITION_BITS if whole.isdigit() else None
    board, _, function = bdf.rpartition(".")
    if told is None:
        told = int(function) if function.isdigit() else 0
    partition = int(told)
    return (f"{board}.0" if partition and function == str(partition) else bdf), partition


def _asked(module: Any, name: str, handle: Any) -> dict[str, Any]:
    """One call's answer; nothing where this version or this card has none."""
    try:
        answer = getattr(module, name)(handle)
    except Exception:  # noqa: BLE001 - its kinds differ by version; all mean that it is not told
        return {}
    return dict(answer) if isinstance(answer, dict) else {}


def _word(module: Any, name: str, handle: Any) -> str:
    try:
        return str(getattr(module, name)(handle))
    except Exception:  # noqa: BLE001 - as above
        return ""


def _heat(module: Any, handle: Any) -> Any:
    """The hottest place of the chip, as it is now."""
    try:
        sensor = module.AmdSmiTemperatureType.HOTSPOT
        return module.amdsmi_get_temp_metric(handle, sensor, module.AmdSmiTemperatureMetric.CURRENT)
    except Exception:  # noqa: BLE001 - as above
        return None

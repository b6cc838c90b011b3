"""Which files under /dev the holder of an NVIDIA slice must be able to open, and no others."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

CONTROL = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")
CAPABILITIES = Path("/proc/driver/nvidia/capabilities")
MINOR = "DeviceFileMinor:"


def card_files(minor: int) -> tuple[str, ...]:
    """For a card, whole or shared."""
    return (*CONTROL, f"/dev/nvidia{minor}")


def instance_files(minor: int, instance: int, capabilities: Path = CAPABILITIES) -> tuple[str, ...]:
    """For one GPU instance: the card's own file and the capabilities of the instance alone."""
    folder = capabilities / f"gpu{minor}" / "mig" / f"gi{instance}"
    return (*card_files(minor), *_capabilities(folder))


def _capabilities(folder: Path) -> Iterator[str]:
    """Of the instance and of each compute instance in it."""
    for access in (folder / "access", *sorted(folder.glob("ci*/access"))):
        with contextlib.suppress(OSError):
            for line in access.read_text(encoding="utf-8").splitlines():
                if line.startswith(MINOR):
                    number = line.removeprefix(MINOR).strip()
                    yield f"/dev/nvidia-caps/nvidia-cap{number}"

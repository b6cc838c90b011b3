"""Does this machine have NVIDIA cards of its own? Then they are used instead of simulated ones."""

import contextlib

import pynvml


def real_cards() -> int:
    """How many cards NVML counts; 0 where there is no driver."""
    with contextlib.suppress(pynvml.NVMLError):
        pynvml.nvmlInit()
        try:
            return int(pynvml.nvmlDeviceGetCount())
        finally:
            pynvml.nvmlShutdown()
    return 0

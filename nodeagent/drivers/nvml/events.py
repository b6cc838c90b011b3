"""Errors as they happen: one thread waits for the library's events and hands them over."""

import queue
import threading
from dataclasses import dataclass
from typing import Any

import pynvml

from nodeagent.drivers.errors import CORRECTED, UNCORRECTED
from nodeagent.drivers.nvml.read import known, text

WAIT_MS = 1000
PAUSE_S = 1.0
"""After an answer that is no event: a library that fails at once must not be asked in a circle."""

NO_INSTANCE = 0xFFFFFFFF

MEMORY = {
    pynvml.nvmlEventTypeSingleBitEccError: CORRECTED,
    pynvml.nvmlEventTypeDoubleBitEccError: UNCORRECTED,
}
WANTED = (pynvml.nvmlEventTypeXidCriticalError, *MEMORY)


@dataclass(frozen=True)
class Heard:
    """An error of one card: its XID, or the kind of memory error it is.

    `instance` is the GPU instance it happened in, if any.
    """

    card: str
    instance: int | None
    xid: int = 0
    memory: str = ""


class Events:
    """Listens for as long as the process lives; without events the driver just hears nothing."""

    def __init__(self) -> None:
        self._heard: queue.SimpleQueue[Heard] = queue.SimpleQueue()
        self._stop = threading.Event()
        self.listening = False

    def open(self, handles: dict[str, Any]) -> None:
        """Begin to listen to these cards; those that tell no events are passed over."""
        listening = known(pynvml.nvmlEventSetCreate)
        if listening is None:
            return
        told = [
            known(lambda h=handle: _register(h, listening))  # type: ignore[misc]
            for handle in handles.values()
        ]
        if not any(told):
            return
        self.listening = True
        threading.Thread(target=self._listen, args=(listening,), daemon=True, name="xid").start()

    def heard(self) -> list[Heard]:
        """What was told since the last time."""
        found: list[Heard] = []
        while not self._heard.empty():
            found.append(self._heard.get())
        return found

    def close(self) -> None:
        """Stop listening after the present wait."""
        self._stop.set()

    def _listen(self, listening: Any) -> None:
        while not self._stop.is_set():
            try:
                event = pynvml.nvmlEventSetWait_v2(listening, WAIT_MS)
                heard = _heard(event)
            except pynvml.NVMLError as failure:
                if failure.value != pynvml.NVML_ERROR_TIMEOUT:
                    self._stop.wait(PAUSE_S)
                continue
            if heard is not None:
                self._heard.put(heard)


def _register(handle: Any, listening: Any) -> bool:
    """Ask for what this card can tell of: one kind that it does not know refuses them all."""
    able = known(lambda: pynvml.nvmlDeviceGetSupportedEventTypes(handle))
    mask = sum(kind for kind in WANTED if able is None or able & kind)
    pynvml.nvmlDeviceRegisterEvents(handle, mask, listening)
    return True


def _heard(event: Any) -> Heard | None:
    if event.eventType not in WANTED:
        return None
    part = event.gpuInstanceId
    card = text(pynvml.nvmlDeviceGetUUID(event.device))
    instance = None if part == NO_INSTANCE else int(part)
    if event.eventType in MEMORY:
        return Heard(card, instance, memory=MEMORY[event.eventType])
    return Heard(card, instance, xid=int(event.eventData))

"""Errors as they happen: one thread waits for the library's events and hands them over."""

import queue
import threading
from dataclasses import dataclass
from typing import Any

import pynvml

from nodeagent.drivers.nvml.read import known, text

WAIT_MS = 1000
PAUSE_S = 1.0
"""After an answer that is no event: a library that fails at once must not be asked in a circle."""

NO_INSTANCE = 0xFFFFFFFF


@dataclass(frozen=True)
class Xid:
    """An error number of one card; `instance` is the GPU instance it happened in, if any."""

    card: str
    number: int
    instance: int | None


class Events:
    """Listens for as long as the process lives; without events the driver just hears nothing."""

    def __init__(self) -> None:
        self._heard: queue.SimpleQueue[Xid] = queue.SimpleQueue()
        self._stop = threading.Event()
        self.listening = False

    def open(self, handles: dict[str, Any]) -> None:
        """Begin to listen to these cards; those that tell no events are passed over."""
        listening = known(pynvml.nvmlEventSetCreate)
        if listening is None:
            return
        wanted = pynvml.nvmlEventTypeXidCriticalError
        told = [
            known(lambda h=handle: _register(h, wanted, listening))  # type: ignore[misc]
            for handle in handles.values()
        ]
        if not any(told):
            return
        self.listening = True
        threading.Thread(target=self._listen, args=(listening,), daemon=True, name="xid").start()

    def heard(self) -> list[Xid]:
        """What was told since the last time."""
        found: list[Xid] = []
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
                xid = _xid(event)
            except pynvml.NVMLError as failure:
                if failure.value != pynvml.NVML_ERROR_TIMEOUT:
                    self._stop.wait(PAUSE_S)
                continue
            if xid is not None:
                self._heard.put(xid)


def _register(handle: Any, wanted: int, listening: Any) -> bool:
    pynvml.nvmlDeviceRegisterEvents(handle, wanted, listening)
    return True


def _xid(event: Any) -> Xid | None:
    if event.eventType != pynvml.nvmlEventTypeXidCriticalError:
        return None
    part = event.gpuInstanceId
    card = text(pynvml.nvmlDeviceGetUUID(event.device))
    return Xid(card, int(event.eventData), None if part == NO_INSTANCE else int(part))

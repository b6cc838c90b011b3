"""Hears of a shim's words and of its end at once, without asking again and again."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable

from nodeagent import clock, records
from nodeagent.protocol.vocabulary import ExitReason
from nodeagent.records import Record


class Watch:
    """One shim, our child or adopted. `begun` is set once its process is there or never will."""

    def __init__(
        self,
        record: Record,
        child: int | None,
        words: int | None,
        changed: Callable[[], None],
    ) -> None:
        self.begun = asyncio.Event()
        self._record = record
        self._child = child
        self._words = words
        self._changed = changed
        self._pidfd: int | None = None
        self._loop = asyncio.get_running_loop()

    def open(self) -> None:
        """Begin to listen; a shim that is gone already is dealt with now."""
        try:
            if self._child is None and not self._record.shim_alive():
                raise ProcessLookupError
            self._pidfd = os.pidfd_open(self._child or self._record.shim_pid)
        except ProcessLookupError:
            self._gone()
            return
        self._loop.add_reader(self._pidfd, self._gone)
        if self._words is not None:
            os.set_blocking(self._words, False)
            self._loop.add_reader(self._words, self._word)

    def signal(self, number: signal.Signals) -> bool:
        """Send to exactly this shim; False when it is not there."""
        if self._pidfd is None:
            return False
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, number)
            return True
        return False

    def close(self) -> None:
        """Stop listening; the shim goes on."""
        for handle in (self._pidfd, self._words):
            if handle is not None:
                self._loop.remove_reader(handle)
                os.close(handle)
        self._pidfd = self._words = None

    def _word(self) -> None:
        """A line of the shim: something new is on disk."""
        words = b""
        if self._words is not None:
            words = os.read(self._words, 4096)
            if not words:
                self._loop.remove_reader(self._words)
                os.close(self._words)
                self._words = None
                return
        records.refresh(self._record)
        if b"taken" in words:
            self._follow()
        elif b"started" in words or b"ended" in words:
            self.begun.set()
        self._changed()

    def _follow(self) -> None:
        """Another shim has this attempt: an agent before us started it and did not live."""
        self.close()
        self._reap()
        self.open()
        self.begun.set()

    def _gone(self) -> None:
        """The shim has ended: its word is on disk, or it was killed and the job with it."""
        self.close()
        self._reap()
        record = self._record
        records.refresh(record)
        if record.ended_at is None:
            self._lost(record)
        self.begun.set()
        self._changed()

    def _reap(self) -> None:
        """Take in a shim of our own that has ended; an adopted one is somebody else's child."""
        if self._child is not None:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self._child, 0)
            self._child = None

    def _lost(self, record: Record) -> None:
        if record.boot not in ("", clock.boot_id()):
            why = ExitReason.NODE_LOST, "the node was restarted"
        elif record.started_at is None:
            why = ExitReason.START_FAILED, "it was killed while it started"
        else:
            why = ExitReason.KILLED, "its shim was killed, and the job with it"
        records.claim_for_end(record)
        records.end(record, why[0], code=-signal.SIGKILL, message=why[1], refused=False)

"""MPS: one control daemon for each card, with limits; each slice has a pipe folder of its own.

A job may unset its variables, so the daemon's own limits are those of the largest share on the
card: what is above the job's own share and below that is found by looking at its memory.
"""

import contextlib
import hashlib
import os
from pathlib import Path

from nodeagent import processes
from nodeagent.drivers.base import DriverError, Refused
from nodeagent.drivers.programs import Programs
from nodeagent.drivers.shares import FULL_MILLI, Share
from nodeagent.protocol.desired import WantedSlice
from nodeagent.protocol.inventory import Ability, Card, Geometry
from nodeagent.protocol.vocabulary import MODE_ISOLATION, Mode

CONTROL = "nvidia-cuda-mps-control"
SMI = "nvidia-smi"
OLDEST = (7, 0)
"""Compute capability from which shares of compute and memory can be limited."""

PID_FILE = "nvidia-cuda-mps-control.pid"
SERVER = "nvidia-cuda-mps"
"""Name of the daemon and of its server, as far as the kernel keeps it."""

NOTE = "one client's fault can end all clients of the card"


class Mps:
    """`folder` holds the pipes and logs of the daemons; job accounts must be able to reach it."""

    mode = Mode.MPS

    def __init__(self, folder: Path, programs: Programs) -> None:
        self._folder = folder
        self._programs = programs

    def offer(self, card: Card) -> tuple[Geometry, Ability] | None:
        """On Volta and later where the control program is installed."""
        if not (self._programs.has(CONTROL) and self._programs.has(SMI)) or not _able(card):
            return None
        geometry = Geometry(Mode.MPS, 0, 100, (), MODE_ISOLATION[Mode.MPS])
        return geometry, Ability(mode=Mode.MPS, memory="daemon", compute="daemon", note=NOTE)

    def enter(self, card: Card) -> None:
        """Only the daemon may open the card; then start it, unless it answers already."""
        pipe, logs = self._pipe(card), self._home(card) / "log"
        for folder in (self._folder, self._home(card), pipe, logs, self._home(card) / "slices"):
            folder.mkdir(mode=0o755, parents=True, exist_ok=True)
            folder.chmod(0o755)
        if self.alive(card):
            return
        self._programs.run(SMI, "-i", card.uuid, "-c", "EXCLUSIVE_PROCESS")
        self._programs.run(CONTROL, "-d", env=self._env(card))
        if not self.alive(card):
            raise Refused("the MPS daemon was started and does not answer")

    def leave(self, card: Card) -> None:
        """Stop the daemon and open the card to everybody again."""
        if self.alive(card):
            self._tell(card, "quit")
        self._programs.run(SMI, "-i", card.uuid, "-c", "DEFAULT")

    def create(self, card: Card, wanted: WantedSlice, beside: dict[str, Share]) -> str:
        """A pipe folder of its own, after the daemon's limits allow the share."""
        self.enter(card)
        memory = [one.memory_mib for one in beside.values()] + [wanted.memory_mib]
        milli = [one.compute_milli for one in beside.values()] + [wanted.compute_milli]
        self._limit(card, max(memory), max(milli))
        link = self._slice(card, wanted.uid)
        if not link.is_symlink():
            link.symlink_to(self._pipe(card))
        return card.uuid

    def delete(self, card: Card, uid: str, share: Share, beside: dict[str, Share]) -> None:
        """No new client comes through the folder; the limits fall to what is left."""
        self._slice(card, uid).unlink(missing_ok=True)
        if beside and self.alive(card):
            rows = beside.values()
            self._limit(card, max(r.memory_mib for r in rows), max(r.compute_milli for r in rows))

    def hosts(self, card: Card) -> frozenset[int]:
        """The card's daemon, by the file that it writes into its pipe folder: the server that it
        starts for its clients is on the card as a process of its own. No job can write there, and
        a number that another program has by now is not taken for it.
        """
        with contextlib.suppress(OSError, ValueError):
            pid = int((self._pipe(card) / PID_FILE).read_text(encoding="ascii"))
            if processes.name(pid) == SERVER and processes.real_uid(pid) == os.getuid():
                return frozenset({pid})
        return frozenset()

    def environment(self, card: Card, uid: str, share: Share) -> dict[str, str]:
        """Where its server is, and the job's own limits."""
        return {
            "CUDA_MPS_PIPE_DIRECTORY": str(self._slice(card, uid)),
            "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT": f"0={share.memory_mib}M",
            "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": percentage(share.compute_milli),
        }

    def alive(self, card: Card) -> bool:
        """Does the card's daemon answer?"""
        if not self._pipe(card).is_dir():
            return False
        try:
            self._tell(card, "get_default_active_thread_percentage")
        except DriverError:
            return False
        return True

    def _limit(self, card: Card, memory_mib: int, compute_milli: int) -> None:
        self._tell(card, f"set_default_device_pinned_mem_limit 0 {memory_mib}M")
        self._tell(card, f"set_default_active_thread_percentage {percentage(compute_milli)}")

    def _tell(self, card: Card, words: str) -> str:
        return self._programs.run(CONTROL, say=words + "\n", env=self._env(card))

    def _env(self, card: Card) -> dict[str, str]:
        return {
            "CUDA_VISIBLE_DEVICES": card.uuid,
            "CUDA_MPS_PIPE_DIRECTORY": str(self._pipe(card)),
            "CUDA_MPS_LOG_DIRECTORY": str(self._home(card) / "log"),
        }

    def _home(self, card: Card) -> Path:
        """Short: the sockets below it have names of at most 107 bytes."""
        return self._folder / hashlib.sha256(card.uuid.encode()).hexdigest()[:12]

    def _pipe(self, card: Card) -> Path:
        return self._home(card) / "pipe"

    def _slice(self, card: Card, uid: str) -> Path:
        return self._home(card) / "slices" / os.path.basename(uid)  # noqa: PTH119 - no way out of it


def percentage(milli: int) -> str:
    """Thousandths of a card as the whole per cent that MPS takes: never 0, which means all."""
    return str(max(min(milli, FULL_MILLI) * 100 // FULL_MILLI, 1))


def _able(card: Card) -> bool:
    said = (card.compute_capability or "0.0").split(".")
    return (int(said[0]), int(said[1])) >= OLDEST

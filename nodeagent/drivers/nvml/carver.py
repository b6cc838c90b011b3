"""Which MIG instances carry which slice: written down before the card is touched.

After a crash at any step the record says what was meant: one that was being made is finished or
forgotten when the agent opens, one that was being removed is removed by the next call.
"""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pynvml

from nodeagent import disk
from nodeagent.drivers.base import Busy, Lost, NotSupported, Refused
from nodeagent.drivers.nvml import mig
from nodeagent.protocol.desired import WantedSlice
from nodeagent.protocol.inventory import Geometry, Profile
from nodeagent.protocol.report import FoundSlice
from nodeagent.protocol.vocabulary import Mode, SliceFound


@dataclass(frozen=True)
class Record:
    """What a slice is meant to be. `device` is "" until it is made."""

    card: str
    profile_id: int
    start: int
    device: str = ""
    leaving: bool = False


class Carver:
    """The MIG slices of one node. Calls on one card are made by one at a time."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._records: dict[str, Record] = {}
        self._cards: dict[str, tuple[Any, Geometry]] = {}
        self._numbers: dict[str, dict[int, str]] = {}
        self._computes: dict[str, dict[str, int]] = {}

    def open(self, cards: dict[str, tuple[Any, Geometry]]) -> None:
        """Take the cards: handle and geometry by uuid. Asks none of them."""
        self._cards = cards
        rows = disk.read_json(self._file) or {}
        self._records = {uid: Record(**row) for uid, row in rows.items()}

    def resume(self, card: str) -> None:
        """Finish on one card what a crash left half made."""
        for uid, record in list(self._records.items()):
            if record.card == card and not record.device and not record.leaving:
                self._resume(uid, record)

    def knows(self, uid: str) -> bool:
        """Is it one of these slices?"""
        return uid in self._records

    def card_of(self, uid: str) -> str | None:
        """The card that a slice of these lies on."""
        record = self._records.get(uid)
        return None if record is None else record.card

    def device_of(self, uid: str) -> str:
        """The UUID of a slice's instance; empty for one that is none of these or not made."""
        record = self._records.get(uid)
        return "" if record is None else record.device

    def found(self, card: str) -> tuple[FoundSlice, ...]:
        """What lies on the card, named where it is ours. Raises NVMLError."""
        handle, geometry = self._cards[card]
        if mig.mode(handle) != Mode.MIG:
            self._numbers[card], self._computes[card] = {}, {}
            return ()
        there = list(mig.instances(handle, geometry))
        rows = [(one, self._row(card, geometry, one)) for one in there]
        ours = [(one, row.uid) for one, row in rows if row is not None and row.uid]
        self._numbers[card] = {one.number: uid for one, uid in ours}
        self._computes[card] = {uid: one.compute for one, uid in ours}
        return tuple(row for _, row in rows if row is not None)

    def numbers(self, card: str) -> dict[int, str]:
        """The driver's numbers of the slices on a card, as they were at the last look."""
        return dict(self._numbers.get(card, {}))

    def computes(self, card: str) -> dict[str, int]:
        """The driver's numbers of the compute instances of these slices, by the slice."""
        return dict(self._computes.get(card, {}))

    def switch(self, card: str, wanted: Mode) -> None:
        """Put the card into or out of MIG.

        Raises:
            NotSupported, Busy, Lost, Refused
        """
        handle, geometry = self._cards[card]
        mig.switch(handle, wanted, geometry)

    def mode(self, card: str) -> Mode:
        """The mode in force. Raises NVMLError."""
        return mig.mode(self._cards[card][0])

    def create(self, wanted: WantedSlice) -> FoundSlice:
        """Make the slice at its place, or take over the idle instance that lies exactly there.

        Raises:
            NVMLError, NotSupported, Busy, Lost, Refused
        """
        handle, geometry = self._cards[wanted.card]
        profile = _profile(geometry, wanted)
        start = wanted.start or 0
        record = Record(wanted.card, int(profile.profile_id), start)
        present = mig.at(handle, geometry, record.profile_id, start)
        self._clear(record, present, wanted.uid)
        self._write(wanted.uid, record)
        try:
            gpu = mig.make(handle, profile, start) if present is None else present.handle
        except pynvml.NVMLError as failure:
            self._write(wanted.uid, None)
            raise mig.refusal(failure) from failure
        record = self._complete(wanted.uid, record, gpu, profile)
        return _slice(wanted.uid, wanted.card, profile, start, record.device)

    def delete(self, uid: str) -> None:
        """Take the slice away; gone is gone.

        Raises:
            NVMLError, NotSupported, Busy, Lost, Refused
        """
        record = self._records.get(uid)
        if record is None:
            return
        if record.card not in self._cards:
            raise Lost(f"card {record.card} does not tell how it is cut")
        handle, geometry = self._cards[record.card]
        present = None
        if mig.mode(handle) == Mode.MIG:
            present = mig.at(handle, geometry, record.profile_id, record.start)
        if present is not None and _same(record, present):
            self._write(uid, replace(record, leaving=True))
            mig.remove(present)
        self._write(uid, None)

    def _clear(self, place: Record, present: mig.Instance | None, uid: str) -> None:
        """Nobody else's slice may lie at the place; a record that no boot has kept gives way."""
        owner = self._owner(place)
        mine = owner is not None and present is not None and _same(self._records[owner], present)
        if owner is not None and owner != uid:
            if mine:
                raise Refused(f"the place is slice {owner} already")
            self._write(owner, None)
        if not mine and present is not None and present.device and not mig.idle(present.device):
            raise Busy("an instance that the pool did not make lies there and is in use")

    def _complete(self, uid: str, record: Record, gpu: Any, profile: Profile) -> Record:
        """Add the compute instance; where that fails the slice is left to be removed."""
        try:
            made = replace(record, device=mig.complete(gpu, profile))
        except pynvml.NVMLError as failure:
            self._write(uid, replace(record, leaving=True))
            raise mig.refusal(failure) from failure
        except NotSupported:
            self._write(uid, replace(record, leaving=True))
            raise
        self._write(uid, made)
        return made

    def _resume(self, uid: str, record: Record) -> None:
        handle, geometry = self._cards[record.card]
        try:
            on = mig.mode(handle) == Mode.MIG
            one = mig.at(handle, geometry, record.profile_id, record.start) if on else None
            if one is None:
                self._write(uid, None)
                return
            kinds = {int(p.profile_id): p for p in geometry.profiles}
            device = mig.complete(one.handle, kinds[record.profile_id])
            self._write(uid, replace(record, device=device))
        except (pynvml.NVMLError, NotSupported):
            self._write(uid, replace(record, leaving=True))

    def _row(self, card: str, geometry: Geometry, one: mig.Instance) -> FoundSlice | None:
        """A slice that is being made is not there yet; one half removed has failed."""
        profile = next(p for p in geometry.profiles if p.profile_id == str(one.profile_id))
        place = Record(card, one.profile_id, one.start)
        uid = self._owner(place)
        record = self._records.get(uid or "")
        if record is None or not _same(record, one):
            uid = None
        elif record.leaving:
            row = _slice(uid, card, profile, one.start, one.device)
            return _failed(row, "its instance is half removed")
        elif not record.device:
            return None
        row = _slice(uid, card, profile, one.start, one.device)
        return row if one.device else _failed(row, "it has no compute instance")

    def _owner(self, place: Record) -> str | None:
        for uid, record in self._records.items():
            same = (record.card, record.profile_id, record.start)
            if same == (place.card, place.profile_id, place.start):
                return uid
        return None

    def _write(self, uid: str, record: Record | None) -> None:
        kept = {name: row for name, row in self._records.items() if name != uid}
        self._records = kept if record is None else kept | {uid: record}
        disk.write_json(self._file, {name: asdict(row) for name, row in self._records.items()})


def _same(record: Record, one: mig.Instance) -> bool:
    """Is it still the instance that was made, and not another one in its place after a boot?"""
    return not record.device or not one.device or record.device == one.device


def _profile(geometry: Geometry, wanted: WantedSlice) -> Profile:
    for profile in geometry.profiles:
        if profile.name == wanted.profile:
            legal = wanted.start in profile.starts and wanted.size == profile.size
            if legal:
                return profile
            raise Refused(f"{profile.name} of size {profile.size} lies at {list(profile.starts)}")
    raise NotSupported(f"no profile {wanted.profile!r} on this card")


def _slice(uid: str | None, card: str, profile: Profile, start: int, device: str) -> FoundSlice:
    return FoundSlice(
        uid=uid,
        card=card,
        mode=Mode.MIG,
        profile=profile.name,
        state=SliceFound.READY,
        memory_mib=profile.memory_mib,
        start=start,
        size=profile.size,
        device=device,
    )


def _failed(row: FoundSlice, reason: str) -> FoundSlice:
    fields = {name: getattr(row, name) for name in row.__struct_fields__}
    return FoundSlice(**fields | {"state": SliceFound.FAILED, "reason": reason})

"""Another source of readings: the text of dcgm-exporter, the AMD exporter, or npu-exporter.

It fills what the card's own driver does not tell. Rows of a card and of its instances stand side
by side in the text and are never added up.
"""

import re
from dataclasses import dataclass

import httpx
from msgspec.structs import replace

from nodeagent import clock
from nodeagent.drivers.published import read
from nodeagent.protocol.inventory import Card
from nodeagent.protocol.samples import Reading

LINE = re.compile(r"^(?P<name>[A-Za-z_:][\w:]*)(?:\{(?P<labels>.*)\})?\s+(?P<value>\S+)")
LABEL = re.compile(r'([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"')

BLANK = 9.2e18
"""Exporters write a number near the largest integer where they have none."""

FRESH_S = 30.0
TIMEOUT_S = 1.5
EVERY_S = 10.0
WHOLE_NUMBERS = frozenset({"ecc_corrected", "ecc_uncorrected"})

Key = tuple[str, int | None]
"""A card's uuid and the number of one of its GPU instances; None is the card as a whole."""


@dataclass(frozen=True)
class Line:
    """One number of the text with its labels."""

    name: str
    labels: dict[str, str]
    value: float


def lines(text: str) -> list[Line]:
    """Every number that is one; comments, blanks and what cannot be read are passed over."""
    found: list[Line] = []
    for row in text.splitlines():
        said = LINE.match(row)
        if said is None:
            continue
        try:
            value = float(said["value"])
        except ValueError:
            continue
        if value == value and abs(value) < BLANK:
            found.append(Line(said["name"], dict(LABEL.findall(said["labels"] or "")), value))
    return found


def readings(text: str, cards: tuple[Card, ...]) -> dict[Key, dict[str, float]]:
    """Values by our own names for each card and instance that the text tells of."""
    facts = read("exporters.json")
    rank = {name: place for place, name in enumerate(facts["metrics"])}
    found: dict[Key, dict[str, float]] = {}
    told = [line for line in lines(text) if line.name.removeprefix("amd_") in rank]
    for line in sorted(told, key=lambda one: rank[one.name.removeprefix("amd_")]):
        card = _card(line.labels, cards)
        if card is None:
            continue
        name, factor = facts["metrics"][line.name.removeprefix("amd_")]
        part = line.labels.get(facts["instance_label"], "")
        key = (card.uuid, int(part) if part.isdigit() else None)
        found.setdefault(key, {})[name] = line.value * factor
    return found


def _card(labels: dict[str, str], cards: tuple[Card, ...]) -> Card | None:
    """By what names one card alone; by its number only where nothing else is told."""
    facts = read("exporters.json")
    names = [labels[key].casefold() for key in facts["identity_labels"] if labels.get(key)]
    for card in cards:
        own = {one.casefold() for one in (card.uuid, card.serial, card.pci) if one}
        if own.intersection(names):
            return card
    if any(labels.get(key) for key in ("UUID", "uuid", "gpu_uuid")):
        return None
    number = next((labels[key] for key in facts["index_labels"] if key in labels), "")
    return next((card for card in cards if str(card.index) == number), None)


def filled(row: Reading, values: dict[str, float]) -> Reading:
    """The reading with what it lacked; its own values stay."""
    new = {
        name: round(value) if name in WHOLE_NUMBERS else value
        for name, value in values.items()
        if getattr(row, name) is None
    }
    return replace(row, **new) if new else row


class Exporter:
    """Asks one exporter of this node now and then; one that is silent fills nothing."""

    def __init__(self, url: str, client: httpx.AsyncClient | None = None) -> None:
        self._url = url
        self._client = client or httpx.AsyncClient(timeout=TIMEOUT_S)
        self._asked_at: float | None = None
        self._at: float | None = None
        self._values: dict[Key, dict[str, float]] = {}

    async def fill(
        self, rows: tuple[Reading, ...], cards: tuple[Card, ...], instances: dict[str, int]
    ) -> tuple[Reading, ...]:
        """The rows with what the exporter knows of them. `instances` are numbers by slice uid."""
        now = clock.boottime()
        if self._asked_at is None or now - self._asked_at >= EVERY_S:
            self._asked_at = now
            await self._ask(cards, now)
        if self._at is None or now - self._at > FRESH_S:
            return rows
        return tuple(filled(row, self._of(row, instances)) for row in rows)

    def _of(self, row: Reading, instances: dict[str, int]) -> dict[str, float]:
        """A slice that is an instance has rows of its own; other shares have none."""
        if row.slice is None:
            return self._values.get((row.card, None), {})
        if row.slice in instances:
            return self._values.get((row.card, instances[row.slice]), {})
        return {}

    async def _ask(self, cards: tuple[Card, ...], now: float) -> None:
        try:
            answer = await self._client.get(self._url)
            answer.raise_for_status()
        except httpx.HTTPError:
            return
        self._values = readings(answer.text, cards)
        self._at = now

"""The words of a job about its speed; all of them are a stranger's, so that each is checked."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from nodeagent.giveway.contract import own_host

FILE = "throughput.json"
"""In the give-way folder of the attempt; GPUPOOL_THROUGHPUT_FILE names it."""

SCRAPE_CHOICE = "THROUGHPUT_METRICS"
"""A job's own variable: the address of its Prometheus page, on this node."""

NAMES_CHOICE = "THROUGHPUT_NAMES"
"""A job's own variable: which metric of its page is which, as samples_s=name,tokens_s=name."""

FIELDS = ("samples_s", "tokens_s", "queries_s", "latency_ms")
HIGHEST = 1e12
MOST_LINES = 20_000
_NAME = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]{0,199}\Z")
_LINE = re.compile(r"([A-Za-z_:][A-Za-z0-9_:]*)(?:\{[^\n]*\})?\s+(\S+)(?:\s+\d+)?\s*\Z")

Speeds = dict[str, float]
"""Known values by field: per second, and latency in milliseconds."""


@dataclass(frozen=True)
class Page:
    """Where a job is asked, and which metric there is which field."""

    address: str
    names: Mapping[str, str]

    def words(self) -> str:
        """One line that `page_of` reads again."""
        named = ",".join(f"{field}={name}" for field, name in sorted(self.names.items()))
        return f"{self.address} {named}"


def speeds_of(body: bytes) -> Speeds | None:
    """A JSON object of numbers; None when it is none. Strange fields and values are left out."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict):
        return None
    return {field: float(said[field]) for field in FIELDS if _sensible(said.get(field))}


def choice_of(env: Mapping[str, str]) -> str:
    """The page that the job's own variables name, as one line; "" for none."""
    address = env.get(SCRAPE_CHOICE, "")
    if not address or " " in address or not own_host(address):
        return ""
    return Page(address, _names(env.get(NAMES_CHOICE, ""))).words()


def page_of(words: str) -> Page | None:
    """The line back to a page."""
    address, _, named = words.partition(" ")
    return Page(address, _names(named)) if address else None


def metrics_of(text: str, wanted: set[str]) -> dict[str, float]:
    """Sums over all labels of the wanted metrics of a Prometheus page; bad lines are passed by."""
    found: dict[str, float] = {}
    for line in text.splitlines()[:MOST_LINES]:
        match = _LINE.match(line)
        if match is None or match[1] not in wanted:
            continue
        try:
            value = float(match[2])
        except ValueError:
            continue
        if math.isfinite(value):
            found[match[1]] = found.get(match[1], 0.0) + value
    return found


def _names(text: str) -> dict[str, str]:
    """Fields that nobody names are metrics of our own prefix."""
    names = {field: f"gpupool_{field}" for field in FIELDS}
    for part in text.split(","):
        field, _, name = part.strip().partition("=")
        if field in FIELDS and _NAME.match(name):
            names[field] = name
    return names


def _sensible(value: object) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and 0 <= value <= HIGHEST
    )

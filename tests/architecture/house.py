"""Where the house's files lie, for the tests of its rules."""

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FLOORS = ("portal", "billing", "pool", "nodeagent")
GROWN = {"vendor", "__pycache__", "node_modules", "migrations"}


def files(rooms: tuple[str, ...], *suffixes: str) -> Iterator[Path]:
    """The files of some rooms that people write: nothing fetched, nothing generated."""
    for room in rooms:
        for path in sorted((ROOT / room).rglob("*")):
            inside = path.relative_to(ROOT)
            if path.suffix in suffixes and not GROWN & set(inside.parts):
                yield path


def name(path: Path) -> str:
    """As it is called in the house."""
    return str(path.relative_to(ROOT))

"""Pure rooms: no clock, no chance, no environment, no files, nothing of a floor above."""

import ast
import sys

import pytest

from tests.architecture.house import ROOT, name

# A room, and the rooms of the project that it may import besides its own.
PURE = {
    "nodeagent/protocol": (),
    "nodeagent/reconcile.py": ("nodeagent.protocol",),
    "pool/lifecycle": ("nodeagent.protocol",),
    "pool/topics.py": ("pool.lifecycle", "nodeagent.protocol"),
    "pool/rules": ("pool.lifecycle", "nodeagent.protocol"),
    "pool/carving": ("pool.rules", "pool.lifecycle", "nodeagent.protocol"),
    "pool/scheduling": ("pool.carving", "pool.rules", "pool.lifecycle", "nodeagent.protocol"),
    "pool/replay": (
        *("pool.scheduling", "pool.carving", "pool.rules", "pool.lifecycle"),
        "nodeagent.protocol",
    ),
    "pool/sheets.py": (),
    "billing/rating": ("pool.lifecycle", "pool.sheets", "nodeagent.protocol"),
    "portal/access/roles.py": ("pool.lifecycle",),
    "portal/notices/route.py": ("pool.lifecycle",),
}
GUESTS = {
    "nodeagent/protocol": {"msgspec"},
    "pool/scheduling": {"numpy"},
    "pool/carving": {"numpy"},
    "pool/replay": {"numpy"},
}
OUTSIDE = {
    *("os", "io", "pathlib", "shutil", "tempfile", "glob", "subprocess", "socket", "select"),
    *("time", "random", "secrets", "uuid", "threading", "asyncio", "multiprocessing", "logging"),
    *("urllib", "http", "ssl", "sqlite3", "signal", "platform", "getpass", "importlib"),
}
CALLS = {"now", "utcnow", "today", "fromtimestamp_now", "open", "input", "print", "exec", "eval"}


def modules_of_pure_rooms():
    for room, below in PURE.items():
        at = ROOT / room
        for path in [at] if at.suffix else sorted(at.rglob("*.py")):
            if path.exists():
                yield pytest.param(path, room, below, id=name(path))


MODULES = list(modules_of_pure_rooms())


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def within(module, rooms):
    return any(module == room or module.startswith(room + ".") for room in rooms)


@pytest.mark.parametrize(("path", "room", "below"), MODULES)
def test_a_pure_room_imports_only_what_is_pure(path, room, below):
    own = room.removesuffix(".py").replace("/", ".")
    bad = []
    for module in imported(ast.parse(path.read_text(encoding="utf-8"))):
        top = module.split(".")[0]
        standard = top in sys.stdlib_module_names and top not in OUTSIDE
        guest = top in GUESTS.get(room, set()) and module != "numpy.random"
        if not (standard or guest or within(module, (own, *below))):
            bad.append(module)
    assert bad == []


@pytest.mark.parametrize(("path", "room", "below"), MODULES)
def test_a_pure_room_asks_neither_clock_nor_chance_nor_disk(path, room, below):
    bad = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = node.func
            word = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if word in CALLS:
                bad.append((word, node.lineno))
        if isinstance(node, ast.Attribute) and node.attr in {"environ", "random", "argv"}:
            bad.append((node.attr, node.lineno))
    assert bad == []


def test_every_pure_room_named_here_exists():
    planned = {"pool/replay", "portal/notices/route.py"}
    assert [room for room in PURE if not (ROOT / room).exists() and room not in planned] == []

"""Builds the stand-in library and the world it shows, from the product's own card facts."""

import json
import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

from nodeagent.drivers.simulated import cards

HERE = Path(__file__).parent
ROOT = HERE.parents[2]

PLAIN = {1: 0, 2: 1, 3: 2, 4: 3, 7: 4}
SUFFIXED = {
    ("+me", 1): 7,
    ("+me", 2): 8,
    ("+gfx", 1): 10,
    ("+gfx", 2): 11,
    ("+gfx", 4): 12,
    ("-me", 1): 13,
    ("-me", 2): 14,
    ("+me.all", 1): 15,
    ("+me.all", 2): 16,
}
CAPABILITY = {"Ampere": "8.0", "Hopper": "9.0", "Blackwell": "10.0"}

DOUBLE_MEMORY = 9
"""Numbers under which the library is asked for a profile, by suffix and compute slices."""


def build(folder: Path, without: tuple[str, ...] = ()) -> Path:
    """Compile the library; its folder is what LD_LIBRARY_PATH must name.

    Functions in `without` are not in it, as in a driver that is older than they are.
    """
    made = folder / "libnvidia-ml.so.1"
    sources = [str(path) for path in sorted(HERE.glob("*.c"))]
    command = ["cc", "-shared", "-fPIC", "-O1", "-pthread", "-Wall", "-Wextra", "-Werror"]
    if without:
        hidden = folder / "hidden.map"
        hidden.write_text("{ global: *; local: " + " ".join(f"{n};" for n in without) + " };")
        command.append(f"-Wl,--version-script={hidden}")
    subprocess.run([*command, "-o", str(made), *sources], check=True)
    return folder


def asked_as(profile, plain_sizes) -> int:
    """The library's own number for a profile of the facts."""
    tail = profile["name"].split("gb", 1)[1]
    if tail:
        return SUFFIXED[tail, profile["compute"]]
    doubled = profile["size"] > plain_sizes[profile["compute"]]
    return DOUBLE_MEMORY if doubled else PLAIN[profile["compute"]]


def table_of(model: str) -> dict:
    """The MIG table of a label, or the table itself by its name, with what nobody tells made up."""
    tables = {path.name for path in files("nodeagent.facts").joinpath("mig").iterdir()}
    if f"{model}.json" in tables:
        name, row = model, {}
    else:
        row = cards.published(model)
        name = row["mig"]
    table = {"profiles": [], "reset_to_enter": False} | (
        {} if name is None else cards.read(f"mig/{name}.json")
    )
    made_up = json.loads((HERE / "assumed.json").read_text()).get(name, {})
    profiles = [_filled(n, one, made_up) for n, one in enumerate(table["profiles"])]
    whole = max((one["memory_mib"] for one in profiles), default=0)
    usable = row.get("usable_mib") or table.get("usable_mib") or whole
    return table | {
        "profiles": profiles,
        "usable_mib": usable,
        "model": row.get("model") or table["card"].split("/")[0].split(" (")[0],
        "capability": row.get("compute_capability") or CAPABILITY[table["architecture"]],
    }


def _filled(number: int, one: dict, made_up: dict) -> dict:
    compute = str(one["compute"])
    return one | {
        "id": 200 + number if one["id"] is None else one["id"],
        "size": one["size"] or made_up["sizes"][compute],
        "starts": one["starts"] or made_up["starts"][compute],
        "memory_mib": one["memory_mib"] or one["nominal_gb"] * 1000,
        "cores": one["cores"] or one["compute"] * 10,
    }


def card_lines(index: int, model: str) -> list[str]:
    """One card and its profiles, as the library reads them."""
    table = table_of(model)
    major = table["capability"].split(".")[0]
    head = f"card GPU-{index} 00000000:{index + 16:02X}:00.0 {table['usable_mib']}"
    lines = [f"{head} {int(table['reset_to_enter'])} {major} {table['model']}"]
    sizes: dict[int, int] = {}
    for one in table["profiles"]:
        sizes[one["compute"]] = min(one["size"], sizes.get(one["compute"], one["size"]))
    for one in table["profiles"]:
        starts = " ".join(str(start) for start in one["starts"])
        lines.append(
            f"profile {asked_as(one, sizes)} {one['id']} {one['compute']} {one['max_instances']} "
            f"{one['memory_mib']} {one['cores']} {int(one['media'])} {one['encoders'] or 0} "
            f"{one['decoders'] or 0} {one['size']} {one['name']} {starts}"
        )
    return lines


class World:
    """One machine: its cards, what its library is told to refuse, and processes that use it."""

    def __init__(self, library: Path, folder: Path, models: tuple[str, ...]) -> None:
        self.library = library
        self.folder = folder
        lines = [line for i, model in enumerate(models) for line in card_lines(i, model)]
        (folder / "cards.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def script(self, *lines: str) -> None:
        """From now on: `fail FUNCTION CODE`, or `reset`, which lasts until the next script."""
        (self.folder / "script.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def reset(self) -> None:
        """What a reset of every card does, once."""
        self.script("reset")
        self.run("import pynvml; pynvml.nvmlInit()")
        self.script()

    def environment(self, **more: str) -> dict[str, str]:
        """What a process of this machine has in its environment."""
        return os.environ | {
            "LD_LIBRARY_PATH": str(self.library),
            "FAKE_NVML_WORLD": str(self.folder),
            "PYTHONPATH": str(ROOT),
            **more,
        }

    def run(
        self,
        source: str,
        *arguments: str,
        killed: bool = False,
        limit_s: float = 120.0,
        **more: str,
    ):
        """Run a program in a child that loads the library; what it prints as JSON, or nothing.

        One that is to be killed on its way says nothing; False when it lived to its end.
        """
        command = [sys.executable, "-c", source, *arguments]
        ended = subprocess.run(
            command,
            env=self.environment(**more),
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
        )
        if killed:
            assert ended.returncode in (0, -9), ended.stderr
            return ended.returncode == -9
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout) if ended.stdout else None

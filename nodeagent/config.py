"""Flags and environment of the agent: read once, checked, then handed on as values."""

import argparse
import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class BadConfig(ValueError):
    """The agent cannot start like this; the text is the one line that says why."""


@dataclass(frozen=True)
class Config:
    """How this process was asked to run. Folders are absolute."""

    portal: str
    state_dir: Path
    work_dir: Path
    fleet: Path | None = None
    simulated: bool = False
    node: str = ""
    all_nodes: bool = False
    token: str = ""
    token_file: Path | None = None
    token_folder: Path | None = None
    observe: bool = False
    carve: bool = False
    hami_core: Path | None = None
    exporter: str = ""
    vgpu_policy: str = ""
    stop_workloads: bool = False
    grace_s: float = 10.0
    faults: Path | None = None
    ca: Path | None = None
    log_level: str = "INFO"
    as_json: bool = False
    address: str = ""
    gang_ports: tuple[int, int] | None = None
    home_dir: Path | None = None
    notebook_requirements: Path | None = None
    notebook_index: str = ""

    def token_of(self, node: str) -> str:
        """The join token for a node: given itself, in a file, or in the folder as NODE.token.

        A file may hold one token, or a JSON object of node to token.
        """
        if self.token:
            return self.token
        path = self.token_file
        if path is None and self.token_folder is not None:
            path = self.token_folder / f"{node}.token"
        if path is None or not path.exists():
            return ""
        text = path.read_text(encoding="utf-8").strip()
        if text.startswith("{"):
            return str(json.loads(text).get(node, ""))
        return text


def parser() -> argparse.ArgumentParser:
    """The command line; every flag has a variable GPUPOOL_AGENT_<FLAG>."""
    made = argparse.ArgumentParser(
        prog="python -m nodeagent", description="The agent of one GPU node."
    )
    made.add_argument("action", nargs="?", default="run", choices=["run", "doctor"])
    made.add_argument("--portal", help="address of the portal, https:// or loopback http://")
    made.add_argument("--state-dir", help="the agent's own folder: credential, records, logs")
    made.add_argument("--work-dir", help="root of the jobs' folders; job accounts must reach it")
    made.add_argument("--fleet", help="simulate nodes of this YAML file ('default': the built-in)")
    made.add_argument("--node", help="name of this node; with --fleet, which one to simulate")
    made.add_argument("--all-nodes", "--all", action="store_true", help="every node of the fleet")
    made.add_argument("--join-token", help="one-time token (better in a file)")
    made.add_argument("--join-token-file", help="file with the token, or JSON of node to token")
    made.add_argument("--join-token-folder", help="folder with one file NODE.token each")
    made.add_argument("--observe", action="store_true", help="measure only, change nothing")
    made.add_argument(
        "--carve", action="store_true", help="let the portal cut and share real cards"
    )
    made.add_argument("--hami-core", help="HAMi-core's library, where it is in no usual place")
    made.add_argument("--exporter", help="address of a metrics exporter on this node")
    made.add_argument("--vgpu-policy", help="best_effort, equal_share or fixed_share")
    made.add_argument("--json", action="store_true", help="doctor: answer in JSON")
    made.add_argument("--stop-workloads", "--stop-workloads-on-exit", action="store_true")
    made.add_argument("--grace", help="seconds that workloads get when the agent stops them")
    made.add_argument("--faults", help="script of simulated faults, read again when it changes")
    made.add_argument("--ca", help="certificate authority of the portal")
    made.add_argument("--address", help="where other nodes reach this one (default: found out)")
    made.add_argument("--gang-ports", help="FIRST-LAST port for gangs to meet (default: any free)")
    made.add_argument("--home-dir", help="where files of notebooks are kept; shared by all nodes")
    made.add_argument("--notebook-requirements", help="file of packages that notebooks find, too")
    made.add_argument("--notebook-index", help="package index for the notebooks' environment")
    made.add_argument("--log-level", help="DEBUG, INFO, WARNING or ERROR")
    return made


def parse(arguments: Sequence[str], environment: Mapping[str, str]) -> tuple[str, Config]:
    """(action, config); a flag wins over its variable.

    Raises:
        BadConfig
    """
    given = vars(parser().parse_args(arguments))
    action: str = given.pop("action")

    def value(name: str, default: str = "") -> str:
        return str(given.get(name) or environment.get(f"GPUPOOL_AGENT_{name.upper()}") or default)

    def path(name: str) -> Path | None:
        return Path(value(name)).absolute() if value(name) else None

    state = path("state_dir") or Path("agent").absolute()
    config = Config(
        portal=value("portal", "http://127.0.0.1:8000"),
        state_dir=state,
        work_dir=path("work_dir") or default_work_dir(state),
        fleet=None if value("fleet") in ("", "default") else path("fleet"),
        simulated=bool(value("fleet")),
        node=value("node"),
        all_nodes=_yes(value("all_nodes")),
        token=value("join_token"),
        token_file=path("join_token_file"),
        token_folder=path("join_token_folder"),
        observe=_yes(value("observe")),
        carve=_yes(value("carve")),
        hami_core=path("hami_core"),
        exporter=value("exporter"),
        vgpu_policy=value("vgpu_policy"),
        as_json=_yes(value("json")),
        stop_workloads=_yes(value("stop_workloads")),
        grace_s=_seconds(value("grace", "10")),
        faults=path("faults"),
        ca=path("ca"),
        log_level=value("log_level", "INFO").upper(),
        address=value("address"),
        gang_ports=_ports(value("gang_ports")),
        home_dir=path("home_dir"),
        notebook_requirements=path("notebook_requirements"),
        notebook_index=value("notebook_index"),
    )
    _check(config)
    return action, config


def default_work_dir(state_dir: Path) -> Path:
    """Root keeps jobs where any account may reach them; an ordinary user beside its own state."""
    return Path("/var/lib/gpupool/work") if os.geteuid() == 0 else state_dir / "work-files"


def host_name() -> str:
    """The name of a real node when none is given: a label, never dialled."""
    return platform.node() or "node"


def _check(config: Config) -> None:
    parts = urlsplit(config.portal)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadConfig(f"--portal {config.portal!r} is no http(s) address")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise BadConfig(f"--portal {config.portal}: plain http is for loopback only, use https")
    if config.all_nodes and not config.simulated:
        raise BadConfig("--all-nodes needs --fleet: a real machine is one node")
    if config.log_level not in ("DEBUG", "INFO", "WARNING", "ERROR"):
        raise BadConfig(f"--log-level {config.log_level!r} is not known")


def _yes(text: str) -> bool:
    return text.casefold() in ("1", "true", "yes", "on")


def _ports(text: str) -> tuple[int, int] | None:
    if not text:
        return None
    first, _, last = text.partition("-")
    if not (first.isdigit() and last.isdigit() and 0 < int(first) <= int(last) < 65536):
        raise BadConfig(f"--gang-ports {text!r} is no FIRST-LAST range of ports")
    return int(first), int(last)


def _seconds(text: str) -> float:
    try:
        return max(float(text), 0.0)
    except ValueError:
        raise BadConfig(f"--grace {text!r} is no number of seconds") from None

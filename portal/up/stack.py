"""The parts of the stack, from options and folders: what runs, with what environment."""

import json
import os
import shutil
import signal
import socket
import sys
import time
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil

from portal.settings.env import ROOT
from portal.up.account import needs_another
from portal.up.folders import SOCKET_FOLDER, DataFolder, socket_folder, write_private
from portal.up.options import Options
from portal.up.part import Part
from portal.up.postgres import Postgres
from portal.up.probe import Health, answers
from portal.up.refusal import Refused
from portal.up.valkey import Valkey

QUEUES = {
    "rounds": ("rounds", 1),
    "worker": ("default,metering", 2),
    "studies": ("studies", 1),
}
PROCESSES_PER_NODE_UP_TO = 8


@dataclass
class Stack:
    """Everything one `up` runs; engines are None where a URL names a server of the site."""

    options: Options
    folder: DataFolder
    sockets: Path
    postgres: Postgres | None
    valkey: Valkey | None
    listening: dict[str, socket.socket] = field(default_factory=dict)
    health: Health = field(init=False)

    def __post_init__(self) -> None:
        self.health = Health(self.options.url, self.folder.words()["health_token"])

    @classmethod
    def laid_out(cls, options: Options, folder: DataFolder) -> "Stack":
        """Folders and engines chosen, ports taken, connection data written; nothing runs yet.

        Raises:
            Refused: a port is busy, an engine cannot run here, a folder cannot be used.
        """
        words = folder.words()
        listening = {
            "web": _bound(options.host, options.port),
            "gateway": _bound(options.host, options.port + 1),
        }
        _forget_sockets(folder)
        sockets = socket_folder()
        postgres = valkey = None
        if not os.environ.get("DATABASE_URL"):
            if needs_another():
                folder.root.chmod(0o711)
            postgres = Postgres.found(
                folder=folder.root / "postgres",
                sockets=sockets,
                password=words["postgres_password"],
            )
            postgres.account.own(sockets)
        if not os.environ.get("REDIS_URL"):
            valkey = Valkey.found(
                folder=folder.root / "valkey", sockets=sockets, password=words["valkey_password"]
            )
        made = cls(options, folder, sockets, postgres, valkey, listening)
        made._write_connection()
        return made

    def _write_connection(self) -> None:
        words = self.folder.words()
        known = {name: words[name] for name in ("secret_key", "sealing_key", "health_token")}
        known["sockets"] = str(self.sockets)
        if self.postgres:
            known["database_url"] = self.postgres.url
        if self.valkey:
            known["redis_url"] = self.valkey.url
        write_private(self.folder.connection, known)

    @property
    def environment(self) -> dict[str, str]:
        """What every child of ours gets; secrets travel by the connection file, not by this."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PG", "GPUPOOL_ROLE"))}
        hosts = ["127.0.0.1", "localhost", "[::1]", *_names_of(self.options.host)]
        return kept | {
            "DJANGO_SETTINGS_MODULE": "portal.settings.local",
            "GPUPOOL_DATA_DIR": str(self.folder.root),
            "PUBLIC_URL": self.options.url,
            "GATEWAY_ORIGIN": self.options.gateway_origin,
            "GATEWAY_SELF": self.options.gateway_self,
            "ALLOWED_HOSTS": ",".join([*hosts, *filter(None, [kept.get("ALLOWED_HOSTS")])]),
            "PYTHONUTF8": "1",
            "PYTHONUNBUFFERED": "1",
            "PYTHONPATH": str(ROOT),
        }

    def engines(self) -> list[Part]:
        """PostgreSQL and Valkey, where they are ours."""
        parts = []
        if self.postgres:
            pg = self.postgres
            parts.append(
                Part(
                    name="postgres",
                    command=pg.command,
                    well=pg.answers,
                    environment=pg.environment,
                    own_environment=True,
                    account=pg.account,
                    before=pg.clear,
                    farewell=signal.SIGINT,
                    death=signal.SIGQUIT,
                    grace=30.0,
                )
            )
        if self.valkey:
            vk = self.valkey
            parts.append(Part(name="valkey", command=vk.command, well=vk.answers, before=vk.clear))
        return parts

    def planned(self) -> list[str]:
        """The names of what will run, as far as they are known before the first run."""
        engines = [part.name for part in self.engines()]
        return [*engines, "migrate", "static", "first run", "web", *QUEUES, "beat"]

    def step(self, name: str, *arguments: str) -> Part:
        """Something that ends by itself before the web starts."""
        return Part(name=name, command=[sys.executable, *arguments], well=lambda: False)

    def doors(self) -> list[Part]:
        """Web and gateway; their ports stay ours while they restart."""
        parts = []
        for number in range(self.options.web_workers):
            name = "web" if self.options.web_workers == 1 else f"web-{number + 1}"
            parts.append(self._asgi(name, "web", "portal.asgi:application", self.health.ask))
        if find_spec("portal.gateway.app"):
            there = f"http://127.0.0.1:{self.options.port + 1}/"
            parts.append(
                self._asgi("gateway", "gateway", "portal.gateway.app:app", lambda: answers(there))
            )
        else:
            self.listening.pop("gateway").close()
        return parts

    def _asgi(self, name: str, role: str, application: str, well: Any) -> Part:
        handle = self.listening[role].fileno()
        return Part(
            name=name,
            command=[
                *(sys.executable, "-m", "uvicorn", application, "--fd", str(handle)),
                *("--no-access-log", "--lifespan", "off", "--timeout-graceful-shutdown", "5"),
                *("--timeout-keep-alive", "75"),
                *("--no-server-header", "--log-level", "warning"),
            ],
            well=well,
            environment={"GPUPOOL_ROLE": role},
            keep_open=(handle,),
        )

    def background(self) -> list[Part]:
        """Workers and beat."""
        celery = [sys.executable, "-m", "celery", "-A", "portal"]
        manners = ["--without-gossip", "--without-mingle", "--loglevel", "WARNING"]
        parts = []
        for name, (queues, processes) in QUEUES.items():
            asked = [f"queue:{queue}" for queue in queues.split(",")]
            parts.append(
                Part(
                    name=name,
                    command=[
                        *(*celery, "worker", "-Q", queues, "-c", str(processes)),
                        *("-n", f"{name}@%h", *manners),
                    ],
                    well=lambda asked=asked: all(  # type: ignore[misc]
                        self.health.well("workers", one) for one in asked
                    ),
                    environment={"GPUPOOL_ROLE": "worker"},
                )
            )
        schedule = self.folder.run / "beat-schedule"
        parts.append(
            Part(
                name="beat",
                command=[
                    *(*celery, "beat", "-s", str(schedule), "--pidfile="),
                    *("--loglevel", "WARNING"),
                ],
                well=lambda: self.health.well("beat"),
                environment={"GPUPOOL_ROLE": "worker"},
                before=lambda: schedule.unlink(missing_ok=True),
            )
        )
        return parts

    def fleet(self) -> dict[str, Any]:
        """What the first run laid down about local agents; empty when it named none.

        Raises:
            Refused: the file is damaged.
        """
        file = self.folder.run / "fleet.json"
        if not file.exists():
            return {"nodes": []}
        try:
            found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        except ValueError:
            raise Refused(f"{file} is damaged: remove it and start again.") from None
        return found

    def agents(self) -> list[Part]:
        """One process a node up to eight, else one for all; they leave with what they run."""
        fleet = self.fleet()
        nodes = fleet["nodes"]
        base = [
            *(sys.executable, "-m", "nodeagent", "--portal", self.options.url),
            *("--work-dir", str(self.options.work), "--stop-workloads"),
        ]
        if fleet.get("fleet"):
            base += ["--fleet", str(fleet["fleet"])]
        state = self.folder.root / "agents"
        if len(nodes) > PROCESSES_PER_NODE_UP_TO:
            tokens = str(self.folder.run / "join")
            command = [*base, "--all", "--state-dir", str(state), "--join-token-folder", tokens]
            command += ["--observe"] if any(node.get("observe") for node in nodes) else []
            return [self._agent("agents", command, [node["name"] for node in nodes])]
        parts = []
        for node in nodes:
            command = [*base, "--node", node["name"], "--state-dir", str(state / node["name"])]
            if node.get("observe"):
                command += ["--observe"]
            if node.get("join_token_file"):
                command += ["--join-token-file", node["join_token_file"]]
            parts.append(self._agent(f"agent-{node['name']}", command, [node["name"]]))
        return parts

    def _agent(self, name: str, command: list[str], nodes: list[str]) -> Part:
        begun = [0.0]
        return Part(
            name=name,
            command=command,
            well=lambda: all(self.health.heard(node, since=begun[0]) for node in nodes),
            before=lambda: begun.__setitem__(0, time.monotonic()),
            grace=20.0,
            umask=0o022,
        )


def _forget_sockets(folder: DataFolder) -> None:
    """A supervisor that was killed could not remove its folder of sockets."""
    if folder.connection.exists():
        left = json.loads(folder.connection.read_text(encoding="utf-8")).get("sockets", "")
        if Path(left).name.startswith(SOCKET_FOLDER):
            shutil.rmtree(left, ignore_errors=True)


def _bound(host: str, port: int) -> socket.socket:
    """A listening socket, taken before anything starts so that a busy port is said at once.

    Raises:
        Refused: the address is taken, not ours, or not allowed.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
        made.listen(512)
    except OSError as bad:
        made.close()
        raise Refused(
            f"Port {port} on {host} cannot be used: {bad.strerror}. Choose"
            " another with --port (the gateway takes the one above it)."
        ) from bad
    return made


def _names_of(host: str) -> list[str]:
    """The names under which people may ask when more than loopback is served."""
    if host not in {"0.0.0.0", "::"}:  # noqa: S104
        return []
    addresses = {
        one.address.partition("%")[0]
        for found in psutil.net_if_addrs().values()
        for one in found
        if one.family in {socket.AF_INET, socket.AF_INET6}
    }
    shown = sorted(f"[{one}]" if ":" in one else one for one in addresses)
    return [socket.gethostname(), socket.getfqdn(), *shown]

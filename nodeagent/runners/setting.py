"""What a shim is told: what it runs, as whom, in which folders and behind which walls."""

from dataclasses import dataclass
from pathlib import Path

from nodeagent import rendezvous, secrets_shelf
from nodeagent.enclosure.enclosure import Asked, Enclosure
from nodeagent.protocol.vocabulary import Mode
from nodeagent.records import Record
from nodeagent.runners import inside, staging
from nodeagent.runners.accounts import Account
from nodeagent.runners.base import Order
from nodeagent.runners.container import Containers
from nodeagent.runners.environment import PLAIN_PATH, environment

LIMITS = {"RLIMIT_NOFILE": 65536, "RLIMIT_NPROC": 8192, "RLIMIT_CORE": 0}
MIB = 1024 * 1024
NICE = 5
"""Jobs give way to the agent and the portal on a shared machine."""

WORDS_FD = 3
"""Where a shim finds the pipe on which it tells its agent that something is new on disk."""


@dataclass(frozen=True)
class Setting:
    """What is the same for every attempt of a node. `lease` is the file its shims read."""

    work_root: Path
    tools: Path
    lease: Path
    enclosure: Enclosure
    containers: Containers

    @property
    def places(self) -> tuple[Path, ...]:
        """Folders and programs that every job needs where they are."""
        return (self.work_root, *(tool.resolve() for tool in self.tools.glob("*")))

    @staticmethod
    def container(record: Record) -> str:
        """What its container is called: two agents of one machine never meet in a name."""
        return f"gpupool-{record.folder.name}"

    def shelf(self, record: Record) -> Path:
        """Where its secret files lie, in memory."""
        return secrets_shelf.place_of(str(self.lease.parent), record.folder.name)

    def lays(self, record: Record) -> bool:
        """Whether what it is given is laid in behind walls, or by an engine; else links stand."""
        return record.container or self.enclosure.tried.identity

    def spec(
        self, record: Record, order: Order, account: Account, staged: Path
    ) -> dict[str, object]:
        """The whole order of one shim; its control groups exist afterwards.

        Raises:
            OSError: the kernel refuses a control group.
            ValueError: the environment cannot be handed to a container.
        """
        work = order.work
        home = self.work_root / record.folder.name
        limits = dict(LIMITS)
        if work.disk_mib:
            limits["RLIMIT_FSIZE"] = work.disk_mib * MIB
        env = environment(work, order.slices, order.vendor, account, home, self.tools)
        env |= order.told
        return {
            "folder": str(record.folder),
            "staged": str(staged),
            "home": str(home),
            "limits": limits,
            "nice": NICE,
            "log_limit": work.log_limit_bytes,
            "grace_s": work.grace_s,
            "fence_s": order.fence_s if record.requeue else 0,
            "lease_at": order.lease_at,
            "lease": str(self.lease),
            "status_fd": WORDS_FD,
            **self._run(record, order, account, env | self._gang(record, order, home)),
        }

    def _run(
        self, record: Record, order: Order, account: Account, env: dict[str, str]
    ) -> dict[str, object]:
        """What is executed, as whom and behind which walls: the job, or an engine that runs it."""
        home = self.work_root / record.folder.name
        if record.container:
            shares = any(one.mode == Mode.MPS for one in order.slices)
            name = self.container(record)
            return {
                "argv": self.containers.command(
                    name,
                    order,
                    account,
                    home,
                    shares,
                    staging.laid(order.work, self.shelf(record)),
                    record.folder / inside.FILE,
                ),
                "undo": self.containers.undo(name),
                "told": self.containers.told(self.containers.shown() | env),
                "env": {"PATH": PLAIN_PATH, "HOME": str(record.folder)},
                "cwd": "/",
                "uid": None,
                "gid": None,
                "groups": [],
                "walls": {},
            }
        return {
            "argv": list(order.work.command),
            "undo": [],
            "told": b"",
            "env": env,
            "cwd": str(home / "files"),
            "umask": 0o007 if order.work.group and account.uid == account.gid else 0o077,
            "uid": account.uid,
            "gid": account.gid,
            "groups": list(account.groups),
            "walls": self._walls(record, order, home),
        }

    def _walls(self, record: Record, order: Order, home: Path) -> dict[str, object]:
        """Its bounds and its fence; a daemon of the host (MPS) meets it in the host's memory."""
        asked = Asked(
            cpu_milli=order.work.cpu_milli,
            memory_mib=order.work.memory_mib,
            devices=order.devices,
            numa=order.numa,
            shares_ipc=any(one.mode == Mode.MPS for one in order.slices),
            temporary=home / "tmp",
            places=self.places,
        )
        built = self.enclosure.walls(record.folder.name, asked)
        if self.lays(record):
            built["home"] = str(home)
            built["laid"] = [
                (one.root, one.tail, one.at, one.read_only)
                for one in staging.laid(order.work, self.shelf(record))
            ]
        return built

    def _gang(self, record: Record, order: Order, home: Path) -> dict[str, str]:
        """Which NUMA nodes lie beside its cards, and its place among the ranks of a gang."""
        near = {"GPUPOOL_NUMA_NODES": ",".join(map(str, order.numa))} if order.numa else {}
        launch = order.work.launch
        return near if launch is None else near | rendezvous.variables(launch, record.port, home)

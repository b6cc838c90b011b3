"""What both sides say of notebooks: how far one is, what moves in it, and where a tunnel leads."""

from enum import StrEnum

from msgspec import Struct

SOCKET = "notebook.sock"
"""The file in an attempt's own folder at which its Jupyter server listens."""

TOKEN = "JUPYTER_TOKEN"  # noqa: S105 - the name of a variable
"""The variable that holds what a Jupyter server wants to be told by who comes in."""

PREFIX = "/n/"
"""All notebooks are served below this path, each below its workload's uid."""


class Stage(StrEnum):
    """How far a notebook has come on its node."""

    ENVIRONMENT = "environment"
    STARTING = "starting"
    READY = "ready"


class NotebookSeen(Struct, frozen=True, kw_only=True):
    """What its node knows of one notebook. None is unknown, never 0.

    `quiet` values are seconds on CLOCK_BOOTTIME since something last moved; `looked_ago_s` is how
    old all of it is. `busy` counts kernels that execute, `jobs` processes that are neither server
    nor kernel nor the shell of a terminal. CPU in cores, disk and net in MiB/s of the whole process
    tree; net is what people sent and fetched through the tunnels.
    """

    stage: Stage
    words: str = ""
    looked_ago_s: float | None = None
    kernels: int | None = None
    busy: int | None = None
    kernel_quiet_s: float | None = None
    terminals: int | None = None
    terminal_quiet_s: float | None = None
    jobs: int | None = None
    cpu_cores: float | None = None
    disk_mib_s: float | None = None
    net_mib_s: float | None = None


class TunnelAsk(Struct, frozen=True, kw_only=True):
    """A gateway wants one connection to a notebook: dial `url`, which holds a single-use id.

    What passes through one of somebody who only looks (`looks`) is no use of the notebook.
    """

    attempt: str
    url: str
    looks: bool = False


def base_path(workload: str) -> str:
    """Where a notebook is served, on the gateway and by its own server alike."""
    return f"{PREFIX}{workload}/"

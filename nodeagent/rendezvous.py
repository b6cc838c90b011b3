"""Where the ranks of a gang meet: this node's address, a free port, and what each rank is told."""

import contextlib
import socket
from pathlib import Path
from urllib.parse import urlsplit

from nodeagent.protocol.desired import Launch

HOSTS_FILE = "gang_hosts"
"""In a rank's temporary folder: one `address slots=cards` a line, as MPI launchers read it."""


def own_address(portal: str) -> str:
    """The address from which this node reaches the portal; nothing is sent. Empty when unknown."""
    parts = urlsplit(portal)
    with contextlib.suppress(OSError):
        found = socket.getaddrinfo(parts.hostname, parts.port or 443, type=socket.SOCK_DGRAM)
        family, kind, protocol, _, where = found[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.connect(where)
            return str(probe.getsockname()[0])
    return ""


def free_port(among: tuple[int, int] | None = None) -> int:
    """A port on which nothing listens now: of that range, or any the system gives.

    Raises:
        OSError: none is free.
    """
    if among is None:
        return _bound(0)
    for port in range(among[0], among[1] + 1):
        with contextlib.suppress(OSError):
            return _bound(port)
    raise OSError(f"no port from {among[0]} to {among[1]} is free for a gang to meet")


def _bound(port: int) -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("", port))
        return int(probe.getsockname()[1])


def variables(launch: Launch, port: int, folder: Path) -> dict[str, str]:
    """A rank's place in its gang, as PyTorch, MPI and plain scripts read it.

    One process a node is started, so `RANK` and `WORLD_SIZE` count nodes; a launcher below it
    sets them anew for each card. torchrun reads the names that begin with PET_.
    """
    master = launch.hosts[0]
    cards = str(max(launch.slots[launch.rank], 1))
    size, rank = str(launch.size), str(launch.rank)
    return {
        "RANK": rank,
        "WORLD_SIZE": size,
        "LOCAL_RANK": "0",
        "NODE_RANK": rank,
        "NNODES": size,
        "MASTER_ADDR": master,
        "MASTER_PORT": str(port),
        "PET_NNODES": size,
        "PET_NODE_RANK": rank,
        "PET_NPROC_PER_NODE": cards,
        "PET_MASTER_ADDR": master,
        "PET_MASTER_PORT": str(port),
        "PET_RDZV_CONF": f"timeout={launch.timeout_s}",
        "GPUPOOL_RANK": rank,
        "GPUPOOL_WORLD_SIZE": size,
        "GPUPOOL_HOSTS": ",".join(launch.hosts),
        "GPUPOOL_HOST_SLOTS": ",".join(str(one) for one in launch.slots),
        "GPUPOOL_HOSTS_FILE": str(folder / "tmp" / HOSTS_FILE),
        "GPUPOOL_MASTER_ADDR": master,
        "GPUPOOL_MASTER_PORT": str(port),
        "GPUPOOL_RENDEZVOUS_SECONDS": str(launch.timeout_s),
    }


def hosts_file(launch: Launch) -> str:
    """The gang's nodes in the order of their ranks, one a line."""
    pairs = zip(launch.hosts, launch.slots, strict=True)
    return "".join(f"{host} slots={max(slots, 1)}\n" for host, slots in pairs)

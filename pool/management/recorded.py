"""Recorded work as people keep it: rows of CSV files to the replay's own words."""

import json
from collections.abc import Iterable, Mapping
from importlib.resources import files

from nodeagent.protocol.inventory import Geometry, Profile
from nodeagent.protocol.vocabulary import Isolation, Mode
from pool.replay.mig import Request
from pool.replay.packing import Arrival, NodeRow
from pool.replay.queue import Job
from pool.scheduling.model import PriorityClass

Rows = Iterable[Mapping[str, str]]


def nodes_from(rows: Rows) -> list[NodeRow]:
    """Nodes of a packing run. Raises KeyError or ValueError on a row that is not as described."""
    return [
        NodeRow(
            name=row["node"],
            cpu_milli=int(row["cpu_milli"]),
            memory_mib=int(row["memory_mib"]),
            gpus=int(row["gpus"] or 0),
            model=row["model"],
        )
        for row in rows
    ]


def arrivals_from(rows: Rows) -> list[Arrival]:
    """Arrivals of a packing run, in their order. Raises as `nodes_from`."""
    return [
        Arrival(
            number=int(row["i"]),
            cpu_milli=int(row["cpu_milli"]),
            memory_mib=int(row["memory_mib"]),
            gpus=int(row["num_gpu"] or 0),
            gpu_milli=int(row["gpu_milli"] or 0),
            models=frozenset(filter(None, (row["models"] or "").split("|"))),
        )
        for row in rows
    ]


def jobs_from(rows: Rows) -> list[Job]:
    """Jobs of a queue run. Raises as `nodes_from`."""
    return [
        Job(
            number=int(row["i"]),
            submit_s=float(row["submit_s"]),
            duration_s=float(row["duration_s"]),
            declared_s=float(row["declared_s"] or row["duration_s"]),
            gpus=int(row["gpus"]),
            priority=PriorityClass(row["priority"] or "normal"),
            tenant=row["tenant"],
            checkpoint_s=float(row["checkpoint_s"]) if row["checkpoint_s"] else None,
        )
        for row in rows
    ]


def requests_from(rows: Rows) -> list[Request]:
    """Requests of a MIG run. Raises as `nodes_from`."""
    return [
        Request(
            number=int(row["i"]),
            arrive_s=float(row["arrive_s"]),
            leave_s=float(row["leave_s"]) if row["leave_s"] else None,
            profile=row["profile"],
        )
        for row in rows
    ]


def geometry_named(model: str) -> Geometry:
    """The published MIG geometry of a card model. Raises ValueError for a model without one."""
    path = files("nodeagent.facts") / "mig" / f"{model}.json"
    if not model.replace("_", "").isalnum() or not path.is_file():
        raise ValueError(f"no MIG geometry is known for {model!r}")
    told = json.loads(path.read_text(encoding="utf-8"))
    return Geometry(
        mode=Mode.MIG,
        units=told["units"],
        compute_units=told["compute_units"],
        isolation=Isolation.HARDWARE,
        reset_to_enter=told["reset_to_enter"],
        profiles=tuple(
            Profile(
                name=p["name"],
                profile_id=str(p["id"]),
                compute=p["compute"],
                size=p["size"],
                memory_mib=p["memory_mib"] or p["nominal_gb"] * 1024,
                nominal_gb=p["nominal_gb"],
                starts=tuple(p["starts"]),
                max_instances=p["max_instances"],
                media=p["media"],
                encoders=p["encoders"],
                decoders=p["decoders"],
            )
            for p in told["profiles"]
        ),
    )

"""Geometries of real cards, as the published tables give them."""

import json
from functools import cache
from importlib.resources import files

from nodeagent.protocol.inventory import Geometry, Profile
from nodeagent.protocol.vocabulary import Isolation, Mode


@cache
def mig(name: str) -> Geometry:
    told = json.loads((files("nodeagent.facts") / "mig" / f"{name}.json").read_text())
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
                memory_mib=p["memory_mib"],
                nominal_gb=p["nominal_gb"],
                starts=tuple(p["starts"]),
                max_instances=p["max_instances"],
                media=p["media"],
            )
            for p in told["profiles"]
        ),
    )

"""In a child process: goes from every layout to every other one through the real binding."""

import json
import sys
from pathlib import Path

import pynvml

from nodeagent.drivers.base import DriverError
from nodeagent.drivers.nvml import mig
from nodeagent.drivers.nvml.carver import Carver
from nodeagent.protocol.desired import WantedSlice
from nodeagent.protocol.vocabulary import Mode


class Walk:
    """One card in MIG mode and what lies on it."""

    def __init__(self, state: Path) -> None:
        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByIndex(0)
        self.card = pynvml.nvmlDeviceGetUUID(handle)
        geometry = mig.geometry(handle)
        self.profiles = {profile.name: profile for profile in geometry.profiles}
        self.carver = Carver(state / "mig.json")
        self.carver.open({self.card: (handle, geometry)})

    def lies(self):
        """(profile, start) of what is ready."""
        return {(row.profile, row.start) for row in self.carver.found(self.card)}

    def go(self, layout):
        """Take away what is not meant to stay, then cut the rest, large ones first."""
        wanted = {tuple(place) for place in layout}
        for profile, start in self.lies() - wanted:
            self.carver.delete(f"{profile}@{start}")
        for place in sorted(wanted - self.lies(), key=lambda p: -self.profiles[p[0]].size):
            self.cut(*place)
        assert self.lies() == wanted, (layout, self.lies())

    def cut(self, profile, start):
        """One slice, named after its place."""
        kind = self.profiles[profile]
        self.carver.create(
            WantedSlice(
                uid=f"{profile}@{start}",
                card=self.card,
                mode=Mode.MIG,
                profile=profile,
                memory_mib=kind.memory_mib,
                compute_milli=100,
                start=start,
                size=kind.size,
            )
        )

    def refused(self, first, second):
        """The kind and the words of the refusal of a second slice beside the first."""
        self.go([first])
        try:
            self.cut(*second)
        except DriverError as failure:
            assert self.lies() == {tuple(first)}
            return type(failure).__name__, str(failure)
        return "made", ""


def every_way(walk, layouts):
    """From empty to each, from each to each; how many ways were gone."""
    ways = 0
    for number, one in enumerate(layouts):
        walk.go([])
        walk.go(one)
        for other in layouts[number + 1 :]:
            walk.go(other)
            walk.go(one)
            ways += 2
    return ways + len(layouts)


if __name__ == "__main__":
    state, layouts, pairs = json.loads(sys.argv[1])
    walker = Walk(Path(state))
    answers = [walker.refused(*pair) for pair in pairs]
    sys.stdout.write(json.dumps([every_way(walker, layouts), answers]))

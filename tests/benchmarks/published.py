"""The published experiments as inputs: arrivals, jobs and MIG requests, the same for a seed."""

import csv
import os
import random
from datetime import datetime
from pathlib import Path

from pool.replay.mig import Request
from pool.replay.packing import Arrival, NodeRow
from pool.replay.queue import Job

MIG_NAMES = ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")
MIG_MIXES = {
    "uniform": (1, 1, 1, 1, 1, 1),
    "small": (6, 2, 3, 1, 1, 0.5),
    "large": (1, 1, 2, 4, 3, 2),
    "bimodal": (6, 1, 1, 1, 1, 4),
    "no-whole": (4, 1, 3, 2, 1, 0),
}
MIG_UNITS = (1, 2, 2, 4, 4, 8)


def traces():
    """The folder of recorded work, or None with a plain word when there is none."""
    told = os.environ.get("TRACES_DIR", "")
    if told and Path(told).is_dir():
        return Path(told)
    print("\nTRACES_DIR names no folder of recorded work: nothing is replayed")  # noqa: T201
    return None


def rows(path):
    with path.open(newline="", encoding="utf-8") as told:
        return list(csv.DictReader(told))


def nodes(folder):
    found = rows(folder / "alibaba_gpu_v2023" / "openb_node_list_gpu_node.csv")
    return [
        NodeRow(n["sn"], int(n["cpu_milli"]), int(n["memory_mib"]), int(n["gpu"]), n["model"])
        for n in found
    ]


def mixes(folder):
    """The workload mixes there are, by their short names."""
    found = (folder / "alibaba_gpu_v2023").glob("openb_pod_list_*.csv")
    return sorted(path.stem.removeprefix("openb_pod_list_") for path in found)


def arrivals(folder, mix, seed, capacity):
    """Tasks by name, shuffled, then drawn with replacement up to 130 % of the capacity."""
    pods = rows(folder / "alibaba_gpu_v2023" / f"openb_pod_list_{mix}.csv")
    pods.sort(key=lambda pod: pod["name"])
    chance = random.Random(seed)
    chance.shuffle(pods)
    made, asked = [], 0
    while asked <= 1.3 * capacity * 1000:
        pod = chance.choice(pods)
        gpus = int(pod["num_gpu"])
        milli = int(pod["gpu_milli"]) if gpus else 0
        asked += gpus * milli
        models = frozenset(filter(None, (pod.get("gpu_spec") or "").split("|")))
        cpu, memory = int(pod["cpu_milli"]), int(pod["memory_mib"])
        made.append(Arrival(len(made), cpu, memory, gpus, milli, models))
    return made


def published(folder):
    """Unallocated per cent at 100 % of arrivals, by mix and policy."""
    found = rows(folder / "fgd_expected" / "summary.csv")
    return {
        (row["workload"].removeprefix("openb_pod_list_"), row["policy"]): float(
            row["unalloc_pct_at_100"]
        )
        for row in found
    }


def philly(folder, count, factor=1.0, teams=False):
    """Jobs of October and November 2017, declared `factor` times as long as they ran.

    With `teams` each belongs to the virtual cluster that it was sent to.
    """
    begin, end = datetime(2017, 10, 1), datetime(2017, 12, 1)  # noqa: DTZ001
    found = []
    for row in rows(folder / "philly" / "philly_adaptdl.csv"):
        at = datetime.fromisoformat(row["timestamp"])
        if begin <= at < end:
            told = ((at - begin).total_seconds(), float(row["duration"]), int(row["num_gpus"]))
            found.append((*told, row["cluster"] if teams else "recorded"))
    found.sort()
    return [
        Job(i, at, length, length * factor, gpus, tenant=team)
        for i, (at, length, gpus, team) in enumerate(found[:count])
    ]


def mig_requests(mix, seed, count, cards, churn):
    """Requests of one mix; under churn they offer 0.95 of the cards' memory units."""
    chance = random.Random(seed)
    weights = MIG_MIXES[mix]
    mean = sum(w * u for w, u in zip(weights, MIG_UNITS, strict=True)) / sum(weights)
    rate = 0.95 * 8 * cards / mean
    made, clock = [], 0.0
    for number in range(count):
        clock += chance.expovariate(rate)
        leave = clock + chance.expovariate(1.0) if churn else None
        profile = chance.choices(MIG_NAMES, weights)[0]
        made.append(Request(number, clock, leave, profile))
    return made

"""manage.py simulate: the live scheduler on recorded work, CSV in and CSV out."""

import csv
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from pool.management.recorded import (
    arrivals_from,
    geometry_named,
    jobs_from,
    nodes_from,
    requests_from,
)
from pool.replay import mig, packing, queue

Row = dict[str, str]


class Command(BaseCommand):
    """Replays recorded work through the live planner; needs no database and no server."""

    help = "Replay recorded work through the live scheduler: packing, queue or mig."
    requires_system_checks: list[str] | tuple[str, ...] | Literal["__all__"] = []

    def add_arguments(self, parser: CommandParser) -> None:
        modes = parser.add_subparsers(dest="mode", required=True, parser_class=ArgumentParser)
        packed = modes.add_parser("packing", help="arrivals that never leave")
        packed.add_argument("--nodes", type=Path, required=True)
        packed.add_argument("--arrivals", type=Path, required=True)
        queued = modes.add_parser("queue", help="jobs that wait, run and end")
        queued.add_argument("--jobs", type=Path, required=True)
        queued.add_argument("--nodes", type=int, required=True)
        queued.add_argument("--gpus-per-node", type=int, required=True)
        queued.add_argument("--policy", choices=("live", "fifo", "easy"), default="live")
        queued.add_argument("--segments", type=Path)
        queued.add_argument(
            "--compare", action="store_true", help="replay first come and EASY too, print all three"
        )
        queued.add_argument("--grace", type=float, default=60.0)
        queued.add_argument("--restart", type=float, default=120.0)
        cut = modes.add_parser("mig", help="MIG requests that come and go")
        cut.add_argument("--cards", type=int, required=True)
        cut.add_argument("--model", required=True)
        cut.add_argument("--requests", type=Path, required=True)
        for mode in (packed, queued, cut):
            mode.add_argument("--out", type=Path, required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        run = {"packing": self._packing, "queue": self._queue, "mig": self._mig}
        try:
            run[options["mode"]](options)
        except (KeyError, ValueError) as wrong:
            raise CommandError(f"The input is not as described: {wrong}") from wrong
        except OSError as wrong:
            raise CommandError(f"{wrong.filename}: {wrong.strerror}") from wrong

    def _packing(self, options: dict[str, Any]) -> None:
        nodes = nodes_from(_rows(options["nodes"]))
        arrivals = arrivals_from(_rows(options["arrivals"]))
        capacity = sum(node.gpus for node in nodes) * 1000
        asked = given = refused = 0
        at_full: int | None = None
        with _writer(options["out"], ("i", "node", "gpus")) as write, _bar(len(arrivals)) as step:
            for arrival, answer in zip(arrivals, packing.replay(nodes, arrivals), strict=True):
                write((answer.number, answer.node, "-".join(map(str, answer.gpus))))
                asked += arrival.gpus * arrival.gpu_milli
                given += arrival.gpus * arrival.gpu_milli if answer.node else 0
                refused += not answer.node
                at_full = given if at_full is None and asked >= capacity else at_full
                step()
        self._say(tasks=len(arrivals), refused=refused)
        if at_full is not None:
            self._say(unallocated_percent_when_all_was_asked_for=_free(capacity, at_full))
        self._say(unallocated_percent=_free(capacity, given))

    def _queue(self, options: dict[str, Any]) -> None:
        jobs = jobs_from(_rows(options["jobs"]))
        shape = queue.Shape(
            nodes=options["nodes"],
            cards=options["gpus_per_node"],
            policy=options["policy"],
            grace_s=options["grace"],
            restart_s=options["restart"],
        )
        runs = _replayed(jobs, shape)
        self._write_starts(options["out"], jobs, runs)
        if options["segments"]:
            _write_segments(options["segments"], runs)
        waits = _waits(jobs, runs)
        self._say(jobs=len(jobs), never_ran=len(jobs) - len(waits), **_spread(sorted(waits)))
        if options["compare"]:
            self._compare(jobs, shape, runs)

    def _compare(
        self,
        jobs: Sequence[queue.Job],
        shape: queue.Shape,
        runs: dict[int, list[queue.Segment]],
    ) -> None:
        """The same jobs under each policy, one line each; large jobs fill a node or more."""
        large = [job for job in jobs if job.gpus >= shape.cards]
        for policy in ("live", "fifo", "easy"):
            mine = runs
            if policy != shape.policy:
                mine = _replayed(jobs, replace(shape, policy=policy))
            told = _spread(sorted(_waits(jobs, mine)))
            told["large_mean_s"] = _spread(sorted(_waits(large, mine))).get("mean_wait_s", 0.0)
            words = ", ".join(f"{name.replace('_', ' ')} {told[name]}" for name in told)
            self.stdout.write(f"{policy}: {words}")

    def _write_starts(
        self, out: Path, jobs: Sequence[queue.Job], runs: dict[int, list[queue.Segment]]
    ) -> None:
        names = ("i", "start_s", "end_s", "placement", "preemptions")
        with _writer(out, names) as write:
            for job in jobs:
                mine = runs.get(job.number)
                if mine is None:
                    write((job.number, "", "", "", 0))
                    continue
                last = mine[-1]
                write(
                    (job.number, mine[0].start_s, last.end_s, last.placement, len(mine) - 1),
                )

    def _mig(self, options: dict[str, Any]) -> None:
        requests = requests_from(_rows(options["requests"]))
        geometry = geometry_named(options["model"])
        unknown = {r.profile for r in requests} - {p.name for p in geometry.profiles}
        if unknown:
            raise CommandError(f"{options['model']} has no profile {', '.join(sorted(unknown))}")
        found: dict[int, mig.Cut] = {}
        with _bar(len(requests)) as step:
            for cut in mig.replay(options["cards"], geometry, requests):
                found[cut.number] = cut
                step()
        with _writer(options["out"], ("i", "card", "start")) as write:
            for request in requests:
                cut = found[request.number]
                write((cut.number, _or_empty(cut.card), _or_empty(cut.start)))
        served = [found[request.number].card is not None for request in requests]
        first = served.index(False) if False in served else len(served)
        self._say(
            requests=len(requests),
            refused=served.count(False),
            served_percent=round(100 * sum(served) / max(1, len(served)), 2),
            served_before_the_first_refusal=first,
        )

    def _say(self, **numbers: float) -> None:
        for name, number in numbers.items():
            self.stdout.write(f"{name.replace('_', ' ')}: {number}")


def _free(capacity: int, given: int) -> float:
    """What is not given away, in per cent of the capacity."""
    return round(100 * (capacity - given) / capacity, 3) if capacity else 0.0


def _replayed(jobs: Sequence[queue.Job], shape: queue.Shape) -> dict[int, list[queue.Segment]]:
    """The runs of each job under one policy, with a bar while they are replayed."""
    runs: dict[int, list[queue.Segment]] = {}
    with _bar(len(jobs)) as step:
        for segment in queue.replay(jobs, shape):
            if segment.number not in runs:
                step()
            runs.setdefault(segment.number, []).append(segment)
    return runs


def _waits(jobs: Sequence[queue.Job], runs: dict[int, list[queue.Segment]]) -> list[float]:
    """Seconds from submission to the first start, of those that ever ran."""
    return [runs[j.number][0].start_s - j.submit_s for j in jobs if j.number in runs]


def _rows(path: Path) -> Iterator[Row]:
    with path.open(newline="", encoding="utf-8") as told:
        yield from csv.DictReader(told)


@contextmanager
def _writer(path: Path, names: Sequence[str]) -> Iterator[Any]:
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(names)
        yield writer.writerow


def _write_segments(path: Path, runs: dict[int, list[queue.Segment]]) -> None:
    segments = sorted((s for mine in runs.values() for s in mine), key=_segment_order)
    with _writer(path, ("i", "start_s", "end_s", "placement", "lost_s")) as write:
        for s in segments:
            write((s.number, s.start_s, s.end_s, s.placement, s.lost_s))


def _segment_order(segment: queue.Segment) -> tuple[float, int]:
    return (segment.start_s, segment.number)


@contextmanager
def _bar(total: int) -> Iterator[Any]:
    """A progress bar on the terminal, nothing where there is none."""
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(file=sys.stderr)
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=total)
        yield lambda: progress.advance(task)


def _or_empty(number: int | None) -> str:
    return "" if number is None else str(number)


def _spread(waits: Sequence[float]) -> dict[str, float]:
    """Mean, median, P90, P99 and longest of sorted waits, in seconds."""
    if not waits:
        return {}

    def at(share: float) -> float:
        return round(waits[min(len(waits) - 1, int(len(waits) * share))], 1)

    mean = round(sum(waits) / len(waits), 1)
    return {
        "mean_wait_s": mean,
        "p50_wait_s": at(0.5),
        "p90_wait_s": at(0.9),
        "p99_wait_s": at(0.99),
        "longest_wait_s": at(1.0),
    }

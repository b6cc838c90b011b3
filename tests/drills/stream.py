"""A stream of short jobs whose every start, tick, signal and end is noted by themselves."""

from dataclasses import dataclass, field
from random import Random
from typing import Any

from pool.lifecycle.workloads import ENDED
from tests.house import House

JOB = (
    'm="{marks}/{name}"; exec 9>>"$m.lock"; flock -n 9 || echo "$GPUPOOL_ATTEMPT" >> "$m.doubled";'
    ' echo "$GPUPOOL_ATTEMPT" >> "$m.runs";'
    ' for s in TERM INT HUP; do trap "echo $s >> \\"$m.signals\\"" $s; done;'
    " i=0; while [ $i -lt {rounds} ]; do sleep 0.5; i=$((i+1)); done;"
    ' echo "$GPUPOOL_ATTEMPT" >> "$m.ends"; exit {code}'
)


@dataclass
class Stream:
    """Jobs by uid; `hit` are attempts whose shim the drill has killed."""

    house: House
    chance: Random
    codes: dict[str, int] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    hit: set[str] = field(default_factory=set)
    live: set[str] = field(default_factory=set)

    def submit(self) -> None:
        """One more job with a length and an exit code of its own."""
        number = len(self.codes)
        name, code = f"job-{number}", number % 5
        words = {"marks": self.house.marks, "name": name, "code": code}
        command = JOB.format(rounds=self.chance.randrange(1, 16), **words)
        uid = self.house.submit(command, name=name)
        self.codes[uid], self.names[uid] = code, name
        self.live.add(uid)

    def top_up(self, many: int) -> None:
        """So many jobs are on their way."""
        ended = {str(state) for state in ENDED}
        rows = self.house.rows(
            "SELECT uid, state FROM pool_workload WHERE uid = ANY(%s)", list(self.live)
        )
        self.live -= {uid for uid, state in rows if state in ended}
        while len(self.live) < many:
            self.submit()

    def lines(self, uid: str, what: str) -> list[str]:
        """What a job has noted."""
        try:
            return (self.house.marks / f"{self.names[uid]}.{what}").read_text().split()
        except FileNotFoundError:
            return []

    def judged(self, seconds: float) -> dict[str, int]:
        """Wait for all, hold every end to what the job itself noted; what was seen, counted."""
        done = self.house.ended(list(self.codes), seconds=seconds)
        return {
            "jobs": len(done),
            "attempts": sum(self._right(uid, row) for uid, row in done.items()),
            "given up before they began": sum(
                one["exit_reason"] == "start_failed"
                for row in done.values()
                for one in row["attempts"]
            ),
            "killed": sum(row["exit_reason"] == "killed" for row in done.values()),
        }

    def _right(self, uid: str, row: dict[str, Any]) -> int:
        """Attempts of one job, after its end was held to its own notes."""
        runs, ends = self.lines(uid, "runs"), self.lines(uid, "ends")
        told = {one["uid"]: one for one in row["attempts"]}
        assert self.lines(uid, "doubled") == [], (row, "two attempts of one job ran at once")
        assert self.lines(uid, "signals") == [], (row, "somebody signalled it")
        assert len(runs) == len(set(runs)), (row, "one attempt ran twice")
        assert set(runs) <= set(told), (row, "the books do not know a run")
        again = [one for uid, one in told.items() if uid != row["attempts"][0]["uid"]]
        for one in again:
            in_vain = one["exit_reason"] == "start_failed" and one["uid"] not in runs
            assert in_vain or one["uid"] in self.hit, (row, "it was run again without a cause")
        if row["state"] == "succeeded" or row["exit_reason"] == "own_error":
            assert row["exit_code"] == self.codes[uid], row
            assert len(ends) == 1, (row, "an end that the job did not reach")
        else:
            assert row["state"] == "failed" and row["exit_reason"] == "killed", row
            assert self.hit & set(told), (row, "killed by nobody")
            assert ends == [], (row, "it had come to its end")
        assert row["state"] == ("succeeded" if row["exit_code"] == 0 else "failed"), row
        return len(told)

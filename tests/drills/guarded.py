"""Jobs that note each of their runs, whether two ran at once, and who asked them to end."""

from dataclasses import dataclass

from tests.drills.agents import Agents
from tests.house import House
from tests.waiting import until

JOB = (
    'm="{marks}/{name}"; exec 9>>"$m.lock"; flock -n 9 || echo "$GPUPOOL_ATTEMPT" >> "$m.doubled";'
    ' echo "$GPUPOOL_ATTEMPT" >> "$m.runs";'
    " trap 'echo TERM >> \"$m.signals\"; exit 143' TERM;"
    ' while [ ! -e "$m.go" ]; do sleep 0.3; done; exit {code}'
)
ON = """
SELECT n.name FROM pool_attempt a JOIN pool_node n ON n.id = a.node_id
JOIN pool_workload w ON w.id = a.workload_id WHERE w.uid = %s ORDER BY a.number DESC LIMIT 1
"""


@dataclass(frozen=True)
class Guarded:
    """One job; `name` is that of its notes."""

    house: House
    uid: str
    name: str
    code: int

    @classmethod
    def begun(cls, house: House, name: str, code: int = 0, **more: str) -> "Guarded":
        """It runs when this returns."""
        line = JOB.format(marks=house.marks, name=name, code=code)
        made = cls(house, house.submit(line, name=name, expected_seconds=900, **more), name, code)
        house.all_in_state([made.uid], "running", seconds=90)
        until(lambda: made.lines("runs"), what=f"{name} has begun")
        return made

    def lines(self, what: str) -> list[str]:
        """What it has noted: runs, signals, doubled."""
        try:
            return (self.house.marks / f"{self.name}.{what}").read_text().split()
        except FileNotFoundError:
            return []

    @property
    def node(self) -> str:
        """Where its newest attempt was placed."""
        return str(self.house.rows(ON, self.uid)[0][0])

    def let_go(self) -> None:
        """It may end now."""
        (self.house.marks / f"{self.name}.go").touch()

    def ended_right(self, *reasons: str) -> None:
        """These are why its attempts ended, in order; each ran once, never two at a time."""
        row = self.house.ended([self.uid], seconds=90)[self.uid]
        assert row["exit_code"] == self.code, row
        assert row["state"] == ("failed" if self.code else "succeeded"), row
        ran = sorted(row["attempts"], key=lambda one: one["number"])
        assert [one["exit_reason"] for one in ran] == list(reasons), row
        assert self.lines("runs") == [one["uid"] for one in ran]
        assert self.lines("doubled") == []


def nodes(house: House) -> dict[str, str]:
    """The state of each node in the books."""
    return dict(house.rows("SELECT name, state FROM pool_node"))


def nothing_left(house: House, agents: Agents) -> None:
    """No shim runs, and the books hold nothing."""
    until(lambda: not agents.shims(), seconds=30, what="no shim is left")
    held = "SELECT count(*) FROM pool_hold WHERE upper_inf(held)"
    until(lambda: house.rows(held) == [(0,)], seconds=60, what="every hold is closed")
    quota = "SELECT count(*) FROM pool_quota WHERE kind <> 'entitlement' AND held <> 0"
    assert house.rows(quota) == [(0,)]

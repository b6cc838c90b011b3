"""Ten jobs that run until they are told to go, and note every second and every signal."""

from dataclasses import dataclass

from tests.house import House
from tests.waiting import until

JOB = (
    "m={marks}/{name}; echo started >> $m.runs;"
    ' for s in TERM INT HUP; do trap "echo $s >> $m.signals" $s; done;'
    " while [ ! -e $m.go ]; do echo tick >> $m.ticks; sleep 0.5; done;"
    " echo over; exit {code}"
)


@dataclass
class Jobs:
    """Jobs by number; each ends with an exit code of its own."""

    house: House
    uids: list[str]
    label: str

    @classmethod
    def running(cls, house: House, label: str, many: int = 10) -> "Jobs":
        """All of them run when this returns."""
        uids = [
            house.submit(
                JOB.format(marks=house.marks, name=f"{label}-{n}", code=n), expected_seconds=600
            )
            for n in range(many)
        ]
        made = cls(house, uids, label)
        house.all_in_state(uids, "running", seconds=90)
        until(lambda: all(map(made.ticked, range(many))), what="all jobs have begun")
        assert len(house.shims) == many
        return made

    def ticked(self, number: int) -> int:
        """How often a job has come round."""
        return len(self.read(number, "ticks"))

    def read(self, number: int, what: str) -> list[str]:
        """The lines a job has written."""
        try:
            return (self.house.marks / f"{self.label}-{number}.{what}").read_text().split()
        except FileNotFoundError:
            return []

    def let_go(self, *numbers: int) -> None:
        """These may end now."""
        for number in numbers:
            (self.house.marks / f"{self.label}-{number}.go").touch()

    def all_ended_right(self, *, seconds: float = 120.0) -> None:
        """Each ended with its own exit code, ran once, and was never signalled."""
        done = self.house.ended(self.uids, seconds=seconds)
        for number, uid in enumerate(self.uids):
            row = done[uid]
            assert row["exit_code"] == number, row
            assert row["state"] == ("failed" if number else "succeeded"), row
            assert len(row["attempts"]) == 1, row
            assert self.read(number, "runs") == ["started"]
            assert self.read(number, "signals") == []

    def books_are_empty(self) -> None:
        """Nothing is held any more, by the books and by the machine."""
        until(
            lambda: (
                self.house.rows("SELECT count(*) FROM pool_hold WHERE upper_inf(held)") == [(0,)]
            ),
            seconds=60,
            what="every hold is closed",
        )
        held = "SELECT count(*) FROM pool_quota WHERE kind <> 'entitlement' AND held <> 0"
        assert self.house.rows(held) == [(0,)]
        until(lambda: not self.house.shims, what="no shim is left")

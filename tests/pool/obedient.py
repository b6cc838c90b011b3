"""A node that does at once what is wanted of it, and tells of it in the protocol's own words."""

from dataclasses import dataclass, field

from nodeagent.protocol.report import FoundSlice, FoundWork, Report
from nodeagent.protocol.vocabulary import ExitReason, SliceFound, WorkFound, WorkWanted
from pool.clock import now
from pool.models.nodes import Node
from pool.selectors.desired import desired_of
from pool.services.observed import report_take


@dataclass
class Obedient:
    """Slices appear and vanish as wanted; work runs until `finish` or a stop."""

    row: Node
    boot: str = "boot-1"
    slices: dict = field(default_factory=dict)
    work: dict = field(default_factory=dict)
    generation: int = 0
    epoch: int = 1
    taken: object = None

    def pull(self):
        """Read the wish and do it."""
        wish = desired_of(node=self.row)
        self.epoch, self.generation = wish.epoch, wish.generation
        self.slices = {
            one.uid: FoundSlice(
                uid=one.uid,
                card=one.card,
                mode=one.mode,
                profile=one.profile,
                state=SliceFound.READY,
                memory_mib=one.memory_mib,
                start=one.start,
                size=one.size,
                device=f"dev-{one.uid}",
            )
            for one in wish.slices
        }
        for one in wish.work:
            if one.wanted is WorkWanted.STOP:
                self.end(one.attempt, one.workload, code=-15, reason=ExitReason(one.stop_reason))
            elif one.attempt not in self.work and _may_meet(one.launch):
                self.found(one.attempt, one.workload, WorkFound.RUNNING, **_place(one.launch))
        for uid in wish.closed:
            if uid in self.work:
                self.end(uid, self.work[uid].workload, code=-9, reason=ExitReason.KILLED)
        return wish

    def found(self, attempt, workload, state, **words):
        before = self.work.get(attempt)
        known = {} if before is None else {"rank": before.rank, "port": before.port}
        words = {"started_at": now().timestamp()} | known | words
        self.work[attempt] = FoundWork(attempt=attempt, workload=workload, state=state, **words)

    def end(self, attempt, workload, *, code=0, reason=ExitReason.FINISHED, clean=True, held=1.0):
        self.found(
            attempt,
            workload,
            WorkFound.EXITED,
            exit_code=code,
            exit_reason=reason,
            clean=clean,
            held_s=held if clean else None,
            clean_at=now().timestamp() if clean else None,
            ended_at=now().timestamp(),
        )

    def finish(self, workload, **how):
        """End the running attempt of a workload."""
        attempt = next(uid for uid, one in self.work.items() if one.workload == workload.uid)
        self.end(attempt, workload.uid, **how)

    def report(self, **words):
        """What the report looks like now."""
        facts = {
            "epoch": self.epoch,
            "generation": self.generation,
            "boot_id": self.boot,
            "sent_at": now().timestamp(),
            "slices": tuple(self.slices.values()),
            "work": tuple(self.work.values()),
        }
        return Report(**facts | words)

    def tell(self, report=None):
        """Send a report and forget what the portal has taken in."""
        self.row.refresh_from_db()
        self.taken = report_take(node=self.row, report=report or self.report())
        for uid in self.taken.closed:
            self.work.pop(uid, None)
        return self.taken

    def turn(self):
        """Pull and tell."""
        self.pull()
        return self.tell()


def _may_meet(launch):
    """As a real agent: rank 0 chooses the port, the others wait until they are told."""
    return launch is None or launch.rank == 0 or launch.port != 0


def _place(launch):
    if launch is None:
        return {}
    return {"rank": launch.rank, "port": launch.port or 29_500}

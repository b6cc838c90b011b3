"""A notebook on an obedient node, with a steady clock that the test moves."""

from dataclasses import dataclass, field

from msgspec.structs import replace

from nodeagent.protocol.notebooks import NotebookSeen, Stage
from nodeagent.protocol.samples import Reading, SampleBatch
from nodeagent.protocol.vocabulary import Fidelity, WorkFound
from pool.clock import now
from pool.cycle.idle import sweep
from pool.cycle.round import run_rounds
from pool.models import Card, Notebook
from pool.services.notebooks.judged import Clock
from pool.services.samples import samples_take
from tests.pool.place import Place, seen, settled

QUIET = {"busy": 0, "kernels": 1, "kernel_quiet_s": 9e5, "terminals": 0, "jobs": 0}
QUIET |= {"cpu_cores": 0.01, "disk_mib_s": 0.0, "net_mib_s": 0.0}


@dataclass
class Desk:
    """One person's notebook, and what its node says of it."""

    place: Place
    work: object
    boottime: float = 1000.0
    shift: float = 0.0
    sequence: int = 0
    sm: float | None = 0.0
    memory: float = 0.0
    fidelity: Fidelity = Fidelity.ESTIMATED
    facts: dict = field(default_factory=lambda: dict(QUIET))

    @classmethod
    def laid(cls):
        place = settled()
        return cls(place, place.submit(kind="notebook", command=["jupyter", "lab"]))

    @property
    def known(self):
        return Notebook.objects.get(workload=self.work)

    def turn(self, stage=Stage.READY):
        """The node does what is wanted, and tells how far the notebook is."""
        run_rounds()
        node = self.place.node
        node.pull()
        words = self.facts if stage == Stage.READY else {}
        told = NotebookSeen(stage=stage, looked_ago_s=0.0 if words else None, **words)
        for uid, one in list(node.work.items()):
            if one.state in (WorkFound.RUNNING, WorkFound.STARTING):
                node.work[uid] = replace(one, notebook=told)
        node.tell()
        return seen(self.work)

    def read(self):
        """Ten seconds of the slice's meters."""
        self.sequence += 1
        node = self.place.node
        card = Card.objects.get(node=node.row)
        for found in node.slices.values():
            attempt = next(iter(node.work), None)
            reading = Reading(
                at=now().timestamp(),
                card=card.uuid,
                slice=found.uid,
                attempt=attempt,
                sm_mean=self.sm,
                memory_mib_mean=self.memory,
                memory_mib_max=self.memory,
                fidelity=self.fidelity,
            )
            batch = SampleBatch(
                boot_id="boot-1",
                sequence=self.sequence,
                sent_at=now().timestamp(),
                readings=(reading,),
            )
            samples_take(node=node.row, batch=batch)

    def judge(self, *, after=5.0, moved=0.0):
        """One sweep, so many steady seconds after the last, the pool's clock moved by so much."""
        self.boottime += after
        self.shift += moved
        self.read()
        self.turn()
        sweep(Clock(at=now(), boot="boot-1", boottime=self.boottime, shift=self.shift))
        return seen(self.work)

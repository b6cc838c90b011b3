"""D25: five jobs and five notebooks; no clock that is off or jumps ends or reclaims any of them."""

from itertools import count

import pytest
from msgspec.structs import replace

from nodeagent.protocol.notebooks import NotebookSeen, Stage
from nodeagent.protocol.samples import Reading, SampleBatch
from nodeagent.protocol.vocabulary import Fidelity, WorkFound
from pool.clock import now
from pool.cycle.idle import sweep
from pool.cycle.silence import silence_sweep
from pool.cycle.watch import watch
from pool.models import Card, Event, Hold, IdleRule, Node, Notebook
from pool.services.notebooks.judged import Clock
from pool.services.samples import samples_take
from tests import rows
from tests.field.notebooks import QUIET
from tests.field.test_d25_clocks_that_differ import lengths, stepped
from tests.pool.obedient import Obedient
from tests.pool.place import Place, free, seen

pytestmark = pytest.mark.django_db

MANY, EVERY_S, IDLE_S = 5, 20.0, 600
SLICE = {"profile": "1g.10gb"}
TIMES = ("started_at", "ended_at", "clean_at")
KINDS = ("notebook.warned", "notebook.reclaimed")


class Hall:
    """Ten slices of two cards, the notebooks judged idle after ten quiet minutes."""

    def __init__(self):
        IdleRule.objects.create(idle_seconds=IDLE_S, warn_minutes=[2])
        part, into = rows.partition(), rows.project()
        quota = rows.quota(limit=9_000_000, label="A100-80GB", project=into, partition=part)
        self.place = Place(Obedient(rows.node(cards=2)), quota, into)
        self.jobs = [self.place.submit(need=SLICE) for _ in range(MANY)]
        page = {"kind": "notebook", "command": ["jupyter", "lab"]}
        self.notebooks = [self.place.submit(need=SLICE, **page) for _ in range(MANY)]
        self.skew_s, self.boottime, self.numbers = 0.0, 1000.0, count(1)
        self.place.node.pull()
        self.tell()
        self.all_run()

    def tell(self):
        """The node's report, each moment in it on the node's own clock; nothing moves anywhere."""
        node = self.place.node
        open_pages = {one.uid for one in self.notebooks}
        told = NotebookSeen(stage=Stage.READY, looked_ago_s=0.0, **QUIET)
        for uid, one in node.work.items():
            lives = one.workload in open_pages and one.state == WorkFound.RUNNING
            node.work[uid] = replace(one, notebook=told if lives else None)
        work = tuple(
            replace(one, **{name: at + self.skew_s for name in TIMES if (at := getattr(one, name))})
            for one in node.work.values()
        )
        node.tell(node.report(work=work, sent_at=now().timestamp() + self.skew_s))

    def read(self):
        """Each slice has memory in use, and no SM."""
        cards = dict(Card.objects.values_list("slices__uid", "uuid"))
        attempts = {sl: one for one, sl in self._slices()}
        at = now().timestamp() + self.skew_s
        words = {"at": at, "sm_mean": 0.0, "fidelity": Fidelity.ESTIMATED}
        readings = tuple(
            Reading(card=cards[uid], slice=uid, attempt=attempts[uid], **words)
            for uid in self.place.node.slices
            if uid in attempts
        )
        number = next(self.numbers)
        batch = SampleBatch(boot_id="boot-1", sequence=number, sent_at=at, readings=readings)
        self.place.node.row.refresh_from_db()
        assert samples_take(node=self.place.node.row, batch=batch) == len(readings) > 0

    def _slices(self):
        held = Hold.objects.filter(held__upper_inf=True, slice__isnull=False)
        return held.values_list("placement__attempt__uid", "slice__uid")

    def judge(self):
        """One look at all notebooks, twenty steady seconds after the last."""
        self.boottime += EVERY_S
        self.read()
        self.tell()
        sweep(Clock(at=now(), boot="boot-1", boottime=self.boottime, shift=0.0))

    def all_run(self):
        states = [seen(one).state for one in (*self.jobs, *self.notebooks)]
        assert states == ["running"] * 2 * MANY

    def untouched(self, looks):
        """Nobody was warned, and no more than the time of the looks is counted as quiet."""
        self.all_run()
        assert not Event.objects.filter(kind__in=KINDS).exists()
        counted = Notebook.objects.values_list("verdict", "quiet_s")
        assert len(counted) == MANY
        for verdict, quiet_s in counted:
            assert verdict == "idle"
            assert quiet_s == pytest.approx((looks - 1) * EVERY_S)

    def ended(self):
        """All of them end well, and no time was doubled or lost."""
        for one in (*self.jobs, *self.notebooks):
            self.place.node.finish(one, held=None)
        self.tell()
        states = {seen(one).state for one in (*self.jobs, *self.notebooks)}
        assert states == {"succeeded"}
        free(self.place)


@pytest.mark.parametrize("skew_s", [600.0, -600.0])
def test_a_node_ten_minutes_off_loses_no_job_and_no_notebook(skew_s):
    hall = Hall()
    hall.skew_s = skew_s
    for _ in range(8):
        hall.judge()
    hall.untouched(looks=8)
    hall.ended()
    assert all(0 < length < 60 for length in lengths())


@pytest.mark.parametrize("step_s", [3600.0, -3600.0])
def test_a_step_of_the_portals_clock_makes_no_notebook_idle(settings, step_s):
    """The machine's clock was set, the pool's was not moved: only steady seconds count."""
    settings.CLOCK_MOVABLE = True
    hall = Hall()
    for _ in range(4):
        hall.judge()
    silence_sweep(seen=1.0)
    stepped(step_s)
    silence_sweep(seen=3.0)
    watch()
    for _ in range(4):
        hall.judge()
    hall.untouched(looks=8)
    assert Node.objects.get().state == "ready"
    hall.ended()
    assert all(length > 0 for length in lengths())

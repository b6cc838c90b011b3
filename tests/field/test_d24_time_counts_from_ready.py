"""D24: a notebook that was reclaimed and resumed has its whole time again, from ready on."""

import pytest

from nodeagent.protocol.notebooks import Stage
from pool.events import SYSTEM
from pool.models import Event
from pool.services.notebooks.input import notebook_touched
from pool.services.notebooks.keep import NoKeepsLeft, NotRunning, notebook_keep
from pool.services.workloads import workload_resume
from tests.field.notebooks import Desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk():
    made = Desk.laid()
    assert made.turn().state == "running"
    made.judge()
    return made


def reclaimed(desk):
    """Nothing moves for two hours."""
    desk.judge(moved=7300)
    for _ in range(8):
        desk.judge(after=20)
    return desk.turn()


def test_a_resumed_notebook_has_its_whole_time(desk):
    assert reclaimed(desk).state == "reclaimed"
    workload_resume(workload=desk.work, actor=SYSTEM)
    desk.shift += 86_400
    assert desk.turn(Stage.STARTING).state == "running"
    for _ in range(6):
        desk.boottime += 10
        desk.turn(Stage.STARTING)
    assert desk.judge().state == "running"
    assert (desk.known.quiet_s, desk.known.warned, desk.known.keeps_used) == (0.0, None, 0)
    assert desk.judge(moved=5000).state == "running"
    assert 4900 < desk.known.quiet_s < 5200
    assert Event.objects.filter(kind="notebook.reclaimed").count() == 1


def test_steps_of_the_wall_clock_count_for_nothing(desk):
    before = desk.known.quiet_s
    for _ in range(3):
        desk.judge(after=5.0)
    assert desk.known.quiet_s == pytest.approx(before + 15.0)


def test_hours_in_which_nobody_looked_count_for_a_minute(desk):
    desk.judge(after=3 * 3600)
    assert desk.known.quiet_s <= 61.0


def test_it_may_be_kept_three_times_and_no_more(desk):
    for used in (1, 2, 3):
        desk.judge(moved=5500)
        assert desk.known.warned is not None
        assert notebook_keep(workload=desk.work, actor=SYSTEM).keeps_used == used
        assert desk.known.quiet_s == 0.0
        desk.known.__class__.objects.update(last_input_at=None)
        desk.judge()
    desk.judge(moved=5500)
    with pytest.raises(NoKeepsLeft):
        notebook_keep(workload=desk.work, actor=SYSTEM)


def test_keeping_what_was_not_warned_uses_no_keep(desk):
    assert notebook_keep(workload=desk.work, actor=SYSTEM).keeps_used == 0


def test_what_does_not_run_cannot_be_kept(desk):
    reclaimed(desk)
    with pytest.raises(NotRunning):
        notebook_keep(workload=desk.work, actor=SYSTEM)


def test_input_sets_the_count_back(desk):
    desk.judge(moved=5500)
    assert desk.known.warned == 30
    assert notebook_touched(uid=desk.work.uid)
    desk.judge()
    assert (desk.known.verdict, desk.known.quiet_s, desk.known.warned) == ("active", 0.0, None)

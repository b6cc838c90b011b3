"""D23: a cell that runs for five hours with the browser closed is never taken for idle."""

import pytest

from pool.models import Event, IdleRule
from tests.field.notebooks import Desk

pytestmark = pytest.mark.django_db

FIVE_HOURS = 5 * 3600


@pytest.fixture
def desk():
    made = Desk.laid()
    assert made.turn().state == "running"
    made.judge()
    return made


def hours_pass(desk, hours=5):
    """Half an hour at a time, twenty seconds between two looks."""
    for _ in range(hours * 2):
        desk.judge(moved=1800)
    return desk.judge()


@pytest.mark.parametrize(
    ("sm", "cores"), [(70.0, 1.0), (0.0, 4.0), (0.0, 0.0)], ids=["card", "processors", "sleep"]
)
def test_a_kernel_that_executes_is_never_reclaimed(desk, sm, cores):
    desk.sm = sm
    desk.facts |= {"busy": 1, "kernel_quiet_s": 0.0, "cpu_cores": cores}
    assert hours_pass(desk).state == "running"
    assert (desk.known.verdict, desk.known.quiet_s) == ("active", 0.0)
    assert not Event.objects.filter(kind__in=["notebook.warned", "notebook.reclaimed"]).exists()
    judged = Event.objects.filter(kind="notebook.judged").order_by("-id")[0]
    because = {one["signal"]: one["moves"] for one in judged.data["because"]}
    assert because["kernel"] is True


def test_where_the_rule_says_that_busy_does_not_count_a_sleep_is_warned_first(desk):
    IdleRule.objects.create(idle_seconds=7200, warn_minutes=[30, 10, 2], busy_counts=False)
    desk.facts |= {"busy": 1, "kernel_quiet_s": 0.0}
    hours_pass(desk)
    assert desk.turn().state == "reclaimed"
    warned = Event.objects.filter(kind="notebook.warned").order_by("id")
    assert [one.data["minutes"] for one in warned] == [30, 2]
    (told,) = Event.objects.filter(kind="notebook.reclaimed")
    assert {one["signal"] for one in told.data["because"]} >= {"kernel", "sm", "input"}


def test_work_on_the_card_counts_even_then(desk):
    IdleRule.objects.create(idle_seconds=7200, warn_minutes=[30, 10, 2], busy_counts=False)
    desk.sm = 70.0
    desk.facts |= {"busy": 1, "kernel_quiet_s": 0.0}
    assert hours_pass(desk).state == "running"
    assert not Event.objects.filter(kind="notebook.warned").exists()

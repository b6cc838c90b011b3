"""Switches of the roll-out board on real rows: in order, with a reason, measured, and back."""

from datetime import timedelta

import pytest

from pool.clock import now
from pool.errors import Invalid
from pool.events import SYSTEM
from pool.models import Card, Event, Placement, PolicyVersion, RolloutMove
from pool.rules.planning.rollout import Step
from pool.selectors.planning.rollout import board_of, boards, figures
from pool.services.planning.rollouts import rollout_switch
from tests import rows
from tests.pool.selectors.planning.planted import hours, measured, ran

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture
def partition():
    """Whole cards alone, no sharing; eight days measured at 40 %."""
    found = rows.partition()
    type(found).objects.filter(pk=found.pk).update(
        modes=["whole"], sharing=False, lending=False, preemption=False, policy="binpack"
    )
    rows.node(cards=2)
    Card.objects.update(partition=found)
    for card in Card.objects.all():
        measured(card=card, hours=hours(this_hour() - 8 * 24 * HOUR, 8 * 24), sm=40)
    found.refresh_from_db()
    return found


def this_hour():
    return now().replace(minute=0, second=0, microsecond=0)


def switched(partition, step, *, on=True, **more):
    given = {"reason": "the week was measured", "actor": SYSTEM} | more
    return rollout_switch(partition=partition, step=step, on=on, **given)


def lines(partition):
    return {one.step: one for one in board_of(partition, at=now()).steps}


def test_a_measured_week_is_on_by_itself_and_the_next_step_is_free(partition):
    board = lines(partition)
    assert [step for step, one in board.items() if one.on] == [Step.BASELINE]
    assert board[Step.LABELS].missing == ()
    assert board[Step.SLICES].missing == (Step.LABELS, Step.SHARED)


def test_a_step_changes_the_partition_and_back_again(partition):
    switched(partition, "labels")
    switched(partition, "shared")
    partition.refresh_from_db()
    assert (partition.modes, partition.sharing) == (["whole", "timeslice", "mps"], True)
    assert lines(partition)[Step.SHARED].on
    switched(partition, "shared", on=False)
    partition.refresh_from_db()
    assert (partition.modes, partition.sharing) == (["whole"], False)
    assert not lines(partition)[Step.SHARED].on
    kinds = list(Event.objects.filter(kind="rollout.moved").values_list("data__on", flat=True))
    assert sorted(kinds) == [False, True, True]
    told = PolicyVersion.objects.filter(partition=partition, reason="the week was measured")
    assert told.count() == 2, "the partition keeps its own history, too"


def test_steps_are_taken_in_order_unless_somebody_passes_over_them(partition):
    with pytest.raises(Invalid) as refused:
        switched(partition, "slices")
    assert "labels" in str(refused.value.detail)
    assert switched(partition, "slices", skip=True).after == {"modes": ["whole", "mig"]}


@pytest.mark.parametrize(
    ("step", "more"),
    [
        ("baseline", {}),
        ("nothing", {}),
        ("labels", {"reason": " "}),
        ("labels", {"on": False}),
    ],
)
def test_what_is_no_switch_is_refused_and_changes_nothing(partition, step, more):
    with pytest.raises(Invalid):
        switched(partition, step, **more)
    assert not RolloutMove.objects.exists()


def test_without_a_measured_week_nothing_begins(partition):
    other = rows.partition(slug="other", name="Other")
    with pytest.raises(Invalid) as refused:
        switched(other, "labels")
    assert "baseline" in str(refused.value.detail)


def test_what_others_switched_is_on_without_figures(partition):
    type(partition).objects.filter(pk=partition.pk).update(preemption=True)
    partition.refresh_from_db()
    line = lines(partition)[Step.PREEMPTION]
    assert line.on and line.move is None and line.before is None


def test_the_figures_are_of_this_partition_before_and_since_the_switch(partition):
    move = switched(partition, "labels")
    RolloutMove.objects.filter(pk=move.pk).update(at=this_hour() - 24 * HOUR)
    into, (card, other) = rows.project(), Card.objects.order_by("pk")[:2]
    at = this_hour() - 24 * HOUR
    work, attempt, _piece = ran(card=card, into=into, since=at - 84 * HOUR, until=at, waited=600)
    Placement.objects.filter(attempt=attempt).update(partition=partition)
    _work, later, _cut = ran(card=card, into=into, since=at, until=this_hour(), waited=60)
    Placement.objects.filter(attempt=later).update(partition=partition)
    ran(card=other, into=into, since=at - HOUR, until=at, waited=9000)
    line = lines(partition)[Step.LABELS]
    assert (line.before.started, line.before.p95_wait_s) == (1, 600)
    assert line.before.mean_cards == pytest.approx(0.5)
    assert (line.after.started, line.after.p50_wait_s) == (1, 60)
    assert line.after.mean_cards == pytest.approx(1, rel=0.05)
    assert line.before.use_milli == 400
    assert figures(partition, at - 900 * HOUR, at - 800 * HOUR).p95_wait_s is None


def test_the_boards_of_many_partitions_take_as_many_queries_as_one(
    partition, django_assert_num_queries
):
    for step in ("labels", "shared", "slices"):
        switched(partition, step)
    others = [rows.partition(slug=f"p{number}", name=f"P {number}") for number in range(4)]
    type(partition).objects.exclude(pk=partition.pk).update(lending=False)
    for other in others:
        switched(other, "labels", skip=True)
        switched(other, "batch", skip=True)
    partition.refresh_from_db()
    places = [partition, *others]
    for place in places:
        place.refresh_from_db()
    at = now()
    with django_assert_num_queries(5):
        one = boards([partition], at=at)
    with django_assert_num_queries(5):
        told = boards(places, at=at)
    assert told[0] == one[0] and [board.partition for board in told] == places
    assert told == [board_of(place, at=at) for place in places]
    assert {line.step for line in told[1].steps if line.before} == {Step.LABELS, Step.BATCH}

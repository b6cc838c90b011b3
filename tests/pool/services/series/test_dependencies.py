"""Work after other work: what can be waited for, and what cannot."""

import pytest

from pool.errors import IllegalMove, Invalid, Stale
from pool.events import SYSTEM
from pool.models import Dependency, Workload
from pool.rules.dependencies import MOST_AFTER, Rule
from pool.services.series.dependencies import After, dependencies_change, dependencies_kept
from pool.services.workloads import workload_stop
from tests.pool.many import many, state_of

pytestmark = pytest.mark.django_db


def wait(workload, *after):
    return dependencies_change(workload=workload, after=after, actor=SYSTEM)


def test_work_says_at_submission_what_it_runs_after():
    place = many()
    first = place.submit(name="prepare")
    array = place.submit("0-9")
    second = place.submit(after=[After(first), After(array, Rule.SHARE, 800)])
    found = list(second.after.values_list("on__name", "rule", "share_milli"))
    assert found == [("prepare", "success", None), (array.name, "share", 800)]
    with pytest.raises(Stale):
        dependencies_kept(workload=second)


@pytest.mark.parametrize(
    "build",
    [
        lambda one, array: [After(one), After(one, Rule.END)],
        lambda one, array: [After(one, Rule.SHARE, 500)],
        lambda one, array: [After(array, Rule.SHARE)],
        lambda one, array: [After(array, Rule.SUCCESS, 500)],
        lambda one, array: [After(array, Rule.SHARE, 0)],
        lambda one, array: [After(array, Rule.SHARE, 1001)],
        lambda one, array: [After(array, each=True)],
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_is_written(build):
    place = many()
    one, array = place.submit(), place.submit("0-3")
    before = Workload.objects.count()
    with pytest.raises(Invalid) as refused:
        place.submit(after=build(one, array))
    assert list(refused.value.detail) == ["after"]
    assert Workload.objects.count() == before


def test_what_has_already_failed_is_refused_at_once():
    place = many()
    gone = place.submit()
    workload_stop(workload=gone, actor=SYSTEM)
    with pytest.raises(Invalid, match="ended already"):
        place.submit(after=[After(gone)])
    place.submit(after=[After(gone, Rule.END)])


def test_at_most_a_hundred_can_be_waited_for():
    place = many()
    array = place.submit(f"0-{MOST_AFTER}")
    pieces = Workload.objects.filter(parent=array)
    with pytest.raises(Invalid, match="At most 100"):
        place.submit(after=[After(one) for one in pieces])
    place.submit(after=[After(one) for one in pieces[:MOST_AFTER]])


def test_a_circle_is_refused_across_edits_and_through_arrays():
    place = many()
    first = place.submit()
    array = place.submit("0-3", after=[After(first)])
    piece = Workload.objects.filter(parent=array).first()
    last = place.submit(after=[After(piece, Rule.END)])
    with pytest.raises(Invalid, match="wait for itself"):
        wait(first, After(last))
    with pytest.raises(Invalid, match="wait for itself"):
        wait(array, After(last))
    with pytest.raises(Invalid, match="wait for itself"):
        wait(array, After(piece))
    with pytest.raises(Invalid, match="wait for itself"):
        wait(first, After(first))
    wait(last)
    wait(first, After(last))
    assert set(Dependency.objects.values_list("workload", "on")) == {
        (array.pk, first.pk),
        (first.pk, last.pk),
    }


def test_what_has_started_waits_for_nothing_new():
    place = many()
    first, array = place.submit(), place.submit("0-9", throttle=1)
    other = place.submit()
    place.step()
    piece = Workload.objects.filter(parent=array, state="queued").first()
    for running in (first, array, piece):
        with pytest.raises(IllegalMove):
            wait(running, After(other))
    assert state_of(first) == "running"


def test_piece_after_piece_needs_a_counterpart_for_every_index():
    place = many()
    first = place.submit("0-3")
    with pytest.raises(Invalid, match="no piece"):
        place.submit("2-5", after=[After(first, each=True)])
    with pytest.raises(Invalid, match="array to an array"):
        place.submit(after=[After(first, each=True)])
    place.submit("1-2", after=[After(first, each=True)])

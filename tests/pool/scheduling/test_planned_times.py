"""Planned starts look at what the calendar keeps away while the work would run."""

from pool.scheduling.checker import check
from pool.scheduling.model import Reservation, Window
from pool.scheduling.plan import plan
from tests.builders import NOW, req, snapshot, whole


def _head(world, *windows):
    made = plan(world.have(windows=windows).made)
    assert check(world.have(windows=windows).made, made) == ()
    return [(start.at_s - NOW, start.cards) for start in made.starts]


def _window(starts, ends, cards=(), nodes=()):
    return Window(
        id=1,
        cards=frozenset(cards),
        nodes=frozenset(nodes),
        starts_s=NOW + starts,
        ends_s=NOW + ends,
    )


def test_a_planned_start_waits_for_maintenance_that_would_begin_during_the_run():
    world = snapshot().node("n1").card("A30", count=2, modes=("whole",)).busy(2, ends=600)
    world = world.queue(whole(1, 2, declared_s=1000.0))
    assert [at for at, _ in _head(world)] == [600]
    assert [at for at, _ in _head(world, _window(1000, 5000, nodes=(1,)))] == [5000]
    assert [at for at, _ in _head(world, _window(1600, 5000, nodes=(1,)))] == [600]
    assert [at for at, _ in _head(world, _window(1000, 5000, cards=(2,)))] == [5000]


def test_a_planned_start_goes_where_no_maintenance_is_due():
    world = snapshot().node("n1").card("A30", count=2, modes=("whole",)).busy(2, ends=600)
    world = world.node("n2").card("A30", count=2, modes=("whole",)).busy(2, ends=700, first=910)
    world = world.queue(whole(1, 2, declared_s=1000.0))
    assert _head(world, _window(1000, 5000, nodes=(1,))) == [(700, frozenset({3, 4}))]


def test_a_planned_start_may_lie_after_maintenance_that_is_on():
    """Until now a card under maintenance had no time at which it came free."""
    world = snapshot().node("n1").card("A30", count=2, modes=("whole",))
    world = world.node("n2").card("A30", count=2, modes=("whole",)).busy(2, ends=9000)
    world = world.queue(whole(1, 2, declared_s=1000.0))
    assert [at for at, _ in _head(world, _window(-60, 300, nodes=(1,)))] == [300]


def test_the_planned_start_of_a_slice_looks_at_the_calendar_too():
    world = snapshot().node("n1").card("A100-80GB", modes=("mig",)).slice(1, "7g.80gb", start=0)
    world = world.running(901, slices=(1,), ends=50, hosts=((1, 0, 0, 0),))
    world = world.queue(req(1, profile="2g.20gb", declared_s=1000.0))
    assert [at for at, _ in _head(world)] == [50]
    assert [at for at, _ in _head(world, _window(1000, 2000, cards=(1,)))] == [2000]


def test_a_reservation_of_others_moves_a_planned_start_and_one_that_lends_does_not():
    world = snapshot().node("n1").card("A30", count=2, modes=("whole",)).busy(2, ends=600)

    def start(lends):
        kept = Reservation(
            id=1,
            cards=frozenset({1}),
            tenants=frozenset(),
            starts_s=NOW + 900,
            ends_s=NOW + 4000,
            lends=lends,
        )
        work = whole(1, 2, declared_s=1000.0, preemptible=True)
        return [
            s.at_s - NOW for s in plan(world.have(reservations=(kept,)).queue(work).made).starts
        ]

    assert start(False) == [4000]
    assert start(True) == [600]

"""The chart of the queue page: bars of what runs, starts, is planned and kept; frees by time."""

from hypothesis import HealthCheck, given, settings

from pool.scheduling.model import Reservation, Window
from pool.scheduling.outlook.forecast import BarKind, forecast
from pool.scheduling.plan import plan
from tests.builders import NOW, snapshot, whole
from tests.pool.scheduling.worlds import worlds


def _drawn(world):
    return forecast(world.made, plan(world.made))


def _bars(world, kind):
    found = [b for b in _drawn(world).bars if b.kind is kind]
    return [(b.card, b.workload, b.from_s - NOW, b.until_s - NOW) for b in found]


def _pool():
    return snapshot().node("n1").card("A30", count=3, modes=("whole",)).busy(2, ends=600)


def test_running_work_a_head_and_what_slips_in_before_it_are_drawn():
    world = _pool().queue(whole(1, 3, declared_s=100.0), whole(2, declared_s=500.0))
    assert _bars(world, BarKind.RUNNING) == [(1, 900, -100, 600), (2, 901, -100, 600)]
    assert _bars(world, BarKind.SLIPPED_IN) == [(3, 2, 0, 500)]
    assert _bars(world, BarKind.HEAD) == [(card, 1, 600, 700) for card in (1, 2, 3)]


def test_cards_come_free_by_time():
    world = _pool().queue(whole(1, declared_s=50.0))
    assert [(f.partition, f.at_s - NOW, f.cards) for f in _drawn(world).frees] == [
        (1, 50, 1),
        (1, 600, 2),
    ]


def test_reservations_and_maintenance_are_drawn_with_nobodys_name():
    kept = Reservation(
        id=1, cards=frozenset({3}), tenants=frozenset(), starts_s=NOW + 50, ends_s=NOW + 90
    )
    shut = Window(
        id=1, cards=frozenset(), nodes=frozenset({1}), starts_s=NOW + 900, ends_s=NOW + 990
    )
    world = _pool().have(reservations=(kept,), windows=(shut,))
    assert _bars(world, BarKind.RESERVED) == [(3, None, 50, 90)]
    assert [bar[0] for bar in _bars(world, BarKind.MAINTENANCE)] == [1, 2, 3]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(worlds())
def test_every_bar_has_a_length_and_every_busy_card_comes_free_once(world):
    drawn = forecast(world, plan(world))
    assert all(bar.from_s < bar.until_s for bar in drawn.bars)
    busy = {
        bar.card
        for bar in drawn.bars
        if bar.kind not in (BarKind.HEAD, BarKind.RESERVED, BarKind.MAINTENANCE)
    }
    assert sum(free.cards for free in drawn.frees) == len(busy)

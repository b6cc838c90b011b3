"""The heads' plan drawn, and a queue under another policy: pure, on worlds built by hand."""

from dataclasses import replace

from pool.cycle.dryrun import PLANNED, Trial, dry_run
from pool.cycle.outlook import BarKind, outlooks
from pool.cycle.waiting import Look
from pool.scheduling.model import Policy, PriorityClass, Reservation, Window
from pool.scheduling.plan import plan
from tests.builders import NOW, snapshot, whole


def look(world):
    return Look(world.made, plan(world.made))


def pool(ends=600):
    return snapshot().node("n1", cpu=8000).card("A30", count=4, modes=("whole",)).busy(3, ends=ends)


def test_a_head_is_drawn_with_what_runs_the_gap_and_itself():
    (one,) = outlooks(look(pool().queue(whole(1, 4, declared_s=100.0))))
    assert (one.workload, one.at_s, one.until_s, one.more) == (1, NOW + 600, NOW + 700, 0)
    assert one.frees is not None
    kinds = [[bar.kind for bar in lane.bars] for lane in one.lanes]
    running, gap, head = BarKind.RUNNING, BarKind.GAP, BarKind.HEAD
    assert sorted(kinds) == sorted([[running, head]] * 3 + [[gap, head]])
    for lane in one.lanes:
        ends = [bar.until_s for bar in lane.bars]
        begins = [bar.from_s for bar in lane.bars]
        assert begins[0] == NOW and begins[1:] == ends[:-1]


def test_work_that_is_overdue_is_drawn_to_now_and_is_a_guess():
    found = outlooks(look(pool(ends=-60).queue(whole(1, 4))))
    bars = [bar for one in found for lane in one.lanes for bar in lane.bars]
    guesses = [bar for bar in bars if bar.kind is BarKind.RUNNING]
    assert all(bar.until_s == NOW and not bar.known for bar in guesses)


def test_no_more_heads_are_drawn_than_asked_for_and_none_on_an_idle_pool():
    assert outlooks(look(pool().queue(whole(1, 4))), most=0) == ()
    assert outlooks(look(pool())) == ()


def test_a_policy_that_changes_nothing_turns_nobody():
    world = pool().queue(whole(1, 4, declared_s=100.0), whole(2, declared_s=500.0))
    same = dry_run(look(world), Trial(policy=Policy.BINPACK))
    assert (same.turned, same.waiting, same.starts) == ((), 2, (1, 1))


def test_without_gaps_for_short_work_who_slipped_in_loses_its_start():
    world = pool().queue(whole(1, 4, declared_s=100.0), whole(2, declared_s=500.0))
    found = dry_run(look(world), Trial(backfill=False))
    assert found.starts == (1, 0)
    (turned,) = [one for one in found.turned if one.workload == 2]
    assert (turned.before.now, turned.after.now, turned.gains) == (True, False, False)


def test_the_look_itself_is_left_as_it_was():
    seen = look(pool().queue(whole(1, 4), whole(2, declared_s=500.0)))
    before = (seen.snapshot, seen.made)
    dry_run(seen, Trial(backfill=False, preemption=False, lending=False, age_full_s=60.0))
    assert (seen.snapshot, seen.made) == before


def test_giving_way_that_is_off_everywhere_can_be_tried():
    soft = {"priority_class": PriorityClass.SCAVENGER, "purpose": "batch", "preemptible": True}
    node = snapshot().node("n1", cpu=8000).card("A30", count=1, modes=("whole",))
    world = node.busy(1, ends=600, **soft).queue(whole(1, declared_s=100.0))
    off = tuple(replace(one, preemption=False) for one in world.made.partitions)
    seen = look(world.have(partitions=off).rules(preemption=False))
    assert dry_run(seen, Trial()).leaves == (0, 0)
    assert dry_run(seen, Trial(preemption=True)).leaves == (0, 1)


def _shut(start, end):
    """Maintenance of the whole node, in seconds from now."""
    return Window(
        id=1, cards=frozenset(), nodes=frozenset({1}), starts_s=NOW + start, ends_s=NOW + end
    )


def test_reservations_and_maintenance_are_drawn_earliest_first_with_the_gaps_between():
    kept = Reservation(
        id=1, cards=frozenset({4}), tenants=frozenset({"p1"}), starts_s=NOW - 50, ends_s=NOW + 90
    )
    world = pool().have(reservations=(kept,), windows=(_shut(650, 990),))
    (one,) = outlooks(look(world.queue(whole(1, 4, declared_s=100.0))))
    running, gap, head = BarKind.RUNNING, BarKind.GAP, BarKind.HEAD
    then = [(BarKind.MAINTENANCE, 650, 990), (head, 990, 1090)]
    free = {lane.card.id: _told(lane) for lane in one.lanes}
    assert free.pop(4) == [(BarKind.RESERVED, 0, 90), (gap, 90, 650), *then]
    assert list(free.values()) == [[(running, 0, 600), (gap, 600, 650), *then]] * 3


def test_maintenance_after_the_head_is_over_is_not_drawn():
    world = pool().have(windows=(_shut(90_000, 93_600),))
    (one,) = outlooks(look(world.queue(whole(1, 4, declared_s=100.0))))
    assert one.at_s == NOW + 600
    assert BarKind.MAINTENANCE not in {bar.kind for lane in one.lanes for bar in lane.bars}


def test_a_reservation_under_way_never_hides_the_work_that_runs_in_it():
    kept = Reservation(
        id=1,
        cards=frozenset({1, 2, 3, 4}),
        tenants=frozenset({"p1"}),
        starts_s=NOW - 50,
        ends_s=NOW + 660,
    )
    world = pool(ends=600).have(reservations=(kept,))
    (one,) = outlooks(look(world.queue(whole(1, 4, declared_s=100.0))))
    busy = [_told(lane) for lane in one.lanes if lane.card.id != 4]
    assert len(busy) == 3
    for told in busy:
        assert told[0] == (BarKind.RUNNING, 0, 600)
        assert (BarKind.RESERVED, 600, 660) in told


def _told(lane):
    return [(bar.kind, bar.from_s - NOW, bar.until_s - NOW) for bar in lane.bars]


def test_every_number_that_a_plan_depends_on_can_be_tried():
    assert {"heads", "shortest_first", "headroom_milli", "overrun_s"} <= PLANNED
    assert not PLANNED & {"raw_days", "no_show_s", "cut_back"}
    world = pool().queue(whole(1, 4, declared_s=100.0), whole(2, declared_s=500.0))
    one = dry_run(look(world), Trial(numbers={"placements_per_round": 1, "raw_days": 3}))
    assert one.starts == (1, 1)
    free = snapshot().node("n1", cpu=8000).card("A30", count=4, modes=("whole",))
    both = look(free.queue(whole(1, declared_s=100.0), whole(2, declared_s=100.0)))
    assert dry_run(both, Trial(numbers={"placements_per_round": 1})).starts == (2, 1)

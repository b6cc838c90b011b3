"""The head's planned start, and the law that backfill never makes it late."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from pool.replay.queue import Job, Shape, replay
from pool.scheduling.backfill import plan_head, slip_order
from pool.scheduling.board import build
from pool.scheduling.model import Rules
from pool.scheduling.plan import plan
from tests.builders import NOW, req, snapshot, whole


def _pool():
    world = snapshot().node("n1", cpu=8000).card("A30", count=4, modes=("whole",))
    return world.busy(3, ends=600)


def _started(world):
    return [placed.workload for placed in plan(world.made).placed]


def test_short_work_slips_in_and_long_work_does_not():
    head = whole(1, 4, declared_s=100.0)
    assert _started(_pool().queue(head, whole(2, declared_s=500.0))) == [2]
    assert _started(_pool().queue(head, whole(2, declared_s=700.0))) == []


def test_long_work_slips_in_beside_the_heads_cards():
    world = _pool().node("n2").card("A30", modes=("whole",))
    made = plan(world.queue(whole(1, 4, declared_s=100.0), whole(2, declared_s=9000.0)).made)
    assert made.placed[0].workload == 2 and made.placed[0].backfilled
    assert made.starts[0].at_s == NOW + 600


def test_an_owner_who_overruns_is_forecast_to_overrun():
    head = whole(1, 4, declared_s=100.0)
    assert _started(_pool().queue(head, whole(2, declared_s=500.0, p90_ratio=1.5))) == []


def test_the_head_is_told_its_planned_start():
    made = plan(_pool().queue(whole(1, 4)).made)
    assert made.waits[1].starts_s == NOW + 600
    assert made.starts[0].cards == frozenset({1, 2, 3, 4})


def test_cpu_that_the_head_will_need_is_kept_for_it():
    head = whole(1, 4, cpu_milli=8000, declared_s=100.0)
    only_cpu = req(2, parts=0, cpu_milli=1000, declared_s=9000.0)
    assert _started(_pool().queue(head, only_cpu)) == []
    assert _started(_pool().queue(head, replace(only_cpu, declared_s=300.0))) == [2]


def test_without_backfill_nobody_passes_the_head():
    world = _pool().rules(backfill=False)
    assert _started(world.queue(whole(1, 4, declared_s=5.0), whole(2, declared_s=5.0))) == []


def test_a_share_waits_for_the_first_end_that_makes_room():
    world = snapshot().node("n1").card("A100-80GB", modes=("mig",))
    world = world.slice(1, "4g.40gb", start=0).slice(1, "3g.40gb", start=4)
    world = world.running(901, slices=(1,), ends=50, hosts=((1, 0, 0, 0),))
    world = world.running(902, slices=(2,), ends=900, hosts=((1, 0, 0, 0),))
    board = build(world.queue(req(1, profile="2g.20gb")).made)
    head = plan_head(board, board.snapshot.waiting[0])
    assert head.start.at_s == NOW + 50


def test_what_never_fits_has_no_planned_start():
    board = build(_pool().queue(whole(1, 5)).made)
    assert plan_head(board, board.snapshot.waiting[0]) is None


def test_age_shortens_a_forecast_so_that_nobody_starves():
    rules = Rules(slip_age_s=100.0)
    old = whole(1, declared_s=1000.0, submitted_s=NOW - 900.0)
    young = whole(2, declared_s=200.0, submitted_s=NOW)
    assert slip_order(old, NOW, rules) < slip_order(young, NOW, rules)


def _later(job):
    """When the job counts as having come: long work later than short work."""
    return job.submit_s + min(job.declared_s, Rules().length_most_s)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(0, 60), st.sampled_from([5, 20, 80]), st.sampled_from([1, 1, 2, 4])),
        min_size=2,
        max_size=14,
    )
)
def test_with_exact_times_the_first_head_is_never_later_than_its_first_planned_start(told):
    """The best of those that wait first is the head; whoever ranks behind it never delays it."""
    jobs = [
        Job(i, float(at), float(length), float(length), cards)
        for i, (at, length, cards) in enumerate(sorted(told))
    ]
    shape = Shape(nodes=1, cards=4)
    started = {s.number: s.start_s for s in replay(jobs, shape)}
    late = [job for job in jobs if started[job.number] > job.submit_s]
    if not late:
        return
    head = min(late, key=lambda job: (job.submit_s, _later(job), job.number))
    mine = (_later(head), head.submit_s, head.number)
    behind = [j for j in jobs if (_later(j), j.submit_s, j.number) >= mine]
    ahead = [j for j in jobs if j.submit_s <= head.submit_s and j not in behind]
    before = [j for j in behind if j.submit_s < head.submit_s]
    planned = {s.number: s.start_s for s in replay([*ahead, *before, head], shape)}
    with_all = {s.number: s.start_s for s in replay([*ahead, *behind], shape)}
    assert with_all[head.number] <= planned[head.number]


def test_the_next_in_rank_hold_planned_starts_too_and_none_is_made_late():
    world = _pool().node("n2").card("A30", count=4, modes=("whole",)).busy(4, ends=900, first=910)
    heads = (whole(1, 4, declared_s=100.0), whole(2, 4, declared_s=200.0))
    made = plan(world.queue(*heads, whole(3, declared_s=800.0)).made)
    assert [(s.workload, s.at_s - NOW) for s in made.starts] == [(1, 600), (2, 900)]
    assert made.placed == ()
    only = plan(world.rules(heads=1).queue(*heads, whole(3, declared_s=500.0)).made)
    assert [s.workload for s in only.starts] == [1]
    assert [p.workload for p in only.placed] == [3]

"""Work on a whole mixed pool, replayed: no card twice, limits kept, nothing lost, all the same."""

from collections import defaultdict
from dataclasses import replace

from nodeagent.protocol.vocabulary import Mode, Vendor
from pool.replay.mixed import Break, Job, Why, replay
from pool.scheduling.board import build
from pool.scheduling.model import (
    CardState,
    Need,
    NodeState,
    PartitionState,
    PriorityClass,
    Quota,
    QuotaKind,
    Rules,
    Running,
    Snapshot,
    Unit,
    Waiting,
)
from pool.scheduling.plan import plan_board
from pool.scheduling.take import foresee

HOUR = 3600.0


def pool(*, cards=4, quotas=(), preemption=False):
    node = NodeState(
        id=1,
        name="n",
        cpu_milli=0,
        memory_mib=0,
        disk_mib=0,
        cpu_free_milli=0,
        memory_free_mib=0,
        disk_free_mib=0,
    )
    return Snapshot(
        now_s=0.0,
        nodes=(node,),
        cards=tuple(
            CardState(
                id=n,
                uuid=str(n),
                node=1,
                partition=1,
                label="card",
                vendor=Vendor.NVIDIA,
                memory_mib=1000,
                nominal_gb=1,
                modes=frozenset({Mode.WHOLE, Mode.MPS}),
                index=n,
            )
            for n in range(cards)
        ),
        partitions=(PartitionState(id=1, name="p"),),
        quotas=tuple(quotas),
        rules=Rules(preemption=preemption, preempt_share_milli=1000, headroom_milli=0),
    )


def job(number, *, at=0.0, hours=1.0, team="a", need=None, every=None, **more):
    work = Waiting(
        id=number,
        uid=str(number),
        tenants=("org", f"project:{team}"),
        trust=team,
        need=need or Need(whole=True),
        partitions=(1,),
        submitted_s=at,
        declared_s=hours * HOUR,
        **more,
    )
    return Job(work, hours * HOUR, every)


def crowded(runs):
    """The most that any card held at a time, in millionths."""
    steps = defaultdict(list)
    for run in runs:
        for part in run.placed.parts:
            steps[part.card] += [
                (run.start_s, 1, part.card_micro),
                (run.end_s, 0, -part.card_micro),
            ]
    most = 0
    for events in steps.values():
        held = 0
        for _at, _rank, micro in sorted(events):
            held += micro
            most = max(most, held)
    return most


def test_all_work_is_done_and_no_card_holds_more_than_itself():
    half = Need(share_milli=500, modes=(Mode.MPS,))
    jobs = [job(n, at=n * 60.0, hours=0.5 + n % 3, need=half if n % 2 else None) for n in range(40)]
    runs = list(replay(pool(), jobs, 100 * HOUR))
    assert sorted(run.number for run in runs) == list(range(40))
    assert all(run.why is Why.DONE for run in runs)
    assert crowded(runs) <= 1_000_000
    assert runs == list(replay(pool(), jobs, 100 * HOUR)), "the same again"


def test_a_limit_is_kept_and_given_back():
    row = Quota(
        id=1,
        tenant="project:a",
        kind=QuotaKind.LIMIT,
        unit=Unit.CARD_MICRO,
        limit=1_000_000,
        held=0,
        partition=1,
    )
    runs = list(replay(pool(quotas=(row,)), [job(n) for n in range(3)], 100 * HOUR))
    spans = sorted((run.start_s, run.end_s) for run in runs)
    assert spans == [(0.0, HOUR), (HOUR, 2 * HOUR), (2 * HOUR, 3 * HOUR)]


def test_who_gives_way_goes_on_from_the_last_checkpoint():
    low = job(1, hours=4, every=HOUR, preemptible=True, priority_class=PriorityClass.LOW)
    low = replace(low, work=replace(low.work, checkpointed=True))
    high = job(2, at=1.5 * HOUR, hours=1, team="b", priority_class=PriorityClass.HIGH)
    runs = list(replay(pool(cards=1, preemption=True), [low, high], 100 * HOUR))
    ends = [(run.number, run.why) for run in runs]
    assert ends == [(1, Why.PREEMPTED), (2, Why.DONE), (1, Why.DONE)]
    first, _winner, last = runs
    done = (first.end_s - first.start_s - first.lost_s) + (last.end_s - last.start_s - 120.0)
    assert abs(done - 4 * HOUR) < 1.0


def test_a_card_that_breaks_loses_its_work_and_gets_none_until_it_is_mended():
    down = Break(0, HOUR / 2, 3 * HOUR)
    runs = list(replay(pool(cards=1), [job(1)], 100 * HOUR, (down,)))
    assert [(run.why, run.start_s) for run in runs] == [(Why.BROKEN, 0.0), (Why.DONE, 3 * HOUR)]


def test_what_runs_at_the_end_is_stopped_there():
    (run,) = replay(pool(), [job(1, hours=9)], HOUR)
    assert (run.why, run.end_s) == (Why.STOPPED, HOUR)


def test_what_serves_has_its_own_time_to_leave_and_its_card_is_promised_until_then():
    serving = {"preemptible": True, "priority_class": PriorityClass.LOW, "purpose": "inference"}
    low = job(1, hours=4, **serving)
    high = job(2, at=HOUR, team="b", priority_class=PriorityClass.HIGH)
    other = job(3, at=HOUR + 100.0, team="c", priority_class=PriorityClass.HIGH)
    runs = list(replay(pool(cards=1, preemption=True), [low, high, other], 100 * HOUR))
    left = HOUR + Rules().inference_notice_s
    assert (runs[0].number, runs[0].why, runs[0].end_s) == (1, Why.PREEMPTED, left)
    assert (runs[1].number, runs[1].start_s) == (2, left)


def test_a_card_ends_with_its_last_holder_whoever_leaves_it_before():
    half = Need(share_milli=500, modes=(Mode.MPS,))
    works = [job(n, hours=n, need=half).work for n in (1, 2)]
    board = build(replace(pool(cards=1), waiting=tuple(works)))
    (first, second) = plan_board(board, tell=False).placed
    assert first.parts[0].card == second.parts[0].card
    runs = {
        n: Running(
            id=n,
            uid=str(n),
            tenants=("org",),
            trust="a",
            started_s=0.0,
            purpose="",
            priority_class=PriorityClass.LOW,
            ends_s=n * HOUR,
        )
        for n in (1, 2)
    }
    for leaving, ends in ((1, 2 * HOUR), (2, 60.0)):
        runs[leaving] = replace(runs[leaving], leaving=True, ends_s=60.0)
        foresee(board, [0], runs)
        assert board.cards.ends[0] == ends


def test_use_is_divided_by_guarantees_as_in_a_round():
    jobs = [job(1, hours=1.5), job(2, at=HOUR, hours=3, team="b")]
    jobs += [job(3, at=2 * HOUR), job(4, at=2.5 * HOUR, team="b")]
    third = {}
    for cards in (1, 4):
        rows = tuple(
            Quota(
                id=number,
                tenant=f"project:{team}",
                kind=QuotaKind.ENTITLEMENT,
                unit=Unit.CARD_MICRO,
                limit=guaranteed * 1_000_000,
                held=0,
                partition=1,
            )
            for number, (team, guaranteed) in enumerate((("a", 1), ("b", cards)), 1)
        )
        runs = list(replay(pool(cards=1, quotas=rows), jobs, 100 * HOUR))
        third[cards] = next(run.number for run in runs if run.start_s == 4.5 * HOUR)
    assert third == {1: 3, 4: 4}

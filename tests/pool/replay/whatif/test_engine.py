"""What-if replays: nothing held twice, limits kept, all work done, the same answer every time."""

import random
from collections import defaultdict
from dataclasses import replace

import pytest

from pool.replay.whatif.engine import replay
from pool.replay.whatif.figures import figures
from pool.replay.whatif.settle import allowed
from pool.replay.whatif.trace import waiting_of
from pool.scheduling import plan as planning
from pool.scheduling import score
from pool.scheduling.board import build
from pool.scheduling.model import PartitionState, Quota, QuotaKind, Rules, Unit
from tests.pool.replay.whatif.made import HALF_LIFE_S, busy, kind, trace, world

MICRO = 1_000_000


def _runs(told, made, **rest):
    return list(replay(told, made.snapshot, half_life_s=HALF_LIFE_S, **rest))


def _limit(team, cards, number=1, what=QuotaKind.LIMIT):
    return Quota(
        id=number,
        tenant=f"project:{team}",
        kind=what,
        unit=Unit.CARD_MICRO,
        limit=round(cards * MICRO),
        held=0,
    )


def _most_held(told, runs, team=None):
    """The most card equivalents held at one time, of one team or of all, in millionths."""
    known = {work.number: told.kinds[work.kind].team for work in told.works}
    events = []
    for run in runs:
        if team in (None, known[run.number]):
            micro = sum(part[2] for part in run.parts)
            events += [(run.start_s, 1, micro), (run.end_s, 0, -micro)]
    held = most = 0
    for _, _, micro in sorted(events):
        held += micro
        most = max(most, held)
    return most


@pytest.mark.parametrize("seed", [1, 2])
def test_mixed_needs_never_hold_more_than_there_is_and_all_work_is_done(seed):
    told, made = busy(seed, 200, every_s=25.0), world(2, 8)
    runs = _runs(told, made)
    assert sorted(run.number for run in runs) == [work.number for work in told.works]
    assert _most_held(told, runs) <= 16 * MICRO
    for run in runs:
        work = told.works[run.number]
        assert run.start_s >= work.arrives_s
        assert run.end_s - run.start_s == pytest.approx(work.duration_s)


def test_shares_of_one_card_run_side_by_side():
    told = trace([kind(memory_gb=20, compute_milli=250)], [(0, 0, 100)] * 3)
    runs = _runs(told, world(1, 1))
    assert {run.start_s for run in runs} == {0.0}
    assert {part[1] for run in runs for part in run.parts} != {"whole"}


def test_a_limit_is_never_passed_and_given_back_at_each_end():
    told = busy(3, 150, every_s=20.0)
    made = world(2, 8, quotas=(_limit("vision", 5), _limit("speech", 9, 2)))
    runs = _runs(told, made)
    assert _most_held(told, runs, "vision") <= 5 * MICRO
    assert _most_held(told, runs, "speech") <= 9 * MICRO
    large = {w.number for w in told.works if told.kinds[w.kind].need.parts == 8}
    of = {w.number: told.kinds[w.kind].team for w in told.works}
    never = {n for n in large if of[n] == "vision"}
    assert {w.number for w in told.works} - {run.number for run in runs} == never


def test_work_over_its_limit_keeps_no_room_from_others():
    """The large job of a team at its limit comes first; the other team's starts at once."""
    kinds = [kind("vision", whole=True, parts=4), kind("speech", whole=True, parts=4)]
    told = trace(kinds, [(0, 0, 50), (0, 1, 50), (1, 2, 1000)])
    made = world(1, 8, quotas=(_limit("vision", 4),))
    starts = {run.number: run.start_s for run in _runs(told, made)}
    assert starts == {0: 0.0, 1: 50.0, 2: 2.0}


def test_what_is_allowed_is_asked_of_every_partition():
    one = replace(_limit("vision", 1), partition=1)
    made = world(1, 4, quotas=(one,), partitions=(PartitionState(id=1, name="main"),))
    board = build(made.snapshot)
    told = trace([kind(whole=True, parts=2)], [(0, 0, 1)])
    work = waiting_of(told.works[0], told.kinds[0], done_s=0.0, restart_s=0.0, again=False)
    assert not allowed(board, work)
    assert allowed(board, replace(work, partitions=(1, 2)))


def test_urgent_work_makes_others_give_way_and_they_come_back():
    kinds = [
        kind("vision", whole=True, parts=4, preemptible=True, purpose="inference"),
        kind("speech", whole=True),
    ]
    told = trace(kinds, [(0, 0, 1000, "low"), (1, 100, 50, "high")])
    made = world(1, 4, rules=Rules(preemption=True, headroom_milli=0, preempt_share_milli=1000))
    first, high, again = sorted(_runs(told, made), key=lambda run: run.start_s)
    assert (first.number, first.evicted, first.lost_s) == (0, True, first.end_s)
    assert high.number == 1 and high.start_s == 100.0 + Rules().inference_notice_s
    assert again.number == 0 and again.end_s - again.start_s == pytest.approx(1120.0)


def test_who_was_told_to_leave_counts_against_its_team_while_it_still_runs():
    """A fifth of five is one: the second urgent job waits for the first, not for another victim."""
    serves = kind("vision", whole=True, preemptible=True, purpose="inference")
    kinds = [serves, kind("speech", whole=True)]
    works = [(0, 0, 5000, "normal")] * 5 + [(1, 100, 50, "high"), (1, 110, 50, "high")]
    made = world(1, 5, rules=Rules(preemption=True, headroom_milli=0, preempt_share_milli=200))
    runs = {run.number: run for run in _runs(trace(kinds, works), made) if run.number > 4}
    assert (runs[5].start_s, runs[6].start_s) == (400.0, 450.0)


@pytest.mark.parametrize("cards", [1, 4])
def test_urgent_work_at_its_limit_makes_its_own_teams_low_work_give_way(cards):
    """The limit is one card: free cards beside it change nothing. Who serves has 300 s to leave."""
    kinds = [kind(whole=True, preemptible=True, purpose="inference"), kind(whole=True)]
    told = trace(kinds, [(0, 0, 5000, "low"), (1, 100, 50, "high")])
    rules = Rules(preemption=True, headroom_milli=0, preempt_share_milli=1000)
    made = world(1, cards, rules=rules, quotas=(_limit("vision", 1),))
    first, high, again = sorted(_runs(told, made), key=lambda run: run.start_s)
    assert (first.number, first.evicted) == (0, True)
    assert high.number == 1 and high.start_s == pytest.approx(400.0)
    assert again.number == 0 and again.start_s == pytest.approx(450.0)


def test_nobody_of_another_team_leaves_for_work_at_its_limit():
    kinds = [kind("speech", whole=True, preemptible=True, purpose="inference"), kind(whole=True)]
    works = [(0, 0, 5000, "low"), (1, 0, 1000, "high"), (1, 100, 50, "high")]
    rules = Rules(preemption=True, headroom_milli=0, preempt_share_milli=1000)
    made = world(1, 4, rules=rules, quotas=(_limit("vision", 1),))
    runs = _runs(trace(kinds, works), made)
    assert not any(run.evicted for run in runs)
    assert {run.number: run.start_s for run in runs} == {0: 0.0, 1: 0.0, 2: 1000.0}


def test_a_team_takes_its_guarantee_back_from_who_borrowed_it():
    kinds = [
        kind("vision", whole=True, preemptible=True, purpose="inference"),
        kind("speech", whole=True, parts=4),
    ]
    told = trace(kinds, [(0, 0, 5000)] * 8 + [(1, 100, 50)])
    rows = (
        _limit("vision", 4, 1, QuotaKind.ENTITLEMENT),
        _limit("speech", 4, 2, QuotaKind.ENTITLEMENT),
    )
    runs = _runs(told, world(1, 8, quotas=rows))
    owner = next(run for run in runs if run.number == 8)
    assert owner.start_s < 700.0
    assert sum(run.evicted for run in runs) == 4
    assert len({run.number for run in runs}) == 9


def test_the_team_that_used_less_goes_first():
    kinds = [kind("vision", whole=True), kind("speech", whole=True)]
    works = [(0, at, 4000) for at in range(4)] + [(0, 5000, 100)] * 3 + [(1, 5000, 100)] * 3
    works += [(0, 3000, 3000)]
    told = trace(kinds, works)
    starts = {run.number: run.start_s for run in _runs(told, world(1, 1))}
    mean = [sum(starts[n] for n in some) for some in ((4, 5, 6), (7, 8, 9))]
    assert mean[1] < mean[0]


@pytest.mark.parametrize("seed", [5, 6])
def test_the_same_record_gives_the_same_digest_in_whatever_order_it_comes(seed):
    told, made = busy(seed, 120, every_s=20.0), world(2, 8)
    shuffled = list(told.works)
    random.Random(seed).shuffle(shuffled)
    other = replace(told, works=tuple(shuffled))
    one = figures(told, made.snapshot, _runs(told, made), made.names)
    two = figures(other, made.snapshot, _runs(other, made), made.names)
    assert one == two and len(one["digest"]) == 64


def test_a_tick_tells_how_many_are_over_and_may_end_the_replay():
    class Enough(Exception):
        pass

    seen = []

    def tick(ended):
        seen.append(ended)
        if ended >= 10:
            raise Enough

    with pytest.raises(Enough):
        _runs(busy(1, 50), world(2, 8), tick=tick)
    assert seen == sorted(seen) and seen[-1] == 10


def test_more_work_than_a_round_sees_starts_at_one_instant_where_there_is_room():
    told = trace([kind(whole=True)], [(0, 0, 10)] * 30)
    runs = _runs(told, world(4, 8))
    by_start = defaultdict(int)
    for run in runs:
        by_start[run.start_s] += 1
    assert by_start == {0.0: 30}


def _counted(monkeypatch, module, name):
    """Each call of a function of a module from now on."""
    calls, real = [], getattr(module, name)

    def told(*words, **more):
        calls.append(words)
        return real(*words, **more)

    monkeypatch.setattr(module, name, told)
    return calls


def test_victims_are_looked_for_once_a_round_however_many_alike_wait(monkeypatch):
    """Nobody can leave who makes room for eight: each round sees that at the first of them."""
    kinds = [kind("vision", whole=True, purpose="inference"), kind("speech", whole=True, parts=8)]
    told = trace(kinds, [(0, 0, 5000)] * 8 + [(1, 100 + at, 50) for at in range(10)])
    rows = (
        _limit("vision", 4, 1, QuotaKind.ENTITLEMENT),
        _limit("speech", 4, 2, QuotaKind.ENTITLEMENT),
    )
    searches = _counted(monkeypatch, planning, "oust")
    runs = _runs(told, world(1, 8, quotas=rows))
    assert len(runs) == 18 and not any(run.evicted for run in runs)
    assert 0 < len(searches) <= 10, "one for each that comes"


def test_a_node_that_comes_back_to_a_state_is_not_judged_again(monkeypatch):
    judged = _counted(monkeypatch, score, "_useless")
    _runs(busy(4, 200, every_s=40.0), world(2, 8))
    states = {state.tobytes() for words in judged for state in words[1]}
    assert 0 < sum(len(words[1]) for words in judged) <= len(states)


def test_use_is_divided_by_guarantees_as_in_a_round():
    """Who used twice as much of four times the guarantee goes first; without guarantees last."""
    kinds = [kind("vision"), kind("speech")]
    hour = 3600.0
    works = [(0, 0, hour), (1, hour, 2 * hour), (0, 2 * hour, hour), (1, 2.5 * hour, hour)]
    told, first = trace(kinds, works), {}
    for cards in (None, 4):
        rows = [replace(_limit("vision", 1, 1, QuotaKind.ENTITLEMENT), within=("org:1",))]
        rows += [replace(_limit("speech", cards or 1, 2, QuotaKind.ENTITLEMENT), within=("org:1",))]
        runs = _runs(told, world(1, 1, quotas=tuple(rows)))
        first[cards] = next(run.number for run in runs if run.start_s == 3 * hour)
    assert first == {None: 2, 4: 3}

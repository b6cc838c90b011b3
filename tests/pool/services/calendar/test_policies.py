"""Numbers, partitions and seats: changed with a reason, read by the next round, taken back."""

import pytest

from pool.clock import now
from pool.cycle.round import run_rounds
from pool.cycle.snapshot import take
from pool.errors import Invalid, Stale
from pool.events import SYSTEM
from pool.models import Event, Partition, PolicyVersion, Seats, TrustGroup
from pool.scheduling.model import Policy
from pool.scheduling.plan import plan
from pool.selectors.calendar.policies import history, numbers_now
from pool.services.calendar.history import numbers_change
from pool.services.calendar.seats import seats_remove, seats_set, seats_used
from pool.services.partitions import partition_change, partition_revert
from pool.services.placements import placement_open
from tests import rows
from tests.pool.obedient import Obedient

pytestmark = pytest.mark.django_db
MPS = {"memory_gb": 10, "compute_milli": 100, "modes": ["mps"]}


def test_numbers_change_with_a_reason_and_the_next_round_reads_them(django_assert_max_num_queries):
    assert take(now()).rules.heavy_gb == 40
    numbers_change(values={"heavy_gb": 48, "backfill": False}, reason="new cards", actor=SYSTEM)
    with django_assert_max_num_queries(12):
        rules = take(now()).rules
    assert (rules.heavy_gb, rules.backfill, rules.heads) == (48, False, 4)
    assert numbers_change(values={"heavy_gb": 48}, reason="again", actor=SYSTEM) is None
    assert Event.objects.filter(kind="policy.changed").count() == 1
    for words in ({"heavy_gb": 0}, {"nope": 1}, {"heads": "4"}):
        with pytest.raises(Invalid):
            numbers_change(values=words, reason="x", actor=SYSTEM)
    with pytest.raises(Invalid):
        numbers_change(values={"heavy_gb": 50}, reason=" ", actor=SYSTEM)


def test_the_history_tells_who_when_why_and_what_and_an_old_version_is_taken_again():
    first = numbers_change(values={"heavy_gb": 48}, reason="one", actor=SYSTEM)
    numbers_change(values={"heavy_gb": 60, "heads": 2}, reason="two", actor=SYSTEM)
    newest, oldest = history()
    assert newest.changed == {"heads": (4, 2), "heavy_gb": (48, 60)}
    assert oldest.changed == {"heavy_gb": (40, 48)}
    assert (newest.version.reason, newest.version.actor_label) == ("two", "system")
    numbers_change(values=first.values, reason="back", actor=SYSTEM, reverts=first)
    assert (numbers_now()["heavy_gb"], numbers_now()["heads"]) == (48, 4)
    assert PolicyVersion.objects.order_by("-number").first().reverts == first


def test_a_partitions_switches_reach_the_planner_and_come_back():
    part = rows.partition(modes=["whole", "mig", "mps"])
    group = TrustGroup.objects.create(name="friends")
    partition_change(
        partition=part,
        actor=SYSTEM,
        reason="pack replicas",
        class_policies={"inference": "spread"},
        ceilings={"card_split": [{"purposes": ["training"], "compute_milli": 700}]},
        trust_groups=[group],
        lending=False,
        tolerance_points=5,
    )
    rows.node()
    (state,) = take(now()).partitions
    assert state.policy_for("inference") is Policy.SPREAD
    assert (state.lending, state.tolerance_milli) == (False, 50)
    assert state.trusts == {str(group.pk)}
    assert take(now()).cards[0].mixed
    second, first = history(partition=part)
    assert set(second.changed) == {
        *("class_policies", "ceilings", "trust_groups", "lending", "tolerance_points")
    }
    assert first.changed == {}
    partition_revert(version=first.version, actor=SYSTEM, reason="too strict")
    part.refresh_from_db()
    assert (part.lending, part.ceilings, part.class_policies) == (True, {}, {})
    assert not part.trust_groups.exists()


@pytest.mark.parametrize(
    "words",
    [
        {"ceilings": {"all": []}},
        {"class_policies": {"games": "spread"}},
        {"trust_groups": ["friends"]},
        {"lending": 1},
        {"policy": "best", "reason": "x"},
        {"name": "X", "reason": "two\nlines"},
    ],
)
def test_wrong_words_leave_no_version(words):
    part = rows.partition()
    with pytest.raises(Invalid):
        partition_change(partition=part, actor=SYSTEM, **words)
    assert not PolicyVersion.objects.exists()


def test_strangers_do_not_share_where_only_named_groups_may():
    part = rows.partition(modes=["whole", "mps"])
    rows.node()
    friend = rows.workload(need=MPS)
    partition_change(
        partition=part, actor=SYSTEM, trust_groups=[friend.project.trust_group], reason="trust"
    )
    stranger = rows.workload(need=MPS)
    run_rounds()
    friend.refresh_from_db()
    stranger.refresh_from_db()
    assert (friend.state, stranger.state) == ("placed", "queued")
    assert stranger.waits["reason"] == "isolation"


def test_seats_bind_where_and_whom_they_name_and_come_back_with_the_end():
    part = rows.partition(modes=["whole", "mps"])
    node = Obedient(rows.node())
    first = rows.workload(need=MPS)
    same = {"into": first.project, "owner": first.owner, "version": first.template_version}
    second = rows.workload(**same, need=MPS)
    row = seats_set(
        name="suite",
        mode="mps",
        total=1,
        organization=first.project.organization,
        partition=part,
        actor=SYSTEM,
    )
    run_rounds()
    first.refresh_from_db()
    second.refresh_from_db()
    assert sorted([first.state, second.state]) == ["placed", "queued"]
    runs, waits = (first, second) if first.state == "placed" else (second, first)
    assert waits.waits["reason"] == "licence"
    assert seats_used(row) == 1
    node.turn()
    node.finish(runs)
    node.tell()
    run_rounds()
    waits.refresh_from_db()
    assert waits.state == "placed"


def test_a_start_that_finds_no_seat_under_the_lock_is_refused():
    rows.partition(modes=["whole", "mps"])
    rows.node()
    work = rows.workload(need=MPS)
    (placed,) = plan(take(now())).placed
    seats = seats_set(name="suite", mode="mps", total=0, actor=SYSTEM)
    with pytest.raises(Stale):
        placement_open(workload_id=work.pk, placed=placed, actor=SYSTEM)
    seats_remove(seats=seats, actor=SYSTEM)
    assert placement_open(workload_id=work.pk, placed=placed, actor=SYSTEM) is not None


def test_the_same_seats_again_tell_nothing_and_wrong_ones_are_refused():
    for _ in range(2):
        seats_set(name="suite", mode="vgpu", total=4, actor=SYSTEM)
    assert Event.objects.filter(kind="seats.changed").count() == 1
    assert Seats.objects.count() == 1
    for words in ({"mode": "warp"}, {"total": -1}, {"total": True}, {"name": ""}):
        with pytest.raises(Invalid):
            seats_set(**{"name": "s", "mode": "vgpu", "total": 1, "actor": SYSTEM} | words)


def test_everything_that_is_planned_ahead_is_read_in_one_query(django_assert_max_num_queries):
    part = rows.partition()
    rows.node(cards=2)
    seats_set(name="suite", mode="mig", total=4, partition=part, actor=SYSTEM)
    rows.workload()
    with django_assert_max_num_queries(12):
        take(now())
    assert Partition.objects.count() == 1

"""Who is next, and why: bands, fair share level by level, class and age inside a project."""

from hypothesis import given
from hypothesis import strategies as st

from pool.scheduling.board import build
from pool.scheduling.model import TenantShare
from pool.scheduling.order import BORROWED, CRITICAL, ENTITLED, SCAVENGER, ranked
from tests.builders import NOW, req, snapshot, whole


def _order(world):
    return [work.id for work, _ in ranked(build(world.made))]


def _ranks(world):
    return {work.id: rank for work, rank in ranked(build(world.made))}


def _pool(count=8):
    return snapshot().node("n1").card("A30", count=count, modes=("whole",))


def test_bands_go_critical_entitled_borrowed_scavenger():
    world = _pool().quota("p1", limit=4, kind="entitlement", partition=1)
    world = world.queue(
        whole(1, priority="scavenger", tenant="p1"),
        whole(2, tenant="p2"),
        whole(3, tenant="p1"),
        whole(4, priority="critical", tenant="p2"),
    )
    ranks = _ranks(world)
    assert _order(world) == [4, 3, 2, 1]
    assert [ranks[i].band for i in (4, 3, 2, 1)] == [CRITICAL, ENTITLED, BORROWED, SCAVENGER]


def test_where_nobody_is_entitled_nothing_is_borrowed():
    assert _ranks(_pool().queue(whole(1)))[1].band == ENTITLED


def test_the_project_that_used_less_of_its_share_goes_first():
    world = _pool().have(
        shares=(TenantShare(tenant="p1", usage=900.0), TenantShare(tenant="p2", usage=100.0))
    )
    assert _order(world.queue(whole(1, tenant="p1"), whole(2, tenant="p2"))) == [2, 1]


def test_a_heavier_share_may_use_more():
    world = _pool().have(
        shares=(
            TenantShare(tenant="p1", usage=900.0, weight=10.0),
            TenantShare(tenant="p2", usage=100.0),
        )
    )
    assert _order(world.queue(whole(1, tenant="p1"), whole(2, tenant="p2"))) == [1, 2]


def test_two_projects_take_turns_when_their_work_is_alike():
    works = [whole(i, tenant="p1", declared_s=60.0) for i in (1, 2, 3)]
    works += [whole(i, tenant="p2", declared_s=60.0) for i in (4, 5, 6)]
    assert _order(_pool().queue(*works)) == [1, 4, 2, 5, 3, 6]


def test_inside_a_project_class_then_priority_then_age():
    world = _pool().queue(
        whole(1),
        whole(2, priority="low"),
        whole(3, priority="high"),
        whole(4, submitted_s=NOW - 9000),
        req(5, parts=1, whole=True, **{"submitted_s": NOW}),
    )
    assert _order(world) == [3, 4, 1, 5, 2]


def test_a_rank_is_the_sum_of_the_parts_it_shows():
    told = whole(1, declared_s=43_200.0, submitted_s=NOW - 86_400)
    rank = _ranks(_pool().queue(told))[1]
    parts = dict(rank.parts)
    assert (parts["class"], parts["priority"]) == (2000.0, 0.0)
    assert (parts["age"], parts["length"]) == (1.0, -0.5)
    assert rank.score == sum(parts[name] for name in ("class", "priority", "age", "length"))


def test_long_work_counts_as_if_it_had_come_later_but_no_more_than_the_rule_says():
    day = 86_400.0
    world = _pool().queue(
        whole(1, declared_s=30 * day, submitted_s=NOW - 2 * day),
        whole(2, declared_s=1000.0, submitted_s=NOW - day),
        whole(3, declared_s=1000.0, submitted_s=NOW),
    )
    assert _order(world) == [2, 1, 3]


def test_an_owner_who_overruns_counts_with_what_the_work_will_take():
    world = _pool().queue(
        whole(1, declared_s=100.0, p90_ratio=3.0), whole(2, declared_s=200.0, p90_ratio=0.5)
    )
    assert _order(world) == [2, 1]


@given(
    st.lists(
        st.tuples(st.integers(0, 300_000), st.one_of(st.none(), st.integers(1, 300_000))),
        min_size=2,
        max_size=8,
    ),
    st.integers(0, 1_000_000),
)
def test_two_that_wait_never_change_places(told, later):
    """Age and length are counted in the same seconds: time alone lets nobody be overtaken."""
    queue = [
        whole(i, submitted_s=NOW - age, declared_s=None if length is None else float(length))
        for i, (age, length) in enumerate(told)
    ]
    world = _pool().queue(*queue)
    assert _order(world) == _order(world.have(now_s=NOW + later))


def test_among_work_for_which_others_give_way_the_first_come_goes_first():
    world = _pool().queue(
        whole(1, priority="high", declared_s=90_000.0, submitted_s=NOW - 10),
        whole(2, priority="high", declared_s=10.0),
    )
    assert _order(world) == [1, 2]

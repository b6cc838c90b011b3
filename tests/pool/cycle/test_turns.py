"""Whose turn it is: rounds start what waits for nothing, and end what waits in vain."""

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pool.cycle.demand import queued
from pool.cycle.turns import settle
from pool.cycle.waiting import waiting_explain
from pool.events import SYSTEM
from pool.lifecycle.workloads import ENDED
from pool.models import Project, Workload
from pool.rules.dependencies import Rule
from pool.selectors.series.arrays import tallies
from pool.services.series.dependencies import After
from pool.services.workloads import workload_hold, workload_stop
from tests.benchmarks.bench_lists import blocks, cloned
from tests.pool.many import many, of, state_of

pytestmark = pytest.mark.django_db


def waits(row):
    row.refresh_from_db()
    return (row.waits or {}).get("reason")


def test_work_starts_when_what_it_waits_for_has_succeeded():
    place = many()
    first = place.submit()
    second = place.submit(after=[After(first)])
    place.step()
    assert (state_of(first), state_of(second), waits(second)) == ("running", "queued", "after")
    place.finish(first)
    place.step()
    assert state_of(second) == "running"


def test_a_failure_goes_down_the_whole_chain_at_once():
    place = many()
    first = place.submit()
    second = place.submit(after=[After(first)])
    array = place.submit("0-3", after=[After(second)])
    last = place.submit(after=[After(array)])
    anyway = place.submit(after=[After(last, Rule.END)])
    place.step()
    place.finish(first, code=1)
    assert [state_of(one) for one in (second, array, last)] == ["dependency_failed"] * 3
    assert {one.state for one in of(array)} == {"dependency_failed"}
    second.refresh_from_db()
    assert second.message == "the work it was to run after did not succeed"
    assert first.name not in second.message
    place.step()
    assert state_of(anyway) == "running"


def test_work_on_hold_whose_wait_is_vain_fails_as_well():
    place = many()
    first = place.submit()
    second = place.submit(after=[After(first)])
    workload_hold(workload=second, actor=SYSTEM)
    workload_stop(workload=first, actor=SYSTEM)
    place.step()
    assert state_of(second) == "dependency_failed"


def test_a_share_of_an_array_is_enough_before_the_rest_has_ended():
    place = many()
    array = place.submit("0-3", throttle=2)
    after = place.submit(after=[After(array, Rule.SHARE, 500)])
    never = place.submit(after=[After(array, Rule.SHARE, 1000)])
    place.step()
    place.finish(*of(array, "running"), code=0)
    place.step()
    assert state_of(after) in ("running", "placed", "starting")
    assert state_of(array) == "active"
    place.finish(of(array, "running")[0], code=1)
    assert state_of(never) == "dependency_failed"


def test_a_piece_waits_for_the_piece_with_its_own_number():
    place = many()
    first = place.submit("0-2", throttle=2)
    second = place.submit("0-2", after=[After(first, each=True)])
    place.step()
    zero, one = of(first, "running")
    place.finish(one)
    place.step()
    assert [row.array_index for row in of(second, "running")] == [1]
    place.finish(zero, code=1)
    place.step()
    assert [row.array_index for row in of(second, "dependency_failed")] == [0]
    place.finish(*of(first, "running"), *of(second, "running"))
    place.step()
    place.finish(*of(second, "running"))
    assert {row.array_index: row.state for row in of(second)} == {
        0: "dependency_failed",
        1: "succeeded",
        2: "succeeded",
    }
    assert (state_of(first), state_of(second)) == ("failed", "dependency_failed")


def test_an_explanation_says_what_work_without_a_turn_waits_for():
    place = many()
    first = place.submit()
    second = place.submit(after=[After(first)])
    array = place.submit("0-3", throttle=1)
    place.step()
    assert waiting_explain(workload=second).waits["reason"] == "after"
    piece = of(array, "queued")[-1]
    assert waiting_explain(workload=piece).waits["reason"] == "array"


def test_a_sweep_with_nothing_to_do_takes_the_same_queries_at_any_size():
    place = many()
    Project.objects.update(most_live=5000)
    first = place.submit()
    counts = []
    for size in (2, 900):
        array = place.submit(f"0-{size}", throttle=1)
        place.submit(f"0-{size}", after=[After(first), After(array)])
        settle()
        with CaptureQueriesContext(connection) as taken:
            settle()
        counts.append(len(taken))
    assert counts[0] == counts[1] <= 6


DAGS = st.lists(
    st.tuples(
        st.sampled_from(["job", "array"]),
        st.sets(st.integers(0, 3), max_size=2),
        st.sampled_from([Rule.SUCCESS, Rule.END]),
        st.booleans(),
    ),
    min_size=2,
    max_size=4,
)


@settings(
    max_examples=6,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(DAGS)
def test_any_net_of_work_ends_in_an_order_that_keeps_it(db, dag):
    with transaction.atomic():
        _works_off(dag)
        transaction.set_rollback(True)


def _works_off(dag):
    """Submit the net to an empty pool and let every piece end as it is told."""
    place = many(cards=3)
    made, fails, rules = [], {}, []
    for number, (kind, after, rule, fine) in enumerate(dag):
        ahead = [After(made[one], rule) for one in sorted(after) if one < number]
        row = place.submit(
            "0-2" if kind == "array" else "", throttle=2 if kind == "array" else None, after=ahead
        )
        made.append(row)
        fails[row.pk] = not fine
        rules.append((row, ahead))
    for _ in range(40):
        place.step()
        _watch(made, rules)
        mine = Workload.objects.filter(project=place.project)
        running = list(mine.filter(state="running"))
        for code in (0, 1):
            over = [one for one in running if fails[one.parent_id or one.pk] == bool(code)]
            if over:
                place.finish(*over, code=code)
                _watch(made, rules)
        if not mine.exclude(state__in=sorted(ENDED)).exists():
            break
    for row, ahead in rules:
        broken = any(one.rule is Rule.SUCCESS and state_of(one.on) != "succeeded" for one in ahead)
        wanted = "dependency_failed" if broken else "failed" if fails[row.pk] else "succeeded"
        assert state_of(row) == wanted


def _watch(made, rules):
    """At every moment: no throttle is passed, counts add up, nothing runs before its turn."""
    for row in made:
        if row.array_size:
            tally = tallies(rows=[row])[row.pk]
            assert tally.running <= row.array_throttle
            assert tally.size == row.array_size
    for row, ahead in rules:
        started = Workload.objects.filter(attempts_made__gt=0)
        if (started.filter(pk=row.pk) | started.filter(parent=row)).exists():
            for one in ahead:
                over = (
                    ("succeeded",)
                    if one.rule is Rule.SUCCESS
                    else ("succeeded", "failed", "dependency_failed")
                )
                assert state_of(one.on) in over


@pytest.mark.django_db(transaction=True)
def test_a_turn_reads_as_much_of_a_long_array_as_of_a_short_one():
    """Whole reads of a table of a few thousand rows, cheap as they are, are left out here."""
    place = many()
    first = place.submit()
    arrays = [place.submit("0-9", throttle=2), place.submit("0-9", after=[After(first)])]
    read = []
    for more in (90, 4000):
        for array in arrays:
            cloned(of(array)[-1], more, array_index=f"n + {more + 10}")
        settle()
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE pool_workload")
            cursor.execute("SET enable_seqscan = off")
        with CaptureQueriesContext(connection) as taken:
            settle()
            assert len(queued()) == 3
        said = [one["sql"] for one in taken if one["sql"].lstrip().startswith(("SELECT", "UPDATE"))]
        read.append(sum(map(blocks, said)))
        with connection.cursor() as cursor:
            cursor.execute("RESET enable_seqscan")
    assert read[1] <= 1.5 * read[0], "as much for forty times the pieces"

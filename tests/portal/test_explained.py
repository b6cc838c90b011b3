"""Explanations are worked out once for each state of the pool, and not for the asking alone."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from pool.events import SYSTEM
from pool.services.queueing.steer import workload_rank
from portal import explained
from tests import rows

pytestmark = pytest.mark.django_db

WHOLE = {"parts": 1, "whole": True}


@pytest.fixture
def crowd():
    """Two that wait for one card that does not exist."""
    rows.partition()
    rows.node()
    return [rows.workload(need=WHOLE | {"parts": 2}) for _ in range(2)]


def cost(work, who="mei"):
    with CaptureQueriesContext(connection) as seen:
        explained.explained(workload=work, who=who)
    return len(seen)


def test_the_second_who_asks_costs_one_query_and_another_work_no_second_look(crowd):
    first, second = crowd
    dear = cost(first)
    assert cost(first, "pat") == 1 < dear
    newest, what_its_bandwidth_rests_on = 1, 1
    assert cost(second) == newest + what_its_bandwidth_rests_on


def test_after_any_event_it_is_worked_out_anew(crowd):
    dear = cost(crowd[0])
    workload_rank(workload=crowd[1], priority="low", reason="later", actor=SYSTEM)
    assert cost(crowd[0]) == dear


def test_who_asks_too_often_has_to_wait_but_reads_what_is_known(crowd, monkeypatch):
    monkeypatch.setattr(explained.ASKED, "limit", 1)
    first, second = crowd
    explained.explained(workload=first, who="mei")
    with pytest.raises(explained.AskedTooOften) as often:
        explained.explained(workload=second, who="mei")
    assert 0 < often.value.wait_s <= 60
    assert explained.explained(workload=first, who="mei").waits["reason"]
    assert explained.explained(workload=second, who="pat").waits["reason"]


def test_a_picture_of_the_queue_uses_the_same_look(crowd):
    cost(crowd[0])
    with CaptureQueriesContext(connection) as seen:
        assert {one.id for one in explained.looked().snapshot.waiting} == {w.pk for w in crowd}
    assert len(seen) == 1


def test_a_picture_may_miss_what_happened_a_moment_ago_an_explanation_not(crowd):
    first = explained.looked()
    workload_rank(workload=crowd[1], priority="low", reason="later", actor=SYSTEM)
    assert explained.looked(stale_s=60) is first
    assert explained.looked() is not first

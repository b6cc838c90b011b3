"""A node that cannot keep accounts apart serves one trust group at a time, and tells others so."""

import pytest

from pool.cycle.round import run_rounds
from pool.services.nodes import node_hello
from tests import rows
from tests.pool.obedient import Obedient
from tests.pool.place import Place, seen
from tests.portal.callers import caller

pytestmark = pytest.mark.django_db

SLICE = {"profile": "1g.10gb"}


def test_the_second_tenant_is_refused_the_node_and_explain_says_why():
    part = rows.partition()
    node = Obedient(rows.node(cards=2, fenced=False))
    ours, theirs = rows.project(), rows.project()
    for into in (ours, theirs):
        rows.quota(limit=2_000_000, label="A100-80GB", project=into, partition=part)
    first = Place(node, None, ours).submit(need=SLICE)
    beside = Place(node, None, ours).submit(need=SLICE)
    node.turn()
    assert seen(first).state == "running"
    second = Place(node, None, theirs).submit(need=SLICE)
    node.turn()
    assert (seen(second).state, seen(beside).state) == ("queued", "running")
    assert second.waits_for == "isolation"
    told = caller(second.owner).post(f"workloads/{second.uid}/explain").json()
    assert told["waits"]["reason"] == "isolation", told["waits"]
    node.finish(first)
    node.finish(beside)
    node.tell()
    run_rounds()
    node.turn()
    assert seen(second).state == "running", "the node is free of the other group"


def test_a_node_that_has_walls_serves_both_at_once_on_slices_of_hardware():
    part = rows.partition()
    node = Obedient(rows.node(cards=1, fenced=True))
    works = []
    for _ in range(2):
        into = rows.project()
        rows.quota(limit=1_000_000, label="A100-80GB", project=into, partition=part)
        works.append(Place(node, None, into).submit(need=SLICE))
    node.turn()
    assert [seen(work).state for work in works] == ["running"] * 2


def test_a_node_that_lost_its_walls_takes_no_second_group_from_then_on():
    part = rows.partition()
    node = Obedient(rows.node(cards=1, fenced=True))
    ours, theirs = rows.project(), rows.project()
    for into in (ours, theirs):
        rows.quota(limit=1_000_000, label="A100-80GB", project=into, partition=part)
    first = Place(node, None, ours).submit(need=SLICE)
    node.turn()
    facts = [rows.card_facts(f"GPU-{node.row.name}-0")]
    node_hello(node=node.row, hello=rows.hello(node.row.name, facts, fenced=False))
    second = Place(node, None, theirs).submit(need=SLICE)
    node.turn()
    assert (seen(first).state, seen(second).state) == ("running", "queued")

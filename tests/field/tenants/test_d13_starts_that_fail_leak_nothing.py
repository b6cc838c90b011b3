"""D13: a start that fails, in whatever way, keeps nothing of anybody's quota and no card."""

from datetime import timedelta

import pytest

from nodeagent.protocol.report import FoundWork
from nodeagent.protocol.vocabulary import ExitReason, WorkFound
from pool.clock import now
from pool.cycle.round import run_rounds
from pool.cycle.watch import watch
from pool.events import SYSTEM
from pool.models import Card, Quota, Workload
from pool.services import placements
from pool.services.moves import move
from pool.services.nodes import node_confirm_dead, node_hello
from pool.services.workloads import workload_stop
from tests import rows
from tests.pool.obedient import Obedient
from tests.pool.place import Place, free, seen

pytestmark = pytest.mark.django_db

WHOLE = {"parts": 1, "whole": True}
TIMES = 5


@pytest.fixture
def place():
    """One card; an organization, a project and a member who may each hold it."""
    part = rows.partition()
    node = Obedient(rows.node())
    into = rows.project()
    words = {"limit": 1_000_000, "label": "A100-80GB", "partition": part}
    quota = rows.quota(project=into, **words)
    made = Place(node, quota, into)
    made.member = rows.member(into)
    rows.quota(organization=into.organization, **words)
    rows.quota(project=into, user=made.member, **words)
    rows.quota(project=into, unit="workloads", limit=10, partition=part)
    return made


def booked():
    """What is held at each level."""
    return list(Quota.objects.order_by("pk").values_list("held", flat=True))


def late(work):
    Workload.objects.filter(pk=work.pk).update(deadline=now() - timedelta(seconds=1))


def told(place, **how):
    """The node fetched the start, and says that nothing came of it."""
    place.node.pull()
    place.node.work = {
        uid: FoundWork(attempt=uid, workload=one.workload, clean=True, **how)
        for uid, one in place.node.work.items()
    }
    place.node.tell()


def mount_missing(place, _work, _patch):
    told(place, state=WorkFound.REFUSED, message="mount /data/x is missing")


def image_not_pulled(place, _work, _patch):
    told(place, state=WorkFound.EXITED, exit_reason=ExitReason.START_FAILED, exit_code=125)


def agent_refuses(place, _work, _patch):
    told(place, state=WorkFound.REFUSED, message="no account on this node")


def agent_breaks(place, work, _patch):
    """It fetches the start and dies of it each time, until the deadline of the start is past."""
    place.node.pull()
    place.node.work = {}
    place.node.tell()
    late(work)
    watch()
    assert seen(work).state == "stopping"
    place.node.turn()


def node_gone(place, work, _patch):
    place.node.turn()
    row = seen(place.node.row)
    move(seen(work), "unreachable", actor=SYSTEM)
    move(row, "silent", actor=SYSTEM)
    node_confirm_dead(node=row, actor=SYSTEM, reason="burnt down")
    facts = [rows.card_facts(card.uuid) for card in Card.objects.all()]
    node_hello(node=seen(row), hello=rows.hello(row.name, facts))
    place.node.work, place.node.slices = {}, {}
    place.node.turn()


@pytest.mark.parametrize(
    "fails", [mount_missing, image_not_pulled, agent_refuses, agent_breaks, node_gone]
)
def test_after_each_failed_start_all_levels_and_the_card_are_as_before(place, fails, monkeypatch):
    for _ in range(TIMES):
        work = place.submit(need=WHOLE, asked_micro=1_000_000, owner=place.member)
        assert work.state == "placed"
        assert booked() == [1_000_000, 1_000_000, 1_000_000, 1]
        fails(place, work, monkeypatch)
        assert seen(work).state == "queued"
        assert booked() == [0, 0, 0, 0]
        free(place)
        workload_stop(workload=work, actor=SYSTEM)
        place.node.turn()
    last = place.submit(need=WHOLE, asked_micro=1_000_000, owner=place.member)
    place.node.turn()
    assert seen(last).state == "running"
    assert booked() == [1_000_000, 1_000_000, 1_000_000, 1]


def test_a_worker_that_dies_after_it_reserved_leaves_nothing_reserved(place, monkeypatch):
    real = placements.node_wish

    class Killed(Exception):
        """The process is gone."""

    def dies(**_words):
        raise Killed

    work = rows.workload(into=place.into, need=WHOLE, asked_micro=1_000_000, owner=place.member)
    for _ in range(TIMES):
        monkeypatch.setattr(placements, "node_wish", dies)
        with pytest.raises(Killed):
            run_rounds()
        assert seen(work).state == "queued"
        assert booked() == [0, 0, 0, 0]
        free(place)
    monkeypatch.setattr(placements, "node_wish", real)
    run_rounds()
    place.node.turn()
    assert seen(work).state == "running"

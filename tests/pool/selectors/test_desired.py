"""The wish for one node, read from the books."""

import pytest

from nodeagent.protocol.vocabulary import WorkWanted
from pool.cycle.round import run_rounds
from pool.events import SYSTEM
from pool.models import Node, Slice
from pool.selectors.desired import UIDS_OF_A_PROJECT, desired_of
from pool.services.nodes import node_drain
from pool.services.workloads import workload_stop
from tests import rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def node():
    rows.partition()
    return rows.node()


def test_work_carries_what_it_needs_and_nothing_of_others(node):
    rows.node()
    work = rows.workload(
        command=["python", "train.py"],
        env={"LR": "0.1", "GPUPOOL_WORKLOAD": "lie"},
        files={"train.py": "print(1)"},
        grace_seconds=7,
        disk_mib=100,
    )
    run_rounds()
    home = work.attempts.get().node
    wish = desired_of(node=home)
    (one,) = wish.work
    (cut,) = wish.slices
    assert (one.command, one.files) == (("python", "train.py"), {"train.py": "print(1)"})
    assert (one.env["LR"], one.env["GPUPOOL_WORKLOAD"]) == ("0.1", work.uid)
    assert one.slices == (cut.uid,)
    assert (one.cpu_milli, one.memory_mib, one.disk_mib, one.grace_s) == (1000, 1024, 100, 7)
    assert one.wanted is WorkWanted.RUN
    (other,) = Node.objects.exclude(pk=home.pk)
    assert desired_of(node=other).work == ()
    assert desired_of(node=other).slices == ()


def test_people_run_as_themselves_or_in_the_range_of_their_project(node):
    into = rows.project()
    ada = rows.member(into, unix_account="ada")
    bob = rows.member(into)
    for owner in (ada, bob):
        rows.workload(into=into, owner=owner)
    run_rounds()
    accounts = {one.account for one in desired_of(node=node).work}
    uid = into.uid_base + bob.pk % UIDS_OF_A_PROJECT
    assert accounts == {"user:ada", f"uid:{uid}"}


def test_a_stop_is_wished_with_its_reason(node):
    work = rows.workload()
    run_rounds()
    workload_stop(workload=work, actor=SYSTEM)
    (one,) = desired_of(node=node).work
    assert (one.wanted, one.stop_reason) == (WorkWanted.STOP, "cancelled")


@pytest.mark.parametrize(
    ("state", "wished"),
    [
        ("planned", 1),
        ("creating", 1),
        ("ready", 1),
        ("cleaning", 1),
        ("deleting", 0),
        ("failed", 0),
    ],
)
def test_slices_are_wished_while_they_shall_exist(node, state, wished):
    rows.workload()
    run_rounds()
    Slice.objects.update(state=state)
    assert len(desired_of(node=node).slices) == wished


def test_the_number_grows_with_every_change_of_the_wish(node):
    before = desired_of(node=node).generation
    work = rows.workload()
    run_rounds()
    placed = desired_of(node=node).generation
    workload_stop(workload=work, actor=SYSTEM)
    assert before < placed < desired_of(node=node).generation


def test_a_node_that_only_measures_is_asked_for_nothing(node):
    rows.workload()
    run_rounds()
    Node.objects.update(observe=True)
    wish = desired_of(node=node)
    assert (wish.observe, wish.slices, wish.work) == (True, (), ())


def test_a_draining_node_is_told_so_and_goes_on(node):
    rows.workload()
    run_rounds()
    node_drain(node=node, actor=SYSTEM, reason="test")
    wish = desired_of(node=node)
    assert wish.drain
    assert len(wish.work) == 1

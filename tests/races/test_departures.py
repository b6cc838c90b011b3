"""People leave and projects close beside rounds, reports and submissions: no deadlock, all ends."""

import pytest

from pool.cycle.departures import departures
from pool.cycle.round import run_rounds
from pool.errors import PoolError
from pool.events import SYSTEM
from pool.models import Project, User, Workload
from pool.selectors.people.living import project_living
from pool.services.observed import report_take
from pool.services.people.closing import project_archive
from pool.services.people.leavers import user_leave
from pool.services.users import user_edit
from pool.services.workloads import workload_stop
from tests import rows
from tests.pool.services.yielding.conftest import Pool, seen
from tests.races.lockorder import LockOrder, watched
from tests.races.test_rounds import together

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def pool(transactional_db):
    return Pool(cards=4)


def kept(*acts):
    """All at once: nobody was refused for a lock, nobody took one out of order."""
    orders = [LockOrder() for _ in acts]
    raised = together(*(watched(one, act) for one, act in zip(orders, acts, strict=True)))
    assert all(one is None or isinstance(one, PoolError) for one in raised), raised
    assert [one.wrong for one in orders] == [[]] * len(acts)
    return orders


def tells(node):
    report = node.report()
    return lambda: report_take(node=node.row, report=report)


def to_the_end(pool):
    """The node obeys, the sweep tidies, until nothing is left."""
    for _ in range(6):
        pool.node.turn()
        departures()


def test_a_project_closes_beside_a_round_a_report_and_stops(pool):
    running = [pool.running() for _ in range(4)]
    for _ in range(4):
        pool.submit(pool.low)
    project = running[0].project
    close = lambda: project_archive(project=project, actor=SYSTEM, wind_down=True)  # noqa: E731
    stops = [lambda one=one: workload_stop(workload=one, actor=SYSTEM) for one in running[::-1]]
    orders = kept(close, close, run_rounds, tells(pool.node), departures, *stops)
    assert orders[0].seen["workload"] + orders[1].seen["workload"] >= 4
    to_the_end(pool)
    after = Project.objects.get(pk=project.pk)
    assert project_living(project=after).nothing
    assert after.archived_at is not None


def test_somebody_leaves_beside_a_round_a_report_and_their_own_doings(pool):
    person, heir = rows.member(pool.into), rows.member(pool.into)
    running = [pool.running(owner=person) for _ in range(4)]
    for _ in range(4):
        pool.submit(pool.low, owner=person)
    leave = lambda: user_leave(user=person, heir=heir, seconds=0, actor=SYSTEM)  # noqa: E731
    edit = lambda: user_edit(user=person, actor=SYSTEM, display_name="Gone")  # noqa: E731
    submit = lambda: pool.submit(pool.low, owner=person)  # noqa: E731
    kept(leave, leave, edit, submit, run_rounds, tells(pool.node), departures)
    to_the_end(pool)
    assert User.objects.get(pk=person.pk).winds_down_at is None
    assert not Workload.objects.filter(owner=person, ended_at=None).exists()
    assert {seen(one).state for one in running} <= {"cancelled", "stopped"}

"""D22: a notebook whose environment never gets ready is cancelled at once, and room is free."""

import pytest

from nodeagent.protocol.notebooks import Stage
from nodeagent.protocol.vocabulary import ExitReason
from pool.events import SYSTEM
from pool.services.workloads import workload_stop
from tests.field.notebooks import Desk
from tests.pool.place import free

pytestmark = pytest.mark.django_db


def test_a_start_that_never_ends_is_stopped_and_the_next_one_starts():
    desk = Desk.laid()
    assert desk.turn(Stage.ENVIRONMENT).state in ("starting", "running")
    assert desk.known.stage == Stage.ENVIRONMENT
    workload_stop(workload=desk.work, actor=SYSTEM, reason=ExitReason.STOPPED)
    again = workload_stop(workload=desk.work, actor=SYSTEM, reason=ExitReason.STOPPED)
    assert again.state == "stopping", "a second stop is harmless"
    desk.place.node.turn()
    assert desk.turn(Stage.ENVIRONMENT).state == "stopped"
    free(desk.place)
    assert workload_stop(workload=desk.work, actor=SYSTEM).state == "stopped"
    other = desk.place.submit(kind="notebook", command=["jupyter", "lab"])
    desk.work = other
    assert desk.turn().state == "running"

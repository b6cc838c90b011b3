"""A node that was let in and then says nothing does not stay `joining` for ever."""

import pytest
from django.conf import settings

from pool.cycle.silence import silence_sweep
from pool.models import Alert, Node
from pool.services.nodes import node_hello
from tests import rows
from tests.pool.obedient import Obedient

pytestmark = pytest.mark.django_db


def test_a_node_that_joined_and_never_said_hello_is_called_silent_and_may_still_come():
    rows.partition()
    late = Node.objects.create(name="late", name_folded="late")
    well = [Obedient(rows.node()) for _ in range(3)]
    assert late.state == "joining"
    for at in range(0, settings.NODE_SILENT_SECONDS + 8, 4):
        for one in well:
            one.tell()
        silence_sweep(seen=float(at))
    late.refresh_from_db()
    assert (late.state, late.state_before) == ("silent", "joining")
    assert Alert.objects.filter(key=f"silent:{late.uid}", state="firing").count() == 1
    node_hello(node=late, hello=rows.hello("late", []))
    late.refresh_from_db()
    assert late.state == "ready"
    assert Alert.objects.get(key=f"silent:{late.uid}").state == "resolved"

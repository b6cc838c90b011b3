"""D25: a node's clock is ten minutes off and drifts, the portal's steps an hour: no job is lost."""

import pytest
from django.conf import settings as here
from django.db import connection
from msgspec.structs import replace

from pool.clock import now
from pool.cycle.silence import silence_sweep
from pool.cycle.watch import watch
from pool.models import Card, Event, Hold, Node
from pool.services.nodes import node_hello
from pool.services.observed import report_take
from tests import rows
from tests.pool.place import free, seen, settled

pytestmark = pytest.mark.django_db
MANY = 5
TIMES = ("started_at", "ended_at", "clean_at")


@pytest.fixture
def place():
    return settled()


def running(place):
    works = [place.submit(need={"profile": "1g.10gb"}) for _ in range(MANY)]
    place.node.turn()
    assert [seen(work).state for work in works] == ["running"] * MANY
    return works


def by_its_clock(place, skew_s):
    """The node's report, every moment in it on the node's own clock."""
    work = tuple(
        replace(one, **{name: at + skew_s for name in TIMES if (at := getattr(one, name))})
        for one in place.node.work.values()
    )
    return place.node.report(work=work, sent_at=now().timestamp() + skew_s)


def lengths():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT extract(epoch FROM upper(held) - lower(held))::float8 FROM pool_hold"
        )
        return [length for (length,) in cursor.fetchall()]


@pytest.mark.parametrize("skew_s", [600.0, -600.0])
def test_a_node_ten_minutes_off_is_warned_of_once_and_is_as_alive_as_any(place, skew_s):
    facts = [rows.card_facts(card.uuid) for card in Card.objects.all()]
    for _ in range(3):
        hello = rows.hello(place.node.row.name, facts, sent_at=now().timestamp() + skew_s)
        welcome = node_hello(node=seen(place.node.row), hello=hello)
        assert len(welcome.warnings) == 1 and str(round(skew_s)) in welcome.warnings[0]
    assert Event.objects.filter(kind="node.skewed").count() == 1
    works = running(place)
    at, quiet = 0.0, here.NODE_SILENT_SECONDS
    for _ in range(8):
        at += quiet / 2
        report_take(node=seen(place.node.row), report=by_its_clock(place, skew_s))
        silence_sweep(seen=at)
    assert seen(place.node.row).state == "ready"
    assert abs((now() - seen(place.node.row).last_report_at).total_seconds()) < 60
    for work in works:
        place.node.finish(work, held=None)
    report_take(node=seen(place.node.row), report=by_its_clock(place, skew_s))
    for work in works:
        row = seen(work)
        assert row.state == "succeeded"
        assert abs((row.ended_at - now()).total_seconds()) < 60
    assert all(0 < length < 60 for length in lengths())
    free(place)


def test_a_clock_that_drifts_a_second_a_minute_stays_quiet_until_it_matters(place):
    facts = [rows.card_facts(card.uuid) for card in Card.objects.all()]
    told = []
    for minute in range(60):
        hello = rows.hello(place.node.row.name, facts, sent_at=now().timestamp() + minute)
        told.append(len(node_hello(node=seen(place.node.row), hello=hello).warnings))
    assert told[:30] == [0] * 30 and told[32:] == [1] * 28
    assert Event.objects.filter(kind="node.skewed").count() == 1


def stepped(seconds):
    """The portal's clock jumps."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO pool_clockshift (id, base_real, base_pool, speed) VALUES"
            " (1, clock_timestamp(), clock_timestamp() + make_interval(secs => %s), 1)"
            " ON CONFLICT (id) DO UPDATE SET base_real = excluded.base_real,"
            " base_pool = excluded.base_pool",
            [seconds],
        )


@pytest.mark.parametrize("step_s", [3600.0, -3600.0])
def test_the_portals_clock_steps_an_hour_and_the_nodes_own_count_stands(place, settings, step_s):
    settings.CLOCK_MOVABLE = True
    works = running(place)
    silence_sweep(seen=1.0)
    stepped(step_s)
    silence_sweep(seen=3.0)
    watch()
    place.node.tell()
    assert [seen(work).state for work in works] == ["running"] * MANY
    assert Node.objects.get().state == "ready"
    for work in works:
        place.node.finish(work, held=42.0)
    place.node.tell()
    assert [seen(work).state for work in works] == ["succeeded"] * MANY
    assert all(length > 0 for length in lengths())
    if step_s > 0:
        told = Event.objects.filter(kind="hold.corrected")
        assert [round(one.data["agent_held_s"]) for one in told] == [42] * MANY
        assert set(Hold.objects.values_list("corrected_s", flat=True)) == {42.0}
    free(place)

"""D31: one tab stops reading while events rain; the other misses nothing, the slow one is not
sent a queue of old pictures but the newest, and what may not be lost stands in the inbox."""

import json

import pytest
from asgiref.sync import sync_to_async

from pool.events import SYSTEM
from pool.models import Alert, Notice, Workload
from pool.services.alerting.people import people_tell
from pool.services.alerts import alert_raise
from pool.services.workloads import workload_hold, workload_release
from portal.live.seat import Seat, said
from tests.portal.live.test_sockets import Browser, cookie_of
from tests.portal.world import World

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("valkey")]
RAIN = 128


@pytest.fixture
def world():
    return World()


def rain(world):
    """More events about one workload than a channel layer would keep for one reader."""
    for _turn in range(RAIN // 2):
        workload_hold(workload=world.own.workload, actor=SYSTEM)
        workload_release(workload=world.own.workload, actor=SYSTEM)
    workload_hold(workload=world.own.workload, actor=SYSTEM)


async def test_the_healthy_tab_and_the_slow_one_both_end_on_the_true_state(world):
    topic = f"workload:{world.own.workload.uid}"
    session = await sync_to_async(cookie_of)(world.by("member").user)
    async with Browser(session) as slow, Browser(session) as healthy:
        for browser in (slow, healthy):
            await browser.say(subscribe=[topic])
            await browser.hear(topic)
        await sync_to_async(rain)(world)
        state = await sync_to_async(Workload.objects.values_list("state", flat=True).get)(
            pk=world.own.workload.pk
        )
        assert state == "on_hold"
        async with Browser(session) as fresh:
            await fresh.say(subscribe=[topic])
            truth = (await fresh.hear(topic))["html"]
        seen = {}
        for name, browser in (("healthy", healthy), ("slow", slow)):
            count = 0
            while seen.get(name) != truth:
                seen[name] = (await browser.hear(topic))["html"]
                count += 1
            assert count < RAIN, "pictures are put together, not queued"


def test_a_socket_that_takes_nothing_keeps_one_message_a_topic(world):
    seat = Seat(world.by("member").user, "en", "session")
    for number in range(10_000):
        seat.show("pool", f"<p>{number}</p>", said(topic="pool", html=f"<p>{number}</p>"))
    ((topic, message),) = seat.take()
    assert (topic, json.loads(message)["html"]) == ("pool", "<p>9999</p>")


def test_an_alert_is_in_the_inbox_whether_a_tab_heard_of_it_or_not(world):
    subject = f"workload:{world.own.workload.uid}"
    alert_raise(key="k", subject=subject, title="hangs", actor=SYSTEM, family="workload")
    people_tell(alert=Alert.objects.get(key="k"), word="fired")
    assert Notice.objects.filter(user=world.own.owner, about__startswith="alert:").count() == 1

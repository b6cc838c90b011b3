"""How busy cards and work are comes over the socket to whoever may know; unknown is no 0."""

import json

import pytest
from asgiref.sync import sync_to_async

from nodeagent.protocol.samples import Reading, SampleBatch
from pool.clock import now
from pool.events import SYSTEM
from pool.models import Card, Hold
from pool.services.cards import card_cordon
from pool.services.samples import samples_take
from tests.portal.live.test_sockets import Browser, cookie_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("valkey")]


@pytest.fixture
def people(world):
    return {
        role: cookie_of(world.by(role).user) for role in ("member", "platform_admin", "stranger")
    }


def told(world, sequence, *, util=None, sm=None, ago=0.0):
    """The node's word: its first card, and the slice of the team's work on it."""
    at, hold = now().timestamp(), world.own.hold
    words = {"at": at - ago, "card": hold.card.uuid, "memory_mib_mean": 8192.0}
    work = {"slice": hold.slice.uid, "attempt": world.own.placement.attempt.uid}
    readings = (Reading(util_mean=util, **words), Reading(sm_mean=sm, **words, **work))
    batch = SampleBatch(boot_id="b", sequence=sequence, sent_at=at, readings=readings)
    assert samples_take(node=world.node, batch=batch) == 2


async def numbers(browser, topic):
    return json.loads((await browser.hear(topic))["data"])


async def heard(browser, *topics):
    """The next message of each topic, in whatever order they come."""
    found = {}
    while set(found) != set(topics):
        said = json.loads(await browser.wire.hear(30))
        if said.get("topic") in topics:
            found.setdefault(said["topic"], said)
    return found


async def test_readings_move_the_bars_of_map_and_node_and_the_figures_of_the_work(world, people):
    card = await sync_to_async(lambda: world.own.hold.card)()
    uid = await sync_to_async(lambda: world.own.placement.attempt.workload.uid)()
    mine = f"use:{world.node.uid}"
    async with Browser(people["member"]) as browser:
        await browser.say(subscribe=["use", mine, f"load:{uid}"])
        assert await numbers(browser, "use") == {}
        assert await numbers(browser, mine) == {}
        assert "Not measured" in (await browser.hear(f"load:{uid}"))["html"]
        await sync_to_async(told)(world, 1, util=83.4, sm=71.0)
        share = round(100 * 8192 / card.memory_mib)
        said = await heard(browser, "use", mine, f"load:{uid}")
    assert json.loads(said["use"]["data"]) == {card.uid: [83, share]}
    assert json.loads(said[mine]["data"]) == {card.uid: [83, share]}
    assert "71" in said[f"load:{uid}"]["html"]


async def test_what_was_measured_long_ago_or_never_is_left_out(world, people):
    await sync_to_async(told)(world, 1, util=50.0, ago=120.0)
    async with Browser(people["member"]) as browser:
        await browser.say(subscribe=["use"])
        assert await numbers(browser, "use") == {}
        await sync_to_async(told)(world, 2, util=None, sm=1.0)
        (said,) = (await numbers(browser, "use")).values()
    assert said[0] is None


async def test_the_load_of_another_teams_work_is_not_there(world, people):
    topics = [f"load:{world.own.workload.uid}", "node:nd-none", "card:x.y", "use\0", "pool:x"]
    async with Browser(people["stranger"]) as browser:
        await browser.say(subscribe=topics)
        for topic in topics:
            assert await browser.hear(topic) == {"topic": topic, "error": "not_found"}


async def test_a_node_and_a_card_are_drawn_anew_when_something_happens_there(world, people):
    card = await sync_to_async(Card.objects.select_related("node").get)(pk=world.own.hold.card_id)
    topics = [f"node:{card.node.uid}", f"card:{card.uid}.{card.node.uid}"]
    async with Browser(people["platform_admin"]) as browser:
        await browser.say(subscribe=topics)
        before = [await browser.hear(topic) for topic in topics]
        await sync_to_async(card_cordon)(card=card, actor=SYSTEM, reason="a fan rattles")
        after = [await browser.hear(topic) for topic in topics]
    for old, new in zip(before, after, strict=True):
        assert old["html"] != new["html"]
    assert "A fan rattles" in after[1]["html"]


@pytest.mark.handmade_books
async def test_people_of_different_teams_see_their_own_names_alone_on_a_card(world, people):
    def goes_on():
        hold = world.own.hold
        Hold.objects.filter(pk=hold.pk).update(held=(hold.held.lower, None))
        return hold.card.uid, hold.placement.attempt.workload.uid

    card, uid = await sync_to_async(goes_on)()
    topic = f"card:{card}.{world.node.uid}"
    shown = {}
    for role in ("member", "stranger"):
        async with Browser(people[role]) as browser:
            await browser.say(subscribe=[topic])
            shown[role] = (await browser.hear(topic))["html"]
    assert uid in shown["member"]
    assert uid not in shown["stranger"]


async def test_a_person_with_many_pages_is_asked_about_once(world, people, monkeypatch):
    from portal.live import hub as hubs

    asked, real = [], hubs._key_of

    async def counted(user, topic):
        asked.append(topic)
        return await real(user, topic)

    topic = f"workload:{world.own.workload.uid}"
    async with Browser(people["member"]) as a, Browser(people["member"]) as b:
        for browser in (a, b):
            await browser.say(subscribe=[topic])
            await browser.hear(topic)
        monkeypatch.setattr(hubs, "_key_of", counted)
        await hubs.hub()._check()
    assert asked == [topic]

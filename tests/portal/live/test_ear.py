"""The ear of a process: it hears, notices when the layer went away, and says when it is back."""

import asyncio

import pytest
import redis
from channels.layers import get_channel_layer

from portal.live.ear import Ear, Listener


async def until(met, seconds=15.0):
    """Wait for a condition, with a deadline."""
    async with asyncio.timeout(seconds):
        while not met():
            await asyncio.sleep(0.02)


@pytest.fixture
async def ear(valkey):
    heard, back = [], []
    made = Ear(echo_s=0.5, groups=("tests", "others"))
    listener = Listener(heard.append, lambda: back.append(len(heard)))
    made.join(listener)
    await until(lambda: made.hears)
    yield made, heard, back
    for listener in list(made._listeners):
        await made.leave(listener)


async def test_what_is_said_to_the_group_is_heard_once(ear):
    _, heard, back = ear
    for number in range(3):
        await get_channel_layer().group_send("tests", {"type": "event", "number": number})
    await until(lambda: len(heard) == 3)
    assert [m["number"] for m in heard] == [0, 1, 2]
    assert back == [0]


async def test_who_joins_later_is_told_at_once_and_after_the_last_it_hears_no_more(ear):
    made, heard, _ = ear
    late = []
    listener = Listener(late.append, lambda: late.append("back"))
    made.join(listener)
    made.join(listener)
    assert late == ["back"]
    await made.leave(listener)
    assert made.hears
    for other in list(made._listeners):
        await made.leave(other)
    assert not made.hears
    await get_channel_layer().group_send("tests", {"type": "event", "number": 1})
    assert heard == []


async def test_a_quiet_layer_is_no_lost_layer(ear):
    made, heard, back = ear
    began = asyncio.get_running_loop().time()
    await until(lambda: asyncio.get_running_loop().time() - began > 2.2)
    assert made.hears
    assert (heard, back) == ([], [0])


async def test_after_the_layer_stood_still_it_listens_again_and_says_so(ear, valkey):
    made, heard, back = ear
    with redis.Redis.from_url(valkey) as admin:
        admin.client_pause(2500)
        await until(lambda: not made.hears)
    await until(lambda: made.hears)
    assert len(back) >= 2
    await get_channel_layer().group_send("tests", {"type": "event", "number": 9})
    await until(lambda: {"type": "event", "number": 9} in heard)


async def test_a_cut_connection_is_made_again(ear, valkey):
    _, heard, _ = ear
    with redis.Redis.from_url(valkey) as admin:
        listening = [c for c in admin.client_list() if int(c["sub"]) > 0]
        for client in listening:
            admin.client_kill_filter(_id=client["id"])
    assert listening

    async def told():
        await get_channel_layer().group_send("tests", {"type": "event", "number": 5})
        return {"type": "event", "number": 5} in heard

    async with asyncio.timeout(20):
        while not await told():
            await asyncio.sleep(0.1)

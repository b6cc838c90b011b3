"""What writers announce is what listeners of the channel layer hear; a dead layer harms nobody."""

import asyncio
import time

import pytest
from channels.layers import get_channel_layer
from django.db import transaction

from pool.announce import NODES, Speaker, _send, wake_node


async def test_a_listener_of_the_layer_hears_what_is_announced(valkey):
    layer = get_channel_layer()
    channel = await layer.new_channel()
    await layer.group_add(NODES, channel)
    await asyncio.to_thread(_send, NODES, {"type": "wake", "node": "nd-1"})
    heard = await asyncio.wait_for(layer.receive(channel), 10)
    await layer.group_discard(NODES, channel)
    await layer.flush()
    assert heard == {"type": "wake", "node": "nd-1"}


@pytest.mark.django_db(transaction=True)
def test_nothing_is_announced_of_what_was_rolled_back(monkeypatch):
    sent = []
    monkeypatch.setattr("pool.announce._send", lambda group, message: sent.append(message))
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        wake_node("nd-1")
        1 / 0  # noqa: B018
    assert sent == []
    with transaction.atomic():
        wake_node("nd-2")
        assert sent == []
    assert sent == [{"type": "wake", "node": "nd-2"}]


def test_a_layer_that_is_away_costs_one_try_and_then_nothing(tmp_path):
    speaker = Speaker(f"unix://{tmp_path}/nobody.sock", "x")
    speaker.send("events", {"type": "event"})
    tries = []
    speaker._link.publish = lambda *_: tries.append(1)
    for _ in range(50):
        speaker.send("events", {"type": "event"})
    assert tries == []
    speaker._rests_until = time.monotonic() - 1
    speaker.send("events", {"type": "event"})
    assert tries == [1]

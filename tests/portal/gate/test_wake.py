"""The agents' wake socket."""

import asyncio

import pytest
from asgiref.sync import sync_to_async
from django.db import transaction

from pool.announce import wake_node
from pool.events import SYSTEM
from pool.services.nodes import node_credential_revoke
from portal.asgi import application
from portal.gate.sockets import bell
from tests import rows
from tests.portal.live.wire import Wire

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("valkey")]


def wire(credential: str) -> Wire:
    """A node's end."""
    header = (b"authorization", f"Bearer {credential}".encode())
    return Wire(application, "/gate/v1/wake", [header])


@sync_to_async
def woken(uid):
    with transaction.atomic():
        wake_node(uid)


async def test_a_node_is_woken_when_the_portal_wants_something_of_it_and_no_other(world):
    other = await sync_to_async(rows.node)(name="node-b")
    mine, theirs = wire("key of node-a"), wire("key of node-b")
    assert await mine.connect()
    assert await theirs.connect()
    for one in (mine, theirs):
        assert await one.hear() == "wake"
    await woken(world.node.uid)
    assert await mine.hear() == "wake"
    assert await theirs.receive_nothing(0.3)
    await woken(other.uid)
    assert await theirs.hear() == "wake"
    for one in (mine, theirs):
        await one.hang_up()
    assert not bell()._sockets


@pytest.mark.parametrize("credential", ["", "wrong", "key of node-x"])
async def test_without_a_credential_there_is_no_socket(world, credential):
    assert not await wire(credential).connect()


async def test_a_credential_that_was_taken_back_opens_no_socket(world):
    await sync_to_async(node_credential_revoke)(node=world.node, actor=SYSTEM)
    assert not await wire("key of node-a").connect()


async def test_what_a_node_says_there_means_nothing(world):
    mine = wire("key of node-a")
    assert await mine.connect()
    assert await mine.hear() == "wake"
    await mine.say("rubbish" * 1000)
    await woken(world.node.uid)
    assert await mine.hear() == "wake"
    await mine.hang_up()
    await asyncio.sleep(0)

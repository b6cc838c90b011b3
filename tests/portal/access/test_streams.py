"""Who takes a file slowly keeps no connection of the web process meanwhile."""

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.db import connection, transaction

from pool.models import User
from portal.access.streams import given_back

pytestmark = pytest.mark.django_db(transaction=True)


def kept_after_each_part(answer):
    """Whether the thread that reads keeps its connection after each part of the stream."""

    async def whole():
        return [await sync_to_async(kept)() async for _part in answer.streaming_content]

    return async_to_sync(whole)()


def kept():
    """Whether this thread holds a connection."""
    return connection.connection is not None


@pytest.mark.parametrize("log", [False, True])
def test_a_stream_keeps_no_connection_between_its_parts(world, log):
    who = world.by("platform_admin")
    answer = who.post("events/export", {}) if log else who.get("workloads?format=csv")
    assert answer.status_code == 200
    said = kept_after_each_part(answer)
    assert len(said) > 1
    assert not any(said[1:])


def test_inside_a_transaction_the_connection_stays():
    with transaction.atomic():
        given_back(User.objects.count)()
        assert kept()
    given_back(User.objects.count)()
    assert not kept()

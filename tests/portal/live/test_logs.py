"""Following a log as a stream of text."""

import asyncio

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from nodeagent.protocol.samples import LogBatch, LogChunk
from pool.events import SYSTEM
from pool.models import Attempt, Membership, User, Workload
from pool.services.logs import logs_take
from portal.access.tokens import token_hash, token_revoke
from portal.live import logs
from portal.live.hub import hub
from portal.live.logs import Wish, _told
from portal.models import ApiToken

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("valkey")]


class Job:
    """A workload whose node writes."""

    def __init__(self, world) -> None:
        self.node = world.node
        self.work = world.own.workload
        self.token = world.by("viewer").token

    async def run(self, number: int) -> Attempt:
        @sync_to_async
        def made():
            Attempt.objects.filter(workload=self.work).update(state="ended")
            return Attempt.objects.create(
                workload=self.work, number=number, node=self.node, state="open"
            )

        return await made()

    async def write(self, run: Attempt, text: str, offset: int) -> None:
        piece = LogChunk(attempt=run.uid, rank=0, offset=offset, text=text, size=len(text))
        await sync_to_async(logs_take)(node=self.node, batch=LogBatch(sent_at=0.0, chunks=(piece,)))

    async def over(self) -> None:
        rows = Workload.objects.filter(pk=self.work.pk)
        await sync_to_async(rows.update)(state="succeeded")

    async def log(self, query: str):
        path = f"/api/v1/workloads/{self.work.uid}/logs{query}"
        return await AsyncClient().get(path, headers={"Authorization": f"Bearer {self.token}"})


@pytest.fixture
def job(world) -> Job:
    return Job(world)


async def whole(answer) -> str:
    """The stream up to its end."""
    async with asyncio.timeout(15):
        return b"".join([part async for part in answer.streaming_content]).decode()


async def test_a_log_is_followed_from_before_the_first_run_to_the_end_of_the_last(job):
    answer = await job.log("?follow=1")
    reading = asyncio.ensure_future(whole(answer))
    first = await job.run(1)
    await job.write(first, "first\n", 0)
    second = await job.run(2)
    await job.write(second, "second\n", 0)
    await job.over()
    await job.write(second, "last words\n", 7)
    assert await reading == "first\nsecond\nlast words\n"


async def test_without_follow_it_ends_with_what_there_is(job):
    run = await job.run(1)
    await job.write(run, "so far\n", 0)
    assert await whole(await job.log("")) == "so far\n"
    assert await whole(await job.log("?offset=3")) == ""
    assert await whole(await job.log("?offset=7")) == ""


async def test_one_run_is_asked_for_by_its_number(job):
    for number in (1, 2):
        run = await job.run(number)
        await job.write(run, f"run {number}\n", 0)
    assert await whole(await job.log("?attempt=1")) == "run 1\n"
    assert await whole(await job.log("")) == "run 2\n"
    assert (await job.log("?attempt=3")).status_code == 404


async def test_a_hole_in_the_middle_of_a_long_log_is_said(job):
    run = await job.run(1)
    await job.write(run, "head\n", 0)
    await job.write(run, "tail\n", 105)
    assert await whole(await job.log("?offset=5")) == "[… 100 bytes left out …]\ntail\n"


async def test_a_reader_that_goes_away_leaves_nothing_behind(job):
    run = await job.run(1)
    await job.write(run, "one\n", 0)
    wish = Wish(0, None, "", uid=job.work.uid, attempt=0, offset=0, follow=True)
    stream = _told(wish)
    assert await anext(stream) == b"one\n"
    assert hub()._waiters
    await stream.aclose()
    assert hub()._waiters == {}
    assert hub()._task is None


@pytest.mark.parametrize("ends", ["token", "person", "membership"])
async def test_who_may_not_read_any_more_is_told_no_more(job, monkeypatch, ends):
    monkeypatch.setattr(logs, "RIGHTS_S", 0.0)
    run = await job.run(1)
    await job.write(run, "one\n", 0)

    @sync_to_async
    def ended():
        token = ApiToken.objects.get(token_hash=token_hash(job.token))
        if ends == "token":
            token_revoke(token=token, actor=SYSTEM)
        elif ends == "person":
            User.objects.filter(pk=token.user_id).update(is_active=False)
        else:
            Membership.objects.filter(user=token.user_id).delete()

    answer = await job.log("?follow=1")
    reading = asyncio.ensure_future(whole(answer))
    await ended()
    await job.write(run, "two\n", 4)
    assert await reading in {"", "one\n", "one\ntwo\n"}


@pytest.mark.parametrize(
    "query", ["?follow=yes", "?offset=-1", "?attempt=x", "?page=2", "?offset=" + "9" * 12]
)
async def test_parameters_that_are_not_understood_are_400(job, query):
    answer = await job.log(query)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")


async def test_other_methods_are_405_and_strangers_get_401(job):
    client = AsyncClient()
    path = f"/api/v1/workloads/{job.work.uid}/logs"
    assert (await client.get(path)).status_code == 401
    assert (await client.post(path)).status_code == 405

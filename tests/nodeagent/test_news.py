"""Nobody asks, and nobody tells, what an answer or the last report has just said."""

import asyncio

import pytest
from msgspec.structs import replace

from nodeagent import clock, news
from nodeagent.news import PULL_EVERY_S, QUIET_S, News
from nodeagent.protocol.report import Report
from tests.nodeagent.waiting import until

pytestmark = pytest.mark.asyncio

REPORT = Report(epoch=1, generation=4, boot_id="b", sent_at=100.0)


@pytest.fixture
def at(monkeypatch):
    """A clock that is moved by hand."""
    moment = [1000.0]
    monkeypatch.setattr(clock, "boottime", lambda: moment[0])
    return moment


async def test_the_same_report_is_told_again_only_after_a_while(at):
    known = News(asyncio.Event())
    assert not known.known(REPORT)
    known.taken(REPORT)
    assert known.known(replace(REPORT, sent_at=110.0))
    assert not known.known(replace(REPORT, generation=5))
    at[0] += QUIET_S
    assert not known.known(REPORT)


async def test_a_portal_that_was_met_anew_is_told_everything(at):
    known = News(asyncio.Event())
    known.taken(REPORT)
    known.forget()
    assert not known.known(REPORT)


@pytest.mark.parametrize(
    ("epoch", "generation", "asks"),
    [(1, 4, False), (1, 3, False), (1, 5, True), (2, 4, True), (1, None, False)],
)
async def test_only_a_newer_wish_is_asked_for(epoch, generation, asks):
    pull = asyncio.Event()
    News(pull).hear(epoch, generation, (1, 4))
    assert pull.is_set() is asks


async def test_a_portal_that_tells_the_newest_number_is_not_asked_and_a_silent_one_is(monkeypatch):
    monkeypatch.setattr(news, "PULL_EVERY_S", 0.2)
    known = News(asyncio.Event())
    known.pulled()
    asks = asyncio.create_task(known.until_pull())
    for _ in range(8):
        await asyncio.sleep(0.05)
        known.hear(1, 4, (1, 4))
        assert not asks.done()
    await asyncio.wait_for(asks, 10)


async def test_a_quiet_node_sends_readings_and_hardly_anything_else(node, portal, monkeypatch):
    monkeypatch.setattr("nodeagent.agent.REPORT_EVERY_S", 0.05)
    await node.start()
    await portal.until(lambda: portal.reports)
    await until(lambda: node.agent.news._told is not None)
    before = len(portal.reports)
    await asyncio.sleep(1.0)
    assert len(portal.reports) - before <= 2, "twenty were due, and said nothing new"
    assert PULL_EVERY_S < QUIET_S < 30

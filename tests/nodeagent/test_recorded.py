"""A portal of the version before, by the bodies it really sent: today's agent works under it."""

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest
from aiohttp import web

from nodeagent.protocol.vocabulary import ExitReason, WorkFound
from tests.nodeagent.fake_portal import FakePortal
from tests.nodeagent.waiting import until

RECORDED = Path(__file__).with_name("recorded")
SAID = json.loads((RECORDED / "portal_first.json").read_text())
READS = json.loads((RECORDED / "portal_first_reads.json").read_text())["$defs"]
KINDS = {
    "hello": "Hello",
    "join": "Join",
    "report": "Report",
    "samples": "SampleBatch",
    "logs": "LogBatch",
}
ATTEMPT = SAID["desired_run"]["work"][0]["attempt"]


class OldPortal(FakePortal):
    """Answers in recorded words, and reads no others than it knew."""

    said = "desired_idle"
    card = ""
    spoken = True
    refused = 0

    @web.middleware
    async def _guard(self, request, handler):
        if not self.spoken:
            self.refused += 1
            return web.json_response({"code": "protocol_not_spoken"}, status=426)
        if request.method == "POST":
            kind = KINDS[request.path.rsplit("/", 1)[1]]
            found = json.loads(await request.read())
            jsonschema.validate(found, {"$ref": f"#/$defs/{kind}", "$defs": READS})
        return await FakePortal._guard(self, request, handler)

    async def _hello(self, request):
        await FakePortal._hello(self, request)
        return web.json_response(SAID["welcome"])

    async def _desired(self, request):
        wish = SAID.get(self.said)
        since = (int(request.query["epoch"]), int(request.query["since"]))
        if wish is None or since >= (wish["epoch"], wish["generation"]):
            return web.Response(status=204)
        text = json.dumps(wish).replace(wish["slices"][0]["card"], self.card)
        return web.Response(text=text, content_type="application/json")

    async def _report(self, request):
        await FakePortal._report(self, request)
        return web.json_response(SAID["taken_over" if self.said == "desired_over" else "taken"])

    async def turn(self, name):
        """From now on it wants that."""
        self.said = name
        for socket in list(self._sockets):
            await socket.send_str("wake")


@pytest.fixture
async def portal():
    async with OldPortal() as fake:
        yield fake


def state(portal):
    found = portal.work(ATTEMPT)
    return None if found is None else found.state


async def test_todays_agent_joins_runs_stops_and_tells_in_words_that_an_older_portal_reads(
    node, portal
):
    portal.card = node.card
    await node.start()
    await portal.until(lambda: portal.reports)
    await portal.turn("desired_run")
    await portal.until(lambda: state(portal) == WorkFound.RUNNING)
    await portal.until(lambda: portal.log(ATTEMPT) == "begun\n")
    (cut,) = portal.reports[-1].slices
    assert (cut.card, cut.profile, cut.start) == (node.card, "1g.10gb", 6)
    await portal.turn("desired_stop")
    await portal.until(lambda: portal.work(ATTEMPT).clean)
    done = portal.work(ATTEMPT)
    assert (done.exit_code, done.exit_reason) == (-15, ExitReason.CANCELLED)
    await portal.turn("desired_over")
    await portal.until(lambda: portal.reports[-1].generation == SAID["desired_over"]["generation"])


async def test_an_agent_whose_protocol_is_not_spoken_any_more_asks_on_and_lets_its_work_run(
    node, portal
):
    portal.card = node.card
    await node.start()
    await portal.until(lambda: portal.reports)
    await portal.turn("desired_run")
    await portal.until(lambda: state(portal) == WorkFound.RUNNING)
    pid = portal.work(ATTEMPT).pid
    await node.stop()
    portal.spoken = False
    await node.start()
    record = await adopted(node)
    assert (record.pid, record.ended_at) == (pid, None)
    await until(lambda: portal.refused, "the portal was asked")
    portal.spoken = True
    portal.reports.clear()
    await portal.until(lambda: state(portal) == WorkFound.RUNNING)
    assert portal.work(ATTEMPT).pid == pid
    assert node.agent.runner.records[ATTEMPT] is record


async def adopted(node):
    """The record of the job, once the agent has taken its process for its own."""
    await until(lambda: node.agent.runner.records.get(ATTEMPT), "the job is adopted")
    return node.agent.runner.records[ATTEMPT]


def test_what_was_recorded_has_none_of_the_words_that_came_later():
    known = set(READS["Report"]["properties"])
    assert "places" not in known
    wish = msgspec.json.encode(SAID["desired_run"]).decode()
    assert "notice" not in wish and "secret_env" not in wish

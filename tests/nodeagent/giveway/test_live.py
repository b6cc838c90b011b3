"""Real jobs that are told to leave by a real agent: by file, signal and call."""

import asyncio
import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

from msgspec.structs import replace

from nodeagent.protocol.desired import Notice
from nodeagent.protocol.vocabulary import ExitReason, WorkFound, WorkWanted
from tests.nodeagent.fake_portal import job
from tests.nodeagent.waiting import until

WAIT = "while true; do sleep 0.05; done"
OBSTINATE = f"trap '' TERM; echo up; {WAIT}"


def notice(order="yo-1", seconds=30.0):
    return Notice(order=order, kind="preempt", seconds=seconds, deadline=0.0, reason="others")


async def running(node, portal, *command, **changes):
    """A job that runs and is known to; its wish."""
    await node.start()
    wanted = job("at-1", *command, **changes)
    await portal.want(work=[wanted])
    await portal.until(lambda: portal.log("at-1").startswith("up"))
    return wanted


async def tell(portal, wanted, told=None, *, draining=False):
    await portal.want(work=[replace(wanted, notice=told or notice(), draining=draining)])


async def over(portal):
    await portal.until(lambda: portal.work("at-1") and portal.work("at-1").clean)
    return portal.work("at-1")


async def test_a_plain_job_leaves_at_the_signal(node, portal):
    wanted = await running(node, portal, "sh", "-c", "echo up; exec sleep 300")
    await tell(portal, wanted)
    done = await over(portal)
    assert (done.exit_code, done.notice) == (-15, "yo-1")
    assert done.noticed_at is not None


async def test_a_job_that_saves_first_is_given_the_time_and_its_checkpoint_is_told(node, portal):
    save = 'printf \'{"step": 41, "path": "/ckpt/41"}\' > $GPUPOOL_CHECKPOINT_FILE'
    hear = "cp $GPUPOOL_NOTICE_FILE n.json; echo yo-1 > $GPUPOOL_ACK_FILE"
    code = f"leave() {{ {hear}; {save}; exit 9; }}; trap leave TERM; echo up; {WAIT}"
    wanted = await running(node, portal, "bash", "-c", code)
    await tell(portal, wanted, draining=True)
    done = await over(portal)
    assert done.exit_code == 9
    assert (done.checkpoint_step, done.checkpoint_path) == (41, "/ckpt/41")
    assert done.acked_at is not None and done.acked_at >= done.noticed_at - 1
    said = json.loads((node.work / "at-1" / "files" / "n.json").read_text())
    assert (said["order"], said["kind"], said["reason"]) == ("yo-1", "preempt", "others")
    assert said["draining"] is True, "no new requests come in"
    assert 29 < said["deadline"] - said["at"] <= 30


async def test_a_job_that_does_not_leave_is_stopped_at_the_deadline(node, portal):
    wanted = await running(node, portal, "sh", "-c", OBSTINATE)
    await tell(portal, wanted, notice(seconds=1.0))
    done = await over(portal)
    assert done.exit_code == -9


async def test_the_deadline_stands_though_the_portal_is_away(node, portal):
    wanted = await running(node, portal, "sh", "-c", OBSTINATE, stop_reason="preempted")
    await tell(portal, wanted, notice(seconds=1.5))
    await portal.until(lambda: portal.work("at-1").notice == "yo-1")
    portal.cut = True
    record = node.agent.runner.records["at-1"]
    await until(lambda: record.clean)
    assert record.reason == ExitReason.PREEMPTED
    portal.cut = False
    assert (await over(portal)).exit_reason == ExitReason.PREEMPTED


async def test_a_later_word_on_the_same_order_does_not_move_its_deadline(node, portal):
    wanted = await running(node, portal, "sh", "-c", OBSTINATE)
    await tell(portal, wanted, notice(seconds=2.0))
    await portal.until(lambda: portal.work("at-1").notice == "yo-1")
    await tell(portal, wanted, notice(seconds=500.0))
    assert (await over(portal)).exit_code == -9


async def test_a_job_that_wants_no_signal_gets_only_the_file(node, portal):
    env = {"GIVEWAY_SIGNAL": "none"}
    code = "echo up; while [ ! -e $GPUPOOL_NOTICE_FILE ]; do sleep 0.05; done; exit 3"
    wanted = await running(node, portal, "sh", "-c", code, env=env)
    await tell(portal, wanted)
    assert (await over(portal)).exit_code == 3


async def test_a_job_that_is_called_acknowledges_by_its_answer(node, portal):
    called = []

    class Door(BaseHTTPRequestHandler):
        def do_POST(self):
            called.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    door = HTTPServer(("127.0.0.1", 0), Door)
    Thread(target=door.serve_forever, daemon=True).start()
    env = {"GIVEWAY_HOOK": f"http://127.0.0.1:{door.server_port}/x", "GIVEWAY_SIGNAL": "NONE"}
    try:
        wanted = await running(node, portal, "sh", "-c", "echo up; exec sleep 300", env=env)
        await tell(portal, wanted)
        await portal.until(lambda: portal.work("at-1").acked_at is not None)
        assert [one["order"] for one in called] == ["yo-1"]
    finally:
        await asyncio.to_thread(door.shutdown)
        door.server_close()


async def test_checkpoints_are_told_while_it_runs(node, portal):
    code = "printf '{\"step\": 3}' > $GPUPOOL_CHECKPOINT_FILE; echo up; exec sleep 300"
    await running(node, portal, "sh", "-c", code)
    await portal.until(lambda: portal.work("at-1").checkpoint_step == 3)
    assert portal.work("at-1").checkpoint_at is not None


async def test_a_restarted_agent_neither_forgets_the_notice_nor_gives_it_twice(node, portal):
    code = "trap 'echo told' USR1; echo up; while true; do sleep 0.05; done"
    wanted = await running(node, portal, "sh", "-c", code, env={"GIVEWAY_SIGNAL": "USR1"})
    await tell(portal, wanted, notice(seconds=6.0))
    await portal.until(lambda: "told" in portal.log("at-1"))
    await node.stop()
    await node.start()
    await portal.until(lambda: portal.work("at-1") and portal.work("at-1").notice == "yo-1")
    done = await over(portal)
    assert done.exit_code in (-15, -9)
    assert portal.log("at-1").count("told") == 1


async def test_an_agent_that_was_killed_before_it_told_tells_when_it_is_back(node, portal):
    code = "trap 'exit 7' TERM; echo up; while true; do sleep 0.05; done"
    wanted = await running(node, portal, "sh", "-c", code)
    await node.stop()
    await tell(portal, wanted)
    await node.start()
    assert (await over(portal)).exit_code == 7


async def test_a_second_order_is_another_notice(node, portal):
    code = "trap 'echo told' USR1; echo up; while true; do sleep 0.05; done"
    wanted = await running(node, portal, "sh", "-c", code, env={"GIVEWAY_SIGNAL": "USR1"})
    await tell(portal, wanted, notice("yo-1"))
    await portal.until(lambda: portal.log("at-1").count("told") == 1)
    await tell(portal, wanted, notice("yo-2"))
    await portal.until(lambda: portal.log("at-1").count("told") == 2)
    await portal.until(lambda: portal.work("at-1").notice == "yo-2")


async def test_work_that_ended_before_it_could_be_told_is_not_told(node, portal):
    wanted = await running(node, portal, "sh", "-c", "echo up")
    await over(portal)
    await tell(portal, wanted)
    await portal.until(portal.settled)
    assert portal.work("at-1").notice == ""
    assert portal.work("at-1").state == WorkFound.EXITED


async def test_a_stop_after_a_notice_is_quick(node, portal):
    wanted = await running(node, portal, "sh", "-c", OBSTINATE, grace_s=300)
    await tell(portal, wanted)
    await portal.until(lambda: portal.work("at-1").notice == "yo-1")
    stop = replace(
        wanted, wanted=WorkWanted.STOP, stop_reason="preempted", notice=notice(seconds=0.0)
    )
    await portal.want(work=[stop])
    assert (await over(portal)).exit_reason == ExitReason.PREEMPTED

"""Work that gives way on one node goes on from its checkpoint on another, over a shared folder."""

import tempfile
from pathlib import Path

import pytest

from nodeagent.protocol.desired import Notice
from nodeagent.protocol.places import Mount, Watched
from nodeagent.protocol.vocabulary import ExitReason, WorkFound
from tests.nodeagent.conftest import Node
from tests.nodeagent.fake_portal import FakePortal, job
from tests.nodeagent.waiting import until

TRAIN = """
import json, os, signal, sys, time
step = 0
if os.environ["GPUPOOL_RESUME_PATH"]:
    step = int(open(os.environ["GPUPOOL_RESUME_PATH"]).read())
print("from", step, flush=True)
def save(*_):
    open("ckpt/step", "w").write(str(step))
    with open(os.environ["GPUPOOL_CHECKPOINT_FILE"] + ".new", "w") as file:
        json.dump({"step": step, "path": "ckpt/step"}, file)
    os.replace(file.name, os.environ["GPUPOOL_CHECKPOINT_FILE"])
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
while True:
    step += 1
    if os.environ["GPUPOOL_RESUME_PATH"] and step > 3:
        save()
    time.sleep(0.01)
"""


@pytest.fixture
def shared():
    """A folder that both nodes see at the same path, as a file server would give it."""
    with tempfile.TemporaryDirectory(prefix="gpupool-share-") as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


def train(attempt, shared, **changes):
    place = Mount(
        root=str(shared), tail="vision/mei", at="ckpt", name="ckpt", read_only=False, create=True
    )
    return job(attempt, "python3", "-c", TRAIN, mounts=(place,), workload="wl-1", **changes)


async def test_a_preempted_job_goes_on_from_its_checkpoint_on_another_node(node, portal, shared):
    watched = (Watched(path=str(shared)),)
    await node.start()
    await portal.want(work=[train("at-1", shared)], watched=watched)
    await portal.until(lambda: "from 0" in portal.log("at-1"))
    await portal.until(lambda: (portal.reports[-1].places or ())[:1])
    assert portal.reports[-1].places[0].why == ""
    notice = Notice(order="yo-1", kind="preempt", seconds=30.0, deadline=2e9)
    await portal.want(work=[train("at-1", shared, notice=notice)], watched=watched)
    await portal.until(lambda: portal.work("at-1").clean)
    first = portal.work("at-1")
    assert first.checkpoint_path == "ckpt/step" and first.checkpoint_step > 0
    async with FakePortal() as elsewhere:
        with tempfile.TemporaryDirectory(prefix="gpupool-test-") as folder:
            root = Path(folder)
            root.chmod(0o711)
            (root / "state").mkdir(mode=0o700)
            (root / "work").mkdir()
            (root / "work").chmod(0o711)
            other = Node(root / "state", root / "work", elsewhere)
            await other.start()
            resumed = {"resume_step": first.checkpoint_step, "resume_path": first.checkpoint_path}
            await elsewhere.want(work=[train("at-2", shared, number=2, **resumed)])
            await elsewhere.until(lambda: elsewhere.work("at-2") and elsewhere.work("at-2").clean)
            await elsewhere.until(lambda: f"from {first.checkpoint_step}" in elsewhere.log("at-2"))
            done = elsewhere.work("at-2")
            assert (done.state, done.exit_reason) == (WorkFound.EXITED, ExitReason.FINISHED)
            assert done.checkpoint_step > first.checkpoint_step
            await other.stop()
    await until(lambda: (shared / "vision" / "mei" / "step").exists())


async def test_a_secret_that_is_gone_or_a_folder_that_never_comes_refuses_the_start(
    node, portal, shared, monkeypatch
):
    monkeypatch.setattr("nodeagent.execute.RETRY_S", (0.05, 0.05))
    await node.start()
    lost = Mount(root=str(shared / "none"), tail="", at="x", name="lost")
    works = [job("at-1", "true", missing=("HF_TOKEN",)), job("at-2", "true", mounts=(lost,))]
    await portal.want(work=works)
    for attempt, why in (("at-1", "HF_TOKEN"), ("at-2", "no such folder")):
        await portal.until(lambda a=attempt: portal.work(a) and portal.work(a).clean)
        refused = portal.work(attempt)
        assert refused.state == WorkFound.REFUSED and why in refused.message


async def test_secrets_are_in_no_file_of_the_agent(node, portal):
    await node.start()
    secret = "correct-horse-battery-staple"
    given = {"secret_env": {"T": secret}, "secret_files": {"key": secret}}
    await portal.want(work=[job("at-1", "sleep", "60", **given)])
    await portal.until(lambda: portal.work("at-1") and portal.work("at-1").pid)
    found = [
        path
        for folder in (node.state, node.work)
        for path in folder.rglob("*")
        if not path.is_symlink() and path.is_file() and secret.encode() in path.read_bytes()
    ]
    behind = [path for path in found if "/secrets/" not in str(path)]
    assert behind == [] and secret not in portal.log()

"""D21: an agent that lost its memory takes its running work for its own, and a stranger for one."""

import shutil
import subprocess

import pytest

from nodeagent import processes
from nodeagent.protocol.vocabulary import WorkFound
from tests.nodeagent.fake_portal import job, mig
from tests.nodeagent.waiting import until

NAMES = ("at-1", "at-2", "at-3")
JOB = "echo ran >> count; while [ ! -e go ]; do sleep 0.05; done; exit {}"
STRANGER = 'cards: {"0": {health: contested, foreign: ["ada: train.py"]}}\n'


def gone(state):
    """Every file of the agent's is lost, but for its credential: the disk was restored empty."""
    for path in state.iterdir():
        if path.name in ("credential", "cards.json"):
            continue
        if path.is_dir() and path.name != "nodeagent":
            shutil.rmtree(path)
        elif path.is_file():
            path.unlink()


def torn(state):
    """Every small file ends in the middle."""
    for path in [*state.glob("*.json"), *state.glob("work/*/record.json"), *state.glob("*/claim")]:
        if path.name != "cards.json":
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def kept(state):
    """Nothing is lost: the ordinary restart."""


def pids(portal):
    return {name: portal.work(name).pid for name in NAMES}


def run(portal):
    return all(
        (one := portal.work(name)) is not None and one.state == WorkFound.RUNNING for name in NAMES
    )


@pytest.mark.parametrize("harm", [gone, torn, kept])
async def test_three_jobs_go_on_under_the_same_pids_and_a_stranger_is_told_and_left(
    node, portal, harm
):
    await node.start()
    work = [
        job(name, "sh", "-c", JOB.format(code), slices=[f"s{code}"])
        for code, name in enumerate(NAMES)
    ]
    slices = [mig(f"s{n}", node.card, start=start) for n, start in enumerate((6, 5, 4))]
    await portal.want(slices=slices, work=work)
    await portal.until(lambda: run(portal))
    before, held = pids(portal), node.agent.runner.records["at-1"].accepted
    stranger = subprocess.Popen(["sleep", "300"])
    try:
        await node.stop()
        harm(node.state)
        node.script(STRANGER)
        portal.reports.clear()
        await node.start()
        await portal.until(lambda: portal.reports and run(portal))
        assert pids(portal) == before
        assert node.agent.runner.records["at-1"].accepted == pytest.approx(held, abs=0.01)
        (card,) = [one for one in portal.reports[-1].cards if one.uuid == node.card]
        assert (card.health, card.foreign) == ("contested", ("ada: train.py",))
        for name in NAMES:
            (node.work / name / "files" / "go").touch()
        await portal.until(lambda: all(portal.work(name).clean for name in NAMES))
        assert [portal.work(name).exit_code for name in NAMES] == [0, 1, 2]
        assert [(node.work / n / "files" / "count").read_text() for n in NAMES] == ["ran\n"] * 3
        assert processes.look(stranger.pid).state not in "ZX"
    finally:
        stranger.kill()
        stranger.wait(10)
    await until(lambda: not node.agent._running, "the last step")

"""The documented job and its two functions, run as they stand in docs/examples."""

from msgspec.structs import replace

from nodeagent.protocol.desired import Notice
from tests.architecture.house import ROOT
from tests.nodeagent.fake_portal import job

EXAMPLES = ("gpupool_giveway.py", "gives_way.py")


def words():
    return {name: (ROOT / "docs" / "examples" / name).read_text() for name in EXAMPLES}


async def test_the_example_saves_answers_leaves_and_goes_on_where_it_was(node, portal):
    await node.start()
    wanted = job("at-1", "python3", "gives_way.py", files=words())
    await portal.want(work=[wanted])
    await portal.until(lambda: portal.work("at-1") and portal.work("at-1").checkpoint_step)
    notice = Notice(order="yo-1", kind="proof", seconds=30.0, deadline=0.0)
    await portal.want(work=[replace(wanted, notice=notice)])
    await portal.until(lambda: portal.work("at-1").clean)
    done = portal.work("at-1")
    assert done.exit_code == 75
    assert done.acked_at is not None
    assert done.checkpoint_step >= 10
    await portal.until(lambda: f"leaving at step {done.checkpoint_step} as" in portal.log("at-1"))
    steps = str(done.checkpoint_step + 2)
    again = job(
        "at-2",
        "python3",
        "gives_way.py",
        files=words(),
        env={"STEPS": steps},
        resume_step=done.checkpoint_step,
    )
    await portal.want(work=[again])
    await portal.until(lambda: portal.work("at-2") and portal.work("at-2").clean)
    assert portal.work("at-2").exit_code == 0
    await portal.until(lambda: f"from step {done.checkpoint_step}\n" in portal.log("at-2"))

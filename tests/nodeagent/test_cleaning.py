"""A slice is given on only when it is clean; what keeps it is told until it is."""

from nodeagent.protocol.vocabulary import ExitReason, StepKind
from tests.nodeagent.fake_portal import job, mig


async def test_a_slice_whose_memory_is_not_back_is_told_with_its_reason_until_it_is(
    node, portal, monkeypatch
):
    monkeypatch.setattr("nodeagent.preflight.BACK_S", 0.2)
    node.script("cards:\n  '0': {kept_mib: 4000}\n")
    await node.start()
    await portal.want(slices=[mig("sl-1", node.card)], work=[job("at-1", "true", slices=["sl-1"])])
    await portal.until(lambda: portal.work("at-1") and portal.work("at-1").unclean)
    told = portal.work("at-1")
    assert "4000 of 9728 MiB are still taken" in told.unclean and not told.clean
    assert (told.exit_code, told.exit_reason) == (0, ExitReason.FINISHED)
    await portal.want(work=[job("at-2", "true", slices=["sl-1"])])
    await portal.until(lambda: len([o for o in portal.outcomes() if o.step == StepKind.CLEAN]) > 1)
    assert portal.work("at-2") is None, "nothing starts on a slice that is not clean"
    node.script("")
    await portal.until(lambda: portal.work("at-1").clean and portal.work("at-2"))
    assert portal.work("at-1").unclean == ""


async def test_work_on_a_card_that_fell_off_ends_though_its_memory_cannot_be_looked_at(
    node, portal, monkeypatch
):
    monkeypatch.setattr("nodeagent.preflight.BACK_S", 0.2)
    await node.start()
    work = job("at-1", "sleep", "600", slices=["sl-1"])
    await portal.want(slices=[mig("sl-1", node.card)], work=[work])
    await portal.until(lambda: portal.work("at-1") and portal.work("at-1").pid)
    node.script("cards:\n  '0': {health: lost}\n")
    await portal.want(work=[job("at-1", "sleep", "600", slices=["sl-1"], wanted="stop")])
    await portal.until(lambda: portal.work("at-1").clean)
    assert any("does not answer" in word for word in portal.work("at-1").removed)

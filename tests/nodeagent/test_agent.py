"""The whole loop on simulated cards with real processes."""

import pytest

from nodeagent.protocol.vocabulary import ExitReason, SliceFound, StepKind, WorkFound, WorkWanted
from tests.nodeagent.fake_portal import job, mig
from tests.nodeagent.waiting import until


def state(portal, attempt):
    found = portal.work(attempt)
    return None if found is None else found.state


async def test_a_slice_is_cut_a_job_runs_on_it_and_everything_goes_away_again(node, portal):
    await node.start()
    await portal.until(lambda: portal.hellos)
    code = "import os; print('hello from', os.environ['GPUPOOL_SLICES'])"
    await portal.want(
        slices=[mig("sl-1", node.card)],
        work=[job("at-1", "python3", "-c", code, slices=["sl-1"])],
    )
    await portal.until(lambda: portal.work("at-1") and portal.work("at-1").clean)
    done = portal.work("at-1")
    ends = (done.state, done.exit_code, done.exit_reason)
    assert ends == (WorkFound.EXITED, 0, ExitReason.FINISHED)
    assert done.held_s is not None and done.held_s > 0
    assert portal.slice("sl-1").state == SliceFound.READY
    assert portal.slice("sl-1").device.startswith("MIG-")
    await portal.until(lambda: portal.log("at-1") == "hello from sl-1\n")
    await portal.want(slices=[], work=[], closed=["at-1"])
    await portal.until(lambda: portal.slice("sl-1") is None and not node.agent.runner.records)
    assert all(outcome.ok for outcome in portal.outcomes())
    assert not list((node.state / "work").iterdir())
    await portal.until(portal.settled)


async def test_hello_tells_the_node_and_its_cards(node, portal):
    await node.start()
    await portal.until(lambda: portal.reports)
    hello = portal.hellos[0]
    assert (hello.name, hello.host.cpu_milli, hello.host.simulated) == ("test-node", 16000, True)
    assert [card.label for card in hello.cards] == ["A100-80GB", "A100-80GB"]
    assert (node.state / "credential").stat().st_mode & 0o777 == 0o600


async def test_a_job_that_obeys_ends_at_once_when_it_is_stopped(node, portal):
    await node.start()
    await portal.want(work=[job("at-1", "sleep", "300")])
    await portal.until(lambda: state(portal, "at-1") == WorkFound.RUNNING)
    stop = job("at-1", "sleep", "300", wanted=WorkWanted.STOP, stop_reason="cancelled", grace_s=20)
    await portal.want(work=[stop])
    await portal.until(lambda: portal.work("at-1").clean)
    done = portal.work("at-1")
    assert (done.exit_code, done.exit_reason) == (-15, ExitReason.CANCELLED)


async def test_a_stop_for_work_that_never_started_is_reported_as_a_clean_end(node, portal):
    await node.start()
    stop = job("at-1", "sleep", "9", wanted=WorkWanted.STOP, stop_reason="cancelled")
    await portal.want(work=[stop])
    await portal.until(lambda: portal.work("at-1") and portal.work("at-1").clean)
    done = portal.work("at-1")
    assert (done.exit_code, done.exit_reason) == (None, ExitReason.CANCELLED)


async def test_a_stop_reason_that_is_no_exit_reason_counts_as_stopped(node, portal):
    await node.start()
    await portal.want(work=[job("at-1", "x", wanted=WorkWanted.STOP, stop_reason="a whim")])
    await portal.until(lambda: portal.work("at-1") and portal.work("at-1").clean)
    assert portal.work("at-1").exit_reason == ExitReason.STOPPED


async def test_an_agent_that_is_told_to_stop_its_workloads_leaves_none(node, portal):
    agent = await node.start()
    await portal.want(work=[job("at-1", "sleep", "300"), job("at-2", "sleep", "300")])
    await portal.until(lambda: state(portal, "at-2") == WorkFound.RUNNING)
    await portal.until(lambda: state(portal, "at-1") == WorkFound.RUNNING)
    await agent.stop_workloads(10.0)
    assert {r.reason for r in agent.runner.records.values()} == {ExitReason.NODE_STOPPED}
    assert portal.work("at-1").clean and portal.work("at-2").clean


async def test_a_restarted_agent_goes_on_with_what_it_finds(node, portal):
    await node.start()
    wish = [job("at-1", "sh", "-c", "echo a; sleep 0.5; echo b; exit 6", slices=["sl-1"])]
    await portal.want(slices=[mig("sl-1", node.card)], work=wish)
    await portal.until(lambda: state(portal, "at-1") == WorkFound.RUNNING)
    pid, device = portal.work("at-1").pid, portal.slice("sl-1").device
    await node.stop()
    before = len(portal.reports)
    await node.start()
    await portal.until(lambda: len(portal.reports) > before)
    assert (portal.work("at-1").pid, portal.slice("sl-1").device) == (pid, device)
    await portal.until(lambda: portal.work("at-1").clean)
    assert portal.work("at-1").exit_code == 6
    await portal.until(lambda: portal.log("at-1").endswith("b\n"))
    starts = [o for o in portal.outcomes() if o.step == StepKind.START_WORK]
    assert len({o.target for o in starts}) == len(starts) == 1


async def test_an_end_that_the_books_do_not_know_is_told_again_and_never_run_again(node, portal):
    await node.start()
    await portal.want(work=[job("at-1", "sh", "-c", "echo once")])
    await portal.until(lambda: portal.work("at-1") and portal.work("at-1").clean)
    await node.stop()
    portal.reports.clear()
    await node.start()
    await portal.want()
    await portal.until(lambda: portal.work("at-1"))
    await portal.until(portal.settled)
    assert portal.work("at-1").exit_code == 0 and portal.log("at-1") == "once\n"


async def test_work_that_the_books_do_not_list_is_reported_and_left_running(node, portal):
    await node.start()
    await portal.want(
        slices=[mig("s", node.card)], work=[job("at-1", "sleep", "300", slices=["s"])]
    )
    await portal.until(lambda: state(portal, "at-1") == WorkFound.RUNNING)
    await portal.want(slices=[], work=[])
    await portal.until(portal.settled)
    assert state(portal, "at-1") == WorkFound.RUNNING
    assert [one.uid for one in portal.work("at-1").origin.slices] == ["s"]
    assert portal.slice("s").state == SliceFound.READY


async def test_books_from_a_backup_hear_of_an_end_that_they_had_closed(node, portal):
    await node.start()
    work = [job("at-1", "sh", "-c", "echo once; exit 3")]
    await portal.want(work=work)
    await portal.until(lambda: portal.work("at-1") and portal.work("at-1").clean)
    await portal.want(work=[], closed=["at-1"])
    await until(lambda: not node.agent.runner.records)
    await node.stop()
    await node.start()
    await portal.want(work=work, epoch=2, generation=1)
    await portal.until(lambda: portal.work("at-1") and portal.reports[-1].epoch == 2)
    assert (portal.work("at-1").exit_code, portal.work("at-1").clean) == (3, True)
    assert portal.log("at-1") == "once\n"


async def test_work_that_the_books_closed_while_the_node_was_away_is_stopped(node, portal):
    await node.start()
    await portal.want(work=[job("at-1", "sleep", "300")])
    await portal.until(lambda: state(portal, "at-1") == WorkFound.RUNNING)
    await portal.want(work=[], closed=["at-1"])
    await until(lambda: not node.agent.runner.records)
    ends = [w for r in portal.reports for w in r.work if w.clean]
    assert {w.exit_reason for w in ends} == {ExitReason.NODE_LOST}


async def test_an_older_wish_is_refused_and_a_raised_epoch_is_not(node, portal):
    agent = await node.start()
    await portal.want(slices=[mig("sl-1", node.card)], generation=7)
    await portal.until(lambda: portal.slice("sl-1"))
    await portal.want(slices=[], epoch=0, generation=9)
    await portal.until(lambda: portal.reports[-1].generation == 7)
    assert agent.wish.desired.generation == 7
    assert not agent.wish.accept(portal.wish)
    await portal.want(slices=[mig("sl-2", node.card, start=1)], epoch=2, generation=1)
    await portal.until(lambda: portal.slice("sl-2") and not portal.slice("sl-1"))
    await portal.until(lambda: portal.reports[-1].epoch == 2)


async def test_nothing_stops_while_the_portal_is_away_and_all_is_told_when_it_returns(node, portal):
    await node.start()
    await portal.want(work=[job("at-1", "sh", "-c", "echo in; sleep 0.5; echo out; exit 2")])
    await portal.until(lambda: state(portal, "at-1") == WorkFound.RUNNING)
    portal.cut = True
    record = node.agent.runner.records["at-1"]
    await until(lambda: record.clean)
    portal.cut = False
    await portal.until(lambda: portal.work("at-1").clean)
    assert portal.work("at-1").exit_code == 2
    await portal.until(lambda: portal.log("at-1") == "in\nout\n")


async def test_a_credential_that_is_not_known_any_more_leads_to_a_new_join(node, portal):
    await node.start()
    await portal.until(lambda: portal.reports)
    portal.credential = "another"
    await portal.want(work=[job("at-1", "true")])
    await portal.until(lambda: portal.work("at-1") and portal.work("at-1").clean)
    assert len(portal.hellos) >= 2


async def test_a_refused_slice_fails_with_its_cause_and_its_work_is_refused(node, portal):
    node.script("faults:\n  - {at: create, error: refused, reason: no room on this card}\n")
    await node.start()
    await portal.want(slices=[mig("sl-1", node.card)], work=[job("at-1", "true", slices=["sl-1"])])
    await portal.until(lambda: portal.work("at-1") and portal.work("at-1").clean)
    assert portal.slice("sl-1").state == SliceFound.FAILED
    assert "no room on this card" in portal.slice("sl-1").reason
    refused = portal.work("at-1")
    ends = (refused.state, refused.exit_reason)
    assert ends == (WorkFound.REFUSED, ExitReason.START_FAILED)
    assert "no room on this card" in refused.message
    node.script("")
    await portal.want(slices=[mig("sl-2", node.card)], work=[], closed=["at-1"])
    await portal.until(lambda: portal.slice("sl-2"))
    assert portal.slice("sl-1") is None


async def test_a_card_that_is_busy_for_a_moment_is_asked_again(node, portal):
    node.script("faults:\n  - {at: create, error: busy, reason: in use, times: 1}\n")
    await node.start()
    await portal.want(slices=[mig("sl-1", node.card)])
    await portal.until(lambda: portal.slice("sl-1") and portal.slice("sl-1").device)
    tries = [o.ok for o in portal.outcomes() if o.step == StepKind.CREATE_SLICE]
    assert tries == [True], "what is only put off is no failure"


async def test_a_card_that_stays_busy_fails_in_the_end_and_says_so(node, portal, monkeypatch):
    monkeypatch.setattr("nodeagent.execute.RETRY_S", (0.01, 0.01))
    node.script("faults:\n  - {at: create, error: busy, reason: in use}\n")
    await node.start()
    await portal.want(slices=[mig("sl-1", node.card)])
    await portal.until(lambda: [o for o in portal.outcomes() if o.step == StepKind.CREATE_SLICE])
    assert not any(o.ok for o in portal.outcomes() if o.step == StepKind.CREATE_SLICE)
    assert portal.slice("sl-1").state == SliceFound.FAILED


async def test_a_card_that_does_not_answer_in_time_is_asked_again(node, portal, monkeypatch):
    monkeypatch.setattr("nodeagent.execute.CALL_LIMIT_S", 1.0)
    node.script("faults:\n  - {at: create, error: hang, times: 1}\n")
    await node.start()
    await portal.want(slices=[mig("sl-1", node.card)])
    await portal.until(lambda: portal.slice("sl-1") and portal.slice("sl-1").device)
    tries = [o.ok for o in portal.outcomes() if o.step == StepKind.CREATE_SLICE]
    assert False not in tries


async def test_what_the_books_closed_and_never_came_here_is_told_as_clean_while_listed(
    node, portal
):
    await node.start()
    await portal.want(closed=["at-never"])
    await portal.until(lambda: portal.work("at-never"))
    assert (portal.work("at-never").state, portal.work("at-never").clean) == ("exited", True)
    await portal.want(closed=[])
    await portal.until(lambda: portal.work("at-never") is None)


async def test_time_is_held_from_the_wish_on_through_the_making_of_slices(node, portal):
    node.script("create_delay_s: 1.5\n")
    await node.start()
    await portal.want(slices=[mig("sl-1", node.card)], work=[job("at-1", "true", slices=["sl-1"])])
    await portal.until(lambda: portal.work("at-1") and portal.work("at-1").clean)
    done = portal.work("at-1")
    assert done.held_s >= 1.5 and done.clean_at >= done.ended_at


async def test_a_node_that_the_books_gave_up_says_hello_again(node, portal):
    await node.start()
    await portal.until(lambda: portal.reports)
    portal.lost = True
    await portal.want()
    await portal.until(lambda: len(portal.hellos) == 2)
    assert not portal.lost


async def test_a_card_that_hangs_does_not_hold_up_the_other(node, portal):
    node.script("faults:\n  - {at: create, card: 0, error: hang}\n")
    await node.start()
    await portal.want(slices=[mig("sl-1", node.card), mig("sl-2", node.other_card)])
    await portal.until(lambda: portal.slice("sl-2") and portal.slice("sl-2").device)
    assert portal.slice("sl-1").state == SliceFound.CREATING


async def test_a_reboot_takes_slices_and_processes_and_is_told(node, portal):
    await node.start()
    await portal.want(
        slices=[mig("sl-1", node.card)], work=[job("at-1", "sleep", "300", slices=["sl-1"])]
    )
    await portal.until(lambda: state(portal, "at-1") == WorkFound.RUNNING)
    device = portal.slice("sl-1").device
    node.script("boot: 1\n")
    await portal.until(lambda: len({h.boot_id for h in portal.hellos}) == 2)
    await portal.until(lambda: portal.work("at-1").clean)
    await portal.until(
        lambda: portal.slice("sl-1") and portal.slice("sl-1").device not in ("", device)
    )


async def test_readings_come_in_rows_and_carry_the_attempt(node, portal, monkeypatch):
    monkeypatch.setattr("nodeagent.agent.READ_EVERY_S", 0.05)
    monkeypatch.setattr("nodeagent.agent.ROW_S", 0.3)
    await node.start()
    script = "echo 777 > $GPUPOOL_MEMORY_FILE; while :; do :; done"
    await portal.want(
        slices=[mig("sl-1", node.card)], work=[job("at-1", "sh", "-c", script, slices=["sl-1"])]
    )

    def busy():
        rows = [r for b in portal.batches for r in b.readings if r.attempt == "at-1"]
        return [r for r in rows if (r.sm_max or 0) > 10 and r.memory_mib_max == 777]

    row = (await portal.until(busy))[0]
    assert (row.slice, row.card) == ("sl-1", node.card)
    assert row.util_mean is None
    numbers = [batch.sequence for batch in portal.batches]
    assert numbers == sorted(set(numbers))


async def test_a_job_over_its_card_memory_is_stopped_alone(node, portal, monkeypatch):
    monkeypatch.setattr("nodeagent.agent.READ_EVERY_S", 0.05)
    await node.start()
    greedy = "echo 20000 > $GPUPOOL_MEMORY_FILE; sleep 300"
    await portal.want(
        slices=[mig("a", node.card), mig("b", node.card, start=1)],
        work=[
            job("at-1", "sh", "-c", greedy, slices=["a"]),
            job("at-2", "sleep", "300", slices=["b"]),
        ],
    )
    await portal.until(lambda: portal.work("at-1") and portal.work("at-1").clean)
    assert portal.work("at-1").exit_reason == ExitReason.OOM_CARD
    await portal.until(lambda: state(portal, "at-2") == WorkFound.RUNNING)


async def test_work_waits_for_the_whole_wish_after_a_restart(node, portal):
    portal.cut = False
    await node.start()
    await portal.want(work=[job("at-1", "true", env={"TOKEN": "s3cret"})])
    await portal.until(lambda: portal.work("at-1") and portal.work("at-1").clean)
    kept = [path for path in node.state.rglob("*") if path.is_file()]
    assert kept and not [path for path in kept if b"s3cret" in path.read_bytes()]
    await node.stop()
    agent = node.build()
    assert agent.wish.desired.generation == portal.wish.generation and not agent.wish.whole
    assert not (await agent.found()).may_start
    await agent.close()


async def test_an_attempt_is_not_forgotten_while_the_wish_in_force_still_lists_it(node, portal):
    """The receipt of its end may come before the newer wish: forgotten, it would be run again."""
    await node.start()
    portal.closed = ("at-1", "at-2")
    first = job("at-1", "echo", "ran")
    await portal.want(work=[first])
    await portal.until(lambda: portal.work("at-1") and portal.work("at-1").clean)
    begun = portal.work("at-1").started_at
    await portal.until(lambda: portal.log("at-1"))
    await portal.want(work=[first, job("at-2", "sleep", "0.5")])
    await portal.until(lambda: portal.work("at-2") and portal.work("at-2").clean)
    assert portal.work("at-1").clean
    assert portal.work("at-1").started_at == begun
    await portal.want(slices=[mig("sl-1", node.card)], work=[])
    await portal.until(lambda: portal.work("at-1") is None)


async def test_a_node_that_was_started_to_observe_measures_and_does_nothing_else(node, portal):
    await node.start(observe=True)
    await portal.want(slices=[mig("sl-1", node.card)], work=[job("at-1", "true")])
    await portal.until(portal.settled)
    assert portal.hellos[0].observe
    assert (portal.reports[-1].slices, portal.reports[-1].work) == ((), ())


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"runner": "container"}, "no runner 'container'"), ({"command": ()}, "no command")],
)
async def test_work_that_this_node_cannot_run_is_refused_and_says_why(node, portal, changes, words):
    await node.start()
    await portal.want(work=[job("at-1", "true", **changes)])
    await portal.until(lambda: portal.work("at-1") and portal.work("at-1").clean)
    assert portal.work("at-1").state == WorkFound.REFUSED
    assert words in portal.work("at-1").message


async def test_a_slice_that_cannot_be_deleted_is_failed_until_it_can(node, portal):
    node.script("faults:\n  - {at: delete, error: refused, reason: in use by another client}\n")
    await node.start()
    await portal.want(slices=[mig("sl-1", node.card)])
    await portal.until(lambda: portal.slice("sl-1") and portal.slice("sl-1").device)
    await portal.want(slices=[])
    await portal.until(lambda: portal.slice("sl-1").state == SliceFound.FAILED)
    assert portal.slice("sl-1").reason == "in use by another client"
    await portal.until(portal.settled)
    node.script("")
    await portal.until(lambda: portal.slice("sl-1") is None)


async def test_what_the_portal_refuses_for_good_does_not_hold_up_what_comes_after(
    node, portal, monkeypatch
):
    monkeypatch.setattr("nodeagent.agent.READ_EVERY_S", 0.05)
    monkeypatch.setattr("nodeagent.agent.ROW_S", 0.1)
    portal.spits = True
    await node.start()
    script = "echo lost; while [ ! -e go ]; do sleep 0.02; done; echo kept"
    await portal.want(work=[job("at-1", "sh", "-c", script)])
    await portal.until(lambda: state(portal, "at-1") == WorkFound.RUNNING)
    record = node.agent.runner.records["at-1"]
    await until(lambda: (record.folder / "shipped").exists())
    portal.spits = False
    (node.work / "at-1" / "files" / "go").touch()
    await portal.until(lambda: portal.log("at-1") == "kept\n" and portal.batches)

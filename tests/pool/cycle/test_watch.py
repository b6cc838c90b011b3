"""What lasts too long is ended, or told to a person; silence counts only while somebody looks."""

from datetime import timedelta

import pytest
from django.conf import settings

from pool.clock import now
from pool.cycle import silence
from pool.cycle import watch as watching
from pool.cycle.round import run_rounds
from pool.cycle.silence import silence_sweep
from pool.cycle.watch import watch
from pool.events import SYSTEM
from pool.models import Alert, Event, Hold, Node, NodeWatch, Promise, Slice, Workload
from pool.services.nodes import node_drain
from pool.services.workloads import workload_stop
from tests import rows
from tests.pool.obedient import Obedient

pytestmark = pytest.mark.django_db
QUIET = settings.NODE_SILENT_SECONDS + 2
FENCED = settings.FENCE_SECONDS + settings.FENCE_MARGIN_SECONDS + 2


@pytest.fixture
def node():
    rows.partition()
    return Obedient(rows.node())


def seen(row):
    row.refresh_from_db()
    return row


def submit(**given):
    work = rows.workload(**given)
    run_rounds()
    return seen(work)


def late(model, **which):
    model.objects.filter(**which).update(deadline=now() - timedelta(seconds=1))


def sweeps(start, end):
    """Look every four seconds from one moment of the watcher's clock to another."""
    at = float(start)
    while at <= end:
        silence_sweep(seen=at)
        at += 4


def test_work_that_is_never_accepted_goes_back_to_the_queue(node):
    work = submit()
    late(Workload, pk=work.pk)
    watch()
    assert seen(work).state == "placed"
    assert work.deadline > now()
    node.pull()
    node.work = {}
    node.tell()
    late(Workload, pk=work.pk)
    watch()
    assert (seen(work).state, work.stop_reason) == ("stopping", "start_failed")
    node.turn()
    assert (seen(work).state, work.starts_left) == ("queued", 2)
    assert not Hold.objects.filter(held__upper_inf=True).exists()


def test_work_that_does_not_stop_is_told_to_a_person_and_waited_for(node):
    work = submit()
    node.turn()
    workload_stop(workload=work, actor=SYSTEM)
    late(Workload, pk=work.pk)
    watch()
    assert seen(work).state == "stopping"
    assert work.deadline > now()
    assert Alert.objects.get().key == f"overdue:{work.uid}"
    watch()
    assert Alert.objects.count() == 1


def test_a_slice_nobody_makes_fails_its_start_and_is_taken_back(node):
    work = submit()
    late(Slice)
    watch()
    assert seen(work).state == "stopping"
    node.slices = {}
    wish = node.pull()
    node.slices = {}
    node.tell()
    assert wish.work
    assert seen(work).state == "queued"
    late(Slice)
    watch()
    assert Slice.objects.get().state == "gone"


@pytest.mark.parametrize("state", ["creating", "cleaning", "deleting"])
def test_a_slice_that_is_stuck_fails_and_is_deleted_again(node, state):
    submit()
    node.turn()
    work = Workload.objects.get()
    node.finish(work)
    node.tell()
    Slice.objects.update(state=state)
    late(Slice)
    watch()
    assert Slice.objects.get().state == "failed"
    late(Slice)
    watch()
    assert Slice.objects.get().state == "deleting"
    node.turn()
    assert Slice.objects.get().state == "gone"


def test_a_slice_that_is_never_clean_is_kept_from_others_and_told(node):
    work = submit()
    node.turn()
    node.finish(work, clean=False)
    node.tell()
    for _ in range(3):
        late(Slice)
        watch()
    row = Slice.objects.get()
    assert (row.state, seen(work).state) == ("failed", "running")
    assert Alert.objects.get().key == f"unclean:{row.uid}"
    node.finish(work)
    node.tell()
    assert seen(work).state == "succeeded"
    late(Slice)
    watch()
    node.turn()
    assert seen(row).state == "gone"


def test_the_slices_of_a_node_that_does_not_answer_are_waited_for(node):
    submit()
    Node.objects.update(state="silent", state_before="ready")
    late(Slice)
    watch()
    row = Slice.objects.get()
    assert row.state == "planned"
    assert row.deadline > now()


def test_room_that_was_kept_in_vain_is_anybodys_again(node):
    work = rows.workload()
    card = node.row.cards.get()
    Promise.objects.create(card=card, workload=work, until=now() - timedelta(seconds=1))
    watch()
    assert not Promise.objects.exists()
    run_rounds()
    assert seen(work).state == "placed"


def test_a_draining_node_is_cordoned_once_nothing_runs(node):
    work = submit()
    node.turn()
    node_drain(node=node.row, actor=SYSTEM, reason="test")
    watch()
    assert seen(node.row).state == "draining"
    node.finish(work)
    node.tell()
    watch()
    assert seen(node.row).state == "cordoned"


def test_a_node_that_says_nothing_is_silent_and_its_work_goes_on(node):
    rows.node()
    rows.node()
    work = submit()
    home = work.attempts.get().node
    Obedient(home).turn()
    others = Node.objects.exclude(pk=home.pk)
    for at in range(0, QUIET + 4, 4):
        others.update(report_count=at + 1)
        silence_sweep(seen=float(at))
    assert seen(home).state == "silent"
    assert set(others.values_list("state", flat=True)) == {"ready"}
    assert (seen(work).state, work.state_before) == ("unreachable", "running")
    assert Alert.objects.get().key == f"silent:{home.uid}"
    Obedient(home).tell()
    assert seen(home).state == "ready"
    assert Alert.objects.get().state == "resolved"


def test_a_watch_that_was_away_counts_anew(node):
    sweeps(0, 8)
    NodeWatch.objects.update(swept_at=now() - timedelta(seconds=90))
    silence_sweep(seen=98.0)
    assert seen(node.row).state == "ready"
    sweeps(102, 98 + QUIET + 4)
    assert seen(node.row).state == "silent"


def test_machines_that_take_turns_in_watching_still_see_silence(node, monkeypatch):
    for at in range(0, QUIET + 16, 4):
        boot, seen_at = ("boot-a", at) if at // 8 % 2 else ("boot-b", at + 70_000)
        monkeypatch.setattr(silence, "this_boot", lambda boot=boot: boot)
        silence_sweep(seen=float(seen_at))
    assert seen(node.row).state == "silent"


def test_another_watching_machine_counts_for_itself(node, monkeypatch):
    sweeps(0, QUIET - 8)
    monkeypatch.setattr(silence, "this_boot", lambda: "another-boot")
    sweeps(1_000_000, 1_000_000 + QUIET - 8)
    assert seen(node.row).state == "ready"


def test_only_work_that_asked_for_it_starts_elsewhere_and_only_after_the_fence(node):
    rows.node()
    rows.node()
    moved, stays = submit(silence="requeue"), submit()
    homes = {row.pk: row.attempts.get().node_id for row in (moved, stays)}
    assert homes[moved.pk] == homes[stays.pk]
    home = Obedient(Node.objects.get(pk=homes[moved.pk]))
    home.turn()
    others = Node.objects.exclude(pk=home.row.pk)
    for at in range(0, FENCED + 8, 4):
        others.update(report_count=at + 1)
        silence_sweep(seen=float(at))
        if at <= settings.FENCE_SECONDS + settings.FENCE_MARGIN_SECONDS:
            assert seen(moved).state in ("running", "unreachable")
    assert (seen(moved).state, moved.exit_reason) == ("queued", "fenced")
    assert seen(stays).state == "unreachable"
    run_rounds()
    assert moved.attempts.order_by("-number")[0].node_id != home.row.pk
    ended = moved.attempts.order_by("number")[0]
    assert home.pull().closed == (ended.uid,)


def test_when_most_nodes_fall_silent_nothing_is_fenced_and_one_alert_tells(node):
    rows.node()
    work = submit(silence="requeue")
    Obedient(work.attempts.get().node).turn()
    sweeps(0, FENCED + 8)
    assert seen(work).state == "unreachable"
    assert Alert.objects.filter(key=silence.MASS, state="firing").count() == 1


def test_when_all_nodes_answer_again_the_alert_of_the_portal_being_cut_off_is_over(node):
    rows.node()
    sweeps(0, QUIET + 4)
    assert Alert.objects.get(key=silence.MASS).state == "firing"
    for row in Node.objects.all():
        Obedient(row).tell()
    silence_sweep(seen=float(QUIET + 8))
    assert Alert.objects.get(key=silence.MASS).state == "resolved"


def test_a_silent_node_is_marked_once_and_raises_one_alert_however_long_it_lasts(node):
    sweeps(0, 3 * QUIET)
    assert seen(node.row).state == "silent"
    alert = Alert.objects.get()
    assert (alert.key, alert.state) == (f"silent:{node.row.uid}", "firing")
    moves = Event.objects.filter(kind="node.moved").values_list("data", flat=True)
    assert [one["to"] for one in moves].count("silent") == 1


def test_one_part_of_the_watch_that_fails_keeps_no_other_from_its_turn(node, monkeypatch):
    def broken(**_given):
        raise RuntimeError("a deadlock, say")

    monkeypatch.setattr(watching, "silence_sweep", broken)
    work = rows.workload()
    card = node.row.cards.get()
    Promise.objects.create(card=card, workload=work, until=now() - timedelta(seconds=1))
    assert watch().rooms == 1
    assert not Promise.objects.exists()


def test_a_sweep_in_which_nobody_is_silent_costs_three_queries(node, django_assert_num_queries):
    silence_sweep(seen=1.0)
    with django_assert_num_queries(3):
        silence_sweep(seen=2.0)

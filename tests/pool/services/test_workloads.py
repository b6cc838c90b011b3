"""Workloads: what lets them start, what refuses them, and how they are taken back."""

import pytest

from pool.errors import Impossible, Invalid, QuotaExceeded, Suspended, TooMany
from pool.lifecycle.roles import QuotaKind, QuotaUnit
from pool.models import Event, Installation, Project, Request, Workload
from pool.services.workloads import (
    workload_hold,
    workload_release,
    workload_resume,
    workload_stop,
    workload_submit,
)
from tests import factories as make


def submit(world, template=None, **words):
    given = {
        "user": world.member,
        "project": world.project,
        "template_version": template or world.finetune,
        "command": ["python", "train.py"],
        "actor": make.by(world.member),
        "name": "train",
        "expected_seconds": 600,
    }
    return workload_submit(**(given | words))


def test_work_inside_the_allowance_is_queued_and_asks_nobody(world):
    make.allowance(world.project, world.partition, 2)
    workload = submit(world)
    assert (workload.state, workload.entitlement) == ("queued", "allowance")
    assert [p.slug for p in workload.partitions.all()] == ["a100"]
    assert not Request.objects.exists()
    assert Installation.objects.get().round_wanted == 1
    assert Event.objects.last().kind == "workload.submitted"


def test_the_asked_size_is_the_least_that_meets_the_need(world):
    make.allowance(world.project, world.partition, 2)
    # 2g.20gb of an A100-80GB: (2/7 + 2/8) / 2 of a card; 28.6 % meets 30 % within two points.
    assert submit(world).asked_micro == 267_857
    assert submit(world, world.whole).asked_micro == 1_000_000


def test_without_a_word_on_the_host_work_gets_its_cards_part_of_the_node(world):
    make.allowance(world.project, world.partition, 2)
    whole = submit(world, world.whole)
    assert (whole.cpu_milli, whole.ram_mib, whole.disk_mib) == (16_000, 131_072, 1_024_000)
    part = submit(world, need={"cpu_milli": 700})
    assert (part.cpu_milli, part.ram_mib) == (700, 131_072 * 267_857 // 1_000_000)


def test_work_without_an_allowance_waits_for_an_approval(world):
    workload = submit(world, weights={"cost": 12})
    assert (workload.state, workload.entitlement) == ("awaiting_approval", "pending")
    request = workload.request
    assert (request.state, request.steps, request.weights) == ("submitted", ["lead"], {"cost": 12})
    assert request.duration_seconds == 600
    assert request.need == workload.need


def test_a_need_beyond_the_allowance_asks(world):
    make.allowance(world.project, world.partition, 2)
    workload = submit(world, world.whole, need={"parts": 3})
    assert workload.state == "awaiting_approval"


@pytest.mark.parametrize(
    "host", [{"cpu_milli": 16_001}, {"ram_mib": 131_073}, {"disk_mib": 1_024_001}]
)
def test_more_of_the_machine_than_comes_with_the_card_asks(world, host):
    make.allowance(world.project, world.partition, 8)
    assert submit(world, world.whole, need=host).state == "awaiting_approval"
    least = {name: amount - 1 for name, amount in host.items()}
    assert submit(world, world.whole, need=least).state == "queued"


def test_long_work_beside_a_full_allowance_asks_and_short_work_waits_its_turn(world):
    make.allowance(world.project, world.partition, 1)
    assert submit(world, world.whole).state == "queued"
    assert submit(world, world.whole, expected_seconds=3601).state == "awaiting_approval"
    assert submit(world, world.whole, expected_seconds=60).state == "queued"
    assert submit(world, world.whole, expected_seconds=60, when_full="ask").request is not None
    patient = submit(world, world.whole, expected_seconds=9999, when_full="wait")
    assert patient.entitlement == "allowance"


def test_ended_work_makes_room_in_the_allowance(world):
    make.allowance(world.project, world.partition, 1)
    first = submit(world, world.whole, expected_seconds=7200)
    workload_stop(workload=first, actor=make.by(world.member))
    assert submit(world, world.whole, expected_seconds=7200).state == "queued"


def test_work_without_a_card_has_an_allowance_in_cores(world):
    make.allowance(world.project, world.partition, 8000, label="", unit=QuotaUnit.CPU_MILLI)
    assert submit(world, world.cpu).entitlement == "allowance"
    assert submit(world, world.cpu, need={"cpu_milli": 9000}).entitlement == "pending"


def test_two_partitions_allowances_are_looked_at_together(world):
    other = make.partition("h100", labels=("H100-80GB",), rank=200)
    make.node("n2", (("H100-80GB", 4),))
    make.allowance(world.project, world.partition, 1)
    make.allowance(world.project, other, 1, label="H100-80GB")
    long = {"expected_seconds": 7200}
    assert [submit(world, world.whole, **long).state for _ in range(3)] == [
        "queued",
        "queued",
        "awaiting_approval",
    ]
    only_there = submit(world, world.whole, partitions=[other], **long)
    assert only_there.state == "awaiting_approval"


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ({"name": "x" * 64}, "name"),
        ({"name": "tab\there"}, "name"),
        ({"name": "   "}, "name"),
        ({"comment": "x" * 4001}, "comment"),
        ({"command": []}, "command"),
        ({"command": "python train.py"}, "command"),
        ({"command": ["a" * 32769]}, "command"),
        ({"command": ["a\x00"]}, "command"),
        ({"command": ["\ud800"]}, "command"),
        ({"command": [1]}, "command"),
        ({"env": {"A B": "1"}}, "env"),
        ({"env": {"A": 1}}, "env"),
        ({"env": {f"A{n}": "" for n in range(257)}}, "env"),
        ({"env": {"A": "x" * 32768}}, "env"),
        ({"files": {"../etc/passwd": ""}}, "files"),
        ({"files": {"/etc/passwd": ""}}, "files"),
        ({"files": {"a//b": ""}}, "files"),
        ({"files": {"a": "x" * (1024 * 1024 + 1)}}, "files"),
        ({"files": {"a": b"x"}}, "files"),
        ({"priority": "critical"}, "priority"),
        ({"priority": "urgent"}, "priority"),
        ({"runs": -1}, "runs"),
        ({"runs": True}, "runs"),
        ({"expected_seconds": 0}, "expected_seconds"),
        ({"expected_seconds": -5}, "expected_seconds"),
        ({"expected_seconds": 7 * 86400 + 1}, "expected_seconds"),
        ({"expected_seconds": "3600"}, "expected_seconds"),
        ({"silence": "maybe"}, "silence"),
        ({"when_full": "never"}, "when_full"),
        ({"need": {"memory_gb": -1}}, "memory_gb"),
        ({"need": {"gold": 1}}, "gold"),
        ({"need": {"self": 1}}, "self"),
        ({"need": ["memory_gb"]}, "need"),
        ({"need": "20 GB"}, "need"),
    ],
)
def test_wrong_words_are_refused_by_field_and_leave_no_trace(world, words, field):
    before = Event.objects.count()
    with pytest.raises(Invalid) as refused:
        submit(world, **words)
    assert field in refused.value.detail
    assert not Workload.objects.exists()
    assert Event.objects.count() == before
    assert Installation.objects.get().round_wanted == 0


def test_the_largest_words_are_taken(world):
    make.allowance(world.project, world.partition, 1)
    workload = submit(
        world,
        name="名" * 63,
        command=["x" * 16384, "y" * 16382],
        env={f"A{n}": "x" for n in range(256)},
        files={"src/main.py": "x" * (1024 * 1024)},
        comment="é" * 4000,
    )
    workload.refresh_from_db()
    assert workload.name == "名" * 63
    assert len(workload.files["src/main.py"]) == 1024 * 1024


def test_a_template_that_has_ended_is_refused_with_its_reason(world):
    ended = make.template("desktop", active=False, inactive_reason="no runner for desktops")
    with pytest.raises(Invalid, match="no runner for desktops"):
        submit(world, ended)


def test_a_template_of_another_organization_does_not_exist(world):
    foreign = make.template("theirs", organization=make.organization("other"))
    with pytest.raises(Invalid, match="no such template"):
        submit(world, foreign)


def test_a_kind_that_nothing_can_run_is_refused(world):
    with pytest.raises(Invalid, match="Nothing here can run"):
        submit(world, make.template("model", kind="replica"))


@pytest.mark.parametrize(
    ("need", "why"),
    [
        ({"memory_gb": 200}, "too small"),
        ({"labels": ["B200-180GB"]}, "no card of that kind"),
        ({"vendors": ["amd"]}, "no card of that kind"),
        ({"profile": "9g.90gb"}, "too small"),
        ({"whole": True, "parts": 9}, "not enough such cards"),
        ({"whole": True, "encoder": True}, "no card of that kind"),
    ],
)
def test_what_no_card_could_ever_hold_is_refused_with_why(world, need, why):
    with pytest.raises(Impossible, match=why):
        submit(world, need=need)
    assert not Workload.objects.exists()


def test_more_cores_than_any_machine_has_are_refused(world):
    with pytest.raises(Impossible, match="so many cores"):
        submit(world, world.cpu, need={"cpu_milli": 128_001})


@pytest.mark.handmade_books
def test_a_need_above_the_limit_itself_is_refused_and_one_within_waits(world):
    make.allowance(world.project, world.partition, 8)
    limit = make.quota(world.organization, world.partition, 2)
    limit.held = limit.limit_value
    limit.save()
    with pytest.raises(QuotaExceeded) as refused:
        submit(world, world.whole, need={"parts": 3})
    assert refused.value.detail["limit"] == 2_000_000
    assert refused.value.detail["tenant"] == "Acme"
    assert submit(world, world.whole, need={"parts": 2}).state == "queued"


def test_a_members_own_limit_binds_only_the_member(world):
    make.allowance(world.project, world.partition, 8)
    make.quota(world.project, world.partition, 1, who=world.member)
    with pytest.raises(QuotaExceeded):
        submit(world, world.whole, need={"parts": 2})
    words = {"user": world.lead, "actor": make.by(world.lead)}
    assert submit(world, world.whole, need={"parts": 2}, **words).state == "queued"


def test_a_partition_that_is_closed_to_the_organization_is_not_there(world):
    closed = make.partition("secret", labels=("H100-80GB",), open_to_all=False)
    with pytest.raises(Invalid, match="no partition secret"):
        submit(world, partitions=[closed])


def test_a_suspended_project_starts_nothing_new(world):
    Project.objects.update(suspended=True, suspended_reason="budget spent")
    with pytest.raises(Suspended, match="budget spent"):
        submit(world)


def test_waiting_work_is_cancelled_at_once_and_twice_is_once(world):
    workload = submit(world)
    actor = make.by(world.member)
    assert workload_stop(workload=workload, actor=actor).state == "cancelled"
    assert workload_stop(workload=workload, actor=actor).state == "cancelled"
    assert Event.objects.filter(kind="workload.moved").count() == 1


@pytest.mark.handmade_books
def test_running_work_stops_with_a_reason_and_a_deadline(world):
    make.allowance(world.project, world.partition, 1)
    workload = submit(world)
    Workload.objects.update(state="running", started_at=workload.queued_at)
    stopped = workload_stop(workload=workload, actor=make.by(world.member), message="enough")
    assert (stopped.state, stopped.stop_reason) == ("stopping", "cancelled")
    assert stopped.deadline is not None
    again = workload_stop(workload=workload, actor=make.by(world.member))
    assert again.state == "stopping"


def test_held_work_is_released_and_both_may_be_repeated(world):
    make.allowance(world.project, world.partition, 1)
    workload, actor = submit(world), make.by(world.member)
    for _ in range(2):
        assert workload_hold(workload=workload, actor=actor).state == "on_hold"
    for _ in range(2):
        assert workload_release(workload=workload, actor=actor).state == "queued"


def test_stopped_work_is_resumed_as_new(world):
    make.allowance(world.project, world.partition, 1)
    workload = submit(world)
    Workload.objects.update(
        state="stopped", stop_reason="stopped", ended_at=workload.queued_at, exit_code=-15
    )
    resumed = workload_resume(workload=workload, actor=make.by(world.member))
    assert (resumed.state, resumed.stop_reason, resumed.exit_code) == ("queued", "", None)
    assert resumed.ended_at is None


def test_a_member_has_a_most_number_of_live_workloads(world):
    make.allowance(world.project, world.partition, 8)
    Project.objects.update(most_live=2)
    submit(world), submit(world)
    with pytest.raises(TooMany, match="No more than 2"):
        submit(world)
    assert submit(world, user=world.lead, actor=make.by(world.lead)).state == "queued"


def test_an_entitlement_row_bounds_what_can_be_asked_for(world):
    row = make.quota(world.project, world.partition, 2, kind=QuotaKind.ENTITLEMENT)
    submit(world, world.whole, need={"parts": 2})
    row.refresh_from_db()
    assert row.held == 2_000_000
    with pytest.raises(QuotaExceeded):
        submit(world, world.whole)

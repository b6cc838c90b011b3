"""Pages of maintenance, reservations, partitions and rules: seen by all, steered by few."""

from datetime import timedelta

import pytest

from pool.clock import now
from pool.events import SYSTEM
from pool.models import Partition, PolicyVersion, Reservation, Seats, Window
from pool.services.calendar.history import numbers_change

SHAPE = "%Y-%m-%dT%H:%M"


def planned(world, **given):
    start = now() + timedelta(hours=2)
    words = {
        "reason": "new <driver>",
        "starts_at": start.strftime(SHAPE),
        "ends_at": (start + timedelta(hours=1)).strftime(SHAPE),
        "nodes": [world.node.uid],
        "with_running": "wait",
        "notice_seconds": "5 min",
    }
    return words | given


def test_maintenance_is_planned_seen_by_everybody_changed_and_called_off(visit, world):
    admin, member = visit("platform_admin"), visit("member")
    assert "Plan maintenance" in admin.open("/maintenance/").content.decode()
    assert "Plan maintenance" not in member.open("/maintenance/").content.decode()
    shown = admin.open(f"/maintenance/new/?node={world.node.uid}").content.decode()
    assert f'value="{world.node.uid}" selected' in shown
    judged = admin.send("/maintenance/judged/", planned(world), htmx=True).content.decode()
    assert "4 cards" in judged and "1 whole node" in judged
    assert admin.send("/maintenance/new/", planned(world)).status_code == 303
    row = Window.objects.get(reason="new <driver>")
    assert row.created_by == admin.user and row.notice_seconds == 300
    home = member.open("/").content.decode()
    assert "new &lt;driver&gt;" in home and "<driver>" not in home
    page = member.open(f"/maintenance/{row.uid}/").content.decode()
    assert "Who is hit" not in page and "Change it" not in page
    changed = planned(world, reason="other", with_running="preempt", notice_seconds="10 min")
    assert admin.send(f"/maintenance/{row.uid}/", changed).status_code == 303
    row.refresh_from_db()
    assert (row.reason, row.with_running, row.notice_seconds) == ("other", "preempt", 600)
    assert admin.send(f"/maintenance/{row.uid}/cancel/", {"reason": "later"}).status_code == 303
    row.refresh_from_db()
    assert (row.state, row.state_reason) == ("cancelled", "later")
    assert "Change it" not in admin.open(f"/maintenance/{row.uid}/").content.decode()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"reason": ""}, "This field is required"),
        ({"starts_at": "soon"}, "A date with a time is needed."),
        ({"ends_at": "2001-01-01T00:00"}, "The end lies before the start."),
        ({"nodes": []}, "Name at least one"),
    ],
)
def test_what_is_wrong_stands_beside_its_field_and_nothing_typed_is_lost(visit, world, given, said):
    before = Window.objects.count()
    answer = visit("platform_admin").send("/maintenance/new/", planned(world, **given))
    assert answer.status_code == 422
    page = answer.content.decode()
    assert said in page
    assert "new &lt;driver&gt;" in page or given == {"reason": ""}
    assert Window.objects.count() == before


@pytest.mark.parametrize("role", ["org_admin", "lead", "member", "viewer", "billing_reader"])
def test_only_the_platform_plans_maintenance_and_sets_rules(role, visit, world):
    visitor = visit(role)
    part = world.partition
    for path in ("/maintenance/new/", "/rules/"):
        assert visitor.open(path).status_code == 403
    for path in (
        "/maintenance/new/",
        "/maintenance/judged/",
        f"/maintenance/{world.window.uid}/",
        f"/maintenance/{world.window.uid}/cancel/",
        f"/partitions/{part.uid}/",
        "/rules/",
        "/rules/seats/",
        f"/rules/seats/{world.seats.uid}/remove/",
        f"/rules/{world.policy.uid}/revert/",
        f"/nodes/{world.node.uid}/cordon/",
    ):
        assert visitor.send(path, planned(world)).status_code in {403, 404}, path
    assert "Scheduling rules" not in visitor.open("/").content.decode()


def test_a_node_is_closed_drained_and_returned_on_its_page_with_a_reason(visit, world):
    admin = visit("platform_admin")
    path = f"/nodes/{world.node.uid}/"
    assert "Nothing runs here now" in admin.open(path).content.decode()
    assert "Plan maintenance" not in visit("member").open(path).content.decode()
    assert admin.send(f"{path}cordon/", {"reason": " "}).status_code == 422
    for verb, state in (("cordon", "cordoned"), ("drain", "draining"), ("uncordon", "ready")):
        assert admin.send(f"{path}{verb}/", {"reason": "fan"}).status_code == 303
        world.node.refresh_from_db()
        assert world.node.state == state


def test_changing_maintenance_that_is_over_is_refused_in_words(visit, world):
    admin = visit("platform_admin")
    Window.objects.filter(pk=world.window.pk).update(state="cancelled")
    path = f"/maintenance/{world.window.uid}/"
    assert admin.send(path, planned(world)).status_code == 303
    assert "This cannot be done now." in admin.open(path).content.decode()
    world.window.refresh_from_db()
    assert world.window.reason == "new fans"


def test_reservations_are_seen_by_their_project_and_taken_back(visit, world):
    member, stranger = visit("member"), visit("stranger")
    row, other = world.own.reservation, world.other.reservation
    page = member.open("/reservations/").content.decode()
    assert row.uid in page and other.uid not in page
    assert member.open(f"/reservations/{other.uid}/").status_code == 404
    assert stranger.send(f"/reservations/{row.uid}/cancel/").status_code == 404
    assert "Let the cards go" in member.open(f"/reservations/{row.uid}/").content.decode()
    assert (
        "Let the cards go" not in visit("viewer").open(f"/reservations/{row.uid}/").content.decode()
    )
    assert member.send(f"/reservations/{row.uid}/cancel/").status_code == 303
    row.refresh_from_db()
    assert row.state == "cancelled"


def test_an_approver_sees_what_would_be_kept_free(visit, world):
    request = world.own.request
    request.lease_kind = "reserved"
    request.save()
    request.partitions.set([world.partition])
    page = visit("lead").part(f"/approvals/{request.uid}/").content.decode()
    assert "What would be kept free" in page
    assert "1 whole card" in page


def changes(part, **given):
    """A partition's form as a browser sends it."""
    form = {
        "name": part.name,
        "modes": part.modes,
        "policy": part.policy,
        "foreign_work": "tolerate",
        "tolerance_points": part.tolerance_points,
        "give_back_seconds": f"{part.give_back_seconds} s",
        "open_to_all": "on",
        "sharing": "on",
        "ceiling-TOTAL_FORMS": "1",
        "ceiling-INITIAL_FORMS": "0",
        "ceiling-0-scope": "card_sum",
        "ceiling-0-purposes": ["finetuning"],
        "ceiling-0-compute": "80",
        "ceiling-0-memory": "100",
        "class_inference": "spread",
        "reason": "room for bursts",
    }
    return form | given


def test_a_partition_is_changed_with_a_reason_and_taken_back(visit, world):
    admin, part = visit("platform_admin"), world.partition
    path = f"/partitions/{part.uid}/"
    assert part.name in visit("member").open("/partitions/").content.decode()
    assert "Change it" not in visit("member").open(path).content.decode()
    answer = admin.send(path, changes(part))
    assert answer.status_code == 303
    part.refresh_from_db()
    assert part.ceilings == {
        "card_sum": [{"purposes": ["finetuning"], "compute_milli": 800, "memory_milli": 1000}]
    }
    assert (part.class_policies, part.lending) == ({"inference": "spread"}, False)
    assert part.foreign_work == "tolerate"
    page = admin.open(path).content.decode()
    assert "are offered, and nobody is told" in page
    assert "room for bursts" in page and "80 %" in page
    card = admin.part(f"/map/cards/{world.hold_card().uid}/").content.decode()
    assert "Ceilings of classes" in card and "may still be taken" in card
    first = PolicyVersion.objects.get(partition=part, number=1)
    assert admin.send(f"/rules/{first.uid}/revert/").status_code == 303
    part.refresh_from_db()
    assert (part.ceilings, part.lending, part.foreign_work) == ({}, True, "block")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"reason": ""}, "This field is required"),
        ({"modes": []}, "This field is required"),
        ({"ceiling-0-compute": "0"}, "A ceiling lies between"),
        ({"ceiling-0-compute": "100"}, "bounds nothing"),
        ({"tolerance_points": "101"}, "less than or equal to 100"),
    ],
)
def test_a_wrong_partition_is_not_stored(visit, world, given, said):
    part = world.partition
    answer = visit("platform_admin").send(f"/partitions/{part.uid}/", changes(part, **given))
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert Partition.objects.get(pk=part.pk).ceilings == {}


def test_numbers_are_changed_and_taken_back_and_seats_set_and_removed(visit, world):
    admin = visit("platform_admin")
    page = admin.open("/rules/").content.decode()
    assert "Numbers in force" in page and "vWS" in page
    version = numbers_change(values={"heavy_gb": 48}, reason="larger", actor=SYSTEM)
    form = {"reason": "smaller again"}
    for name, value in version.values.items():
        form[name] = ("yes" if value else "no") if isinstance(value, bool) else value
    answer = admin.send("/rules/", form | {"heavy_gb": "0"})
    assert answer.status_code == 422
    assert admin.send("/rules/", form | {"heavy_gb": "44"}).status_code == 303
    newest = PolicyVersion.objects.filter(partition=None).order_by("-number").first()
    assert (newest.values["heavy_gb"], newest.user) == (44, admin.user)
    assert admin.send(f"/rules/{version.uid}/revert/", {"reason": "no"}).status_code == 303
    newest = PolicyVersion.objects.filter(partition=None).order_by("-number").first()
    assert (newest.values["heavy_gb"], newest.reverts) == (48, version)
    assert (
        admin.send("/rules/seats/", {"name": "s", "mode": "mig", "total": "2"}).status_code == 303
    )
    assert admin.send("/rules/seats/", {"name": "s", "mode": "mig"}).status_code == 422
    row = Seats.objects.get(mode="mig")
    assert admin.send(f"/rules/seats/{row.uid}/remove/").status_code == 303
    assert not Seats.objects.filter(mode="mig").exists()


def test_cards_are_reserved_by_the_form_for_requests(visit, world):
    start = now() + timedelta(days=2)
    form = {
        "project": "vision",
        "template": world.version.template.slug,
        "how": "template",
        "parts": "1",
        "copies": "1",
        "time_value": "2 h",
        "kind": "reserved",
        "starts_at": start.strftime(SHAPE),
    }
    answer = visit("member").send("/requests/new/", form)
    assert answer.status_code == 303, answer.content.decode()
    row = Reservation.objects.order_by("-pk").first()
    assert row.state == "asked"
    assert row.span.lower == start.replace(second=0, microsecond=0)

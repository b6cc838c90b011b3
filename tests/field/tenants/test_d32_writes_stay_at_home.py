"""D32: a write that points at another tenant's thing is answered like one that points nowhere."""

import pytest

from pool.models import Quota, Request, Workload
from tests.portal.world import World

pytestmark = pytest.mark.django_db
NOWHERE = "pr-00000000-0000-7000-8000-000000000000"


@pytest.fixture
def world():
    return World()


def same(here, there):
    """Two refusals that nobody can tell apart, but for the name that the caller gave."""
    assert here.status_code == there.status_code, (here.content, there.content)
    assert here.json()["code"] == there.json()["code"]
    assert set(here.json()["detail"]) == set(there.json()["detail"])
    assert here.status_code in {400, 403, 404}
    assert "Unknown field." not in here.content.decode()


@pytest.mark.parametrize("role", ["member", "lead", "org_admin"])
def test_a_job_points_at_no_other_tenants_project_lease_or_template(world, role):
    who, before = world.by(role), Workload.objects.count()
    template = world.version.template
    template.organization = world.other.organization
    private = world.version.template.slug
    same(
        who.post("workloads", world.job(project=world.other.project.slug)),
        who.post("workloads", world.job(project="no-such-project")),
    )
    same(
        who.post("workloads", world.job(lease=world.other.lease.uid)),
        who.post("workloads", world.job(lease="ls-" + NOWHERE[3:])),
    )
    template.save()
    same(
        who.post("workloads", world.job(template=private)),
        who.post("workloads", world.job(template="no-such-template")),
    )
    template.organization = None
    template.save()
    for noun, thing in (("storage", world.other.storage), ("secrets", world.other.secret)):
        word = noun.removesuffix("s") if noun == "secrets" else noun
        there = thing.uid[:-12] + "0" * 12
        more = {"at": "data"} if noun == "storage" else {"name": "TOKEN"}
        same(
            who.post("workloads", world.job(**{noun: [{word: thing.uid, **more}]})),
            who.post("workloads", world.job(**{noun: [{word: there, **more}]})),
        )
    assert Workload.objects.count() == before


def test_ones_own_things_are_not_moved_to_another_tenant_and_theirs_are_not_changed(world):
    admin, own, other = world.by("org_admin"), world.own, world.other
    moved = admin("PATCH", f"workloads/{own.workload.uid}", {"project": other.project.slug})
    assert moved.status_code == 400
    own.workload.refresh_from_db()
    assert own.workload.project == own.project
    for body in ({"name": "mine"}, {"cost_centre": "1"}):
        same(
            admin("PATCH", f"projects/{other.project.uid}", body),
            admin("PATCH", f"projects/{NOWHERE}", body),
        )
    other.project.refresh_from_db()
    assert (other.project.name, other.project.cost_centre) == ("speech", "")
    same(
        admin.post(f"projects/{own.project.uid}/move", {"organization": "speech-org"}),
        admin.post(f"projects/{own.project.uid}/move", {"organization": "no-such"}),
    )


def test_a_quota_of_another_tenant_is_neither_set_nor_changed(world):
    admin = world.by("org_admin")
    row = Quota.objects.filter(project=world.other.project).first()
    before = row.limit_value
    body = {"partition": "a100", "unit": "cards_micro", "kind": "allowance", "limit": 9_000_000}
    same(
        admin.post("quotas", {**body, "project": "speech"}),
        admin.post("quotas", {**body, "project": "no-such"}),
    )
    for method in ("PUT", "PATCH", "DELETE"):
        answer = admin(method, f"quotas/{row.uid}", {"limit": 9_000_000})
        assert answer.status_code in {404, 405}, method
    row.refresh_from_db()
    assert row.limit_value == before


@pytest.mark.parametrize("noun", ["projects", "workloads", "requests", "leases", "quotas"])
def test_a_list_without_a_filter_shows_ones_own_only(world, noun):
    other = {
        "projects": world.other.project,
        "workloads": world.other.workload,
        "requests": world.other.request,
        "leases": world.other.lease,
        "quotas": world.other.quota,
    }[noun]
    shown = world.by("org_admin").get(f"{noun}?page_size=100").json()["results"]
    assert shown
    assert other.uid not in {row["uid"] for row in shown}


def test_a_request_or_reservation_opens_nothing_in_another_project(world):
    who, before = world.by("lead"), Request.objects.count()
    body = {"template": world.version.template.slug, "duration_seconds": 3600}
    for noun in ("requests", "reservations"):
        same(
            who.post(noun, {**body, "project": "speech"}),
            who.post(noun, {**body, "project": "no-such"}),
        )
    assert Request.objects.count() == before

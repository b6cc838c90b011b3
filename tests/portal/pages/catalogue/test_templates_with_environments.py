"""The environment of a template: chosen by who looks after it, used by work that names no other."""

import pytest

from nodeagent.protocol.places import Place
from pool.events import SYSTEM
from pool.models import Request, Template, TemplateVersion
from pool.services.catalogue.environments import environment_change, environment_create
from pool.services.catalogue.watched import places_take
from tests.portal.pages.test_scenarios import WORDS


@pytest.fixture
def torch(world):
    places_take(node=world.node, places=(Place(path="/opt/torch"),))
    return environment_create(
        slug="torch",
        name="Torch 2.6",
        kind="folder",
        reference="/opt/torch",
        instruction_set="cuda",
        actor=SYSTEM,
    )


def test_the_form_sets_it_shows_it_and_takes_it_away(visit, world, torch):
    template, admin = world.version.template, visit("platform_admin")
    path = f"/templates/{template.uid}/edit/"
    page = admin.open(path).content.decode()
    assert "Torch 2.6" in page and "vision torch" not in page
    assert admin.send(path, WORDS | {"environment": "torch"}).status_code == 303
    newest = template.versions.order_by("-number").first()
    assert newest.environment == torch
    page = admin.open(f"/templates/{template.uid}/").content.decode()
    assert "Torch 2.6" in page
    environment_change(environment=torch, actor=SYSTEM, active=False)
    assert (
        admin.send(path, WORDS | {"environment": "torch", "grace_seconds": "40 s"}).status_code
        == 303
    )
    assert admin.send(path, WORDS).status_code == 303
    assert template.versions.order_by("-number").first().environment is None


def test_over_rest_it_is_set_by_its_short_name_and_taken_by_work_and_requests(world, torch):
    admin, member = world.admin, world.own.people["member"]
    uid = world.version.template.uid
    answer = admin("PATCH", f"templates/{uid}", {"environment": "torch"})
    assert (answer.status_code, answer.json()["environment"]) == (200, "torch")
    asked = {
        "project": "vision",
        "template": world.version.template.slug,
        "duration_seconds": 3600,
    }
    made = member.post("requests", asked).json()
    assert made["need"]["storage"] == ["/opt/torch"] and made["environment"] == ""
    other = member.post("requests", asked | {"environment": "vision-torch"})
    assert "container" in other.content.decode()
    work = {"project": "vision", "template": asked["template"], "command": ["true"]}
    assert member.post("workloads", work).json()["environment"] == "torch"
    assert admin("PATCH", f"templates/{uid}", {"environment": ""}).json()["environment"] is None
    assert Request.objects.get(uid=made["uid"]).need["storage"] == ["/opt/torch"]


@pytest.mark.parametrize("slug", ["none", "vision-torch", "speech-torch"])
def test_a_template_for_everybody_takes_no_environment_of_one_organization(world, slug):
    path = f"templates/{world.version.template.uid}"
    answer = world.admin("PATCH", path, {"environment": slug})
    assert (answer.status_code, list(answer.json()["detail"])) == (400, ["environment"])


def test_an_organizations_admin_takes_its_own_and_not_anothers(world):
    admin = world.own.people["org_admin"]
    need = {"memory_gb": 20, "compute_percent": 30}
    ours = {"slug": "ours", "name": "Ours", "organization": "vision-org", "need": need}
    assert admin.post("templates", ours | {"environment": "speech-torch"}).status_code == 400
    assert admin.post("templates", ours | {"environment": "vision-torch"}).status_code == 201
    assert TemplateVersion.objects.get(template__slug="ours").environment.slug == "vision-torch"


def test_an_environment_in_which_its_work_can_never_run_is_refused(world):
    environment_create(
        slug="plain",
        name="Plain",
        kind="folder",
        reference="/opt/plain",
        instruction_set="cpu",
        actor=SYSTEM,
    )
    path = f"templates/{world.version.template.uid}"
    answer = world.admin("PATCH", path, {"environment": "plain"})
    assert answer.status_code == 400 and "processors only" in answer.content.decode()
    assert Template.objects.get(pk=world.version.template_id).versions.count() == 1

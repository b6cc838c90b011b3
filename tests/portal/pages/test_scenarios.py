"""Templates at a browser: read by all, tried on the pool, given versions, switched off and on."""

import pytest

from pool.models import Template, TemplateVersion

WORDS = {
    "parts": "1",
    "memory_gb": "40",
    "compute_percent": "50",
    "work_class": "training",
    "priority": "normal",
    "bandwidth": "light",
    "price_class": "standard",
    "kind": "job",
    "default_seconds": "1 h",
    "max_seconds": "1 d",
    "start_limit_seconds": "5 min",
    "grace_seconds": "30 s",
    "min_run_seconds": "0 s",
    "min_profile_compute": "0",
    "note": "larger models",
}


def test_a_new_version_is_made_beside_where_it_fits_and_the_old_one_stays(visit, world):
    template = world.version.template
    admin = visit("platform_admin")
    path = f"/templates/{template.uid}/edit/"
    assert admin.open(path).status_code == 200
    shown = admin.send("/templates/fit/", WORDS | {"template": template.uid}, htmx=True)
    page = shown.content.decode()
    assert world.partition.name in page and "A100-80GB" in page and "g.40gb" in page
    assert admin.send(path, WORDS | {"note": ""}).status_code == 422
    assert admin.send(path, WORDS).status_code == 303
    newest = template.versions.order_by("-number").first()
    assert (newest.number, newest.need["memory_gb"], newest.note) == (2, 40, "larger models")
    world.own.workload.refresh_from_db()
    assert world.own.workload.template_version_id == world.version.pk
    page = admin.open(f"/templates/{template.uid}/").content.decode()
    assert "larger models" in page and "max_seconds" in page
    assert admin.send(path, WORDS).status_code == 303
    assert template.versions.count() == 2


def test_a_need_that_no_card_can_hold_is_said_and_a_contradiction_refused(visit, world):
    admin = visit("platform_admin")
    words = WORDS | {"template": world.version.template.uid}
    shown = admin.send("/templates/fit/", words | {"memory_gb": "1000"}, htmx=True)
    assert "no card there can hold it" in shown.content.decode()
    path = f"/templates/{world.version.template.uid}/edit/"
    answer = admin.send(path, WORDS | {"whole": "on"})
    assert answer.status_code == 422
    assert "cannot stand together" in answer.content.decode()
    answer = admin.send(path, WORDS | {"default_seconds": "12 d"})
    assert answer.status_code == 422
    assert TemplateVersion.objects.filter(template=world.version.template).count() == 1


def test_an_organizations_admin_makes_its_own_and_says_nothing_of_the_platforms(visit, world):
    admin = visit("org_admin")
    words = WORDS | {"name": "Ours", "slug": "ours", "price_class": "free", "priority": "high"}
    assert admin.send("/templates/new/", words | {"projects": ["vision"]}).status_code == 303
    row = Template.objects.get(slug="ours")
    version = row.versions.get()
    assert row.organization == world.own.organization
    assert (version.price_class, version.priority) == ("standard", "normal")
    assert [one.slug for one in row.projects.all()] == ["vision"]
    assert visit("member").open(f"/templates/{row.uid}/").status_code == 200
    assert visit("stranger").open(f"/templates/{row.uid}/").status_code == 404
    assert admin.open(f"/templates/{world.version.template.uid}/edit/").status_code == 403
    assert admin.send(f"/templates/{row.uid}/deactivate/").status_code == 303
    row.refresh_from_db()
    assert row.active
    admin.send(f"/templates/{row.uid}/deactivate/", {"reason": "replaced"})
    row.refresh_from_db()
    assert (row.active, row.inactive_reason) == (False, "replaced")
    admin.send(f"/templates/{row.uid}/activate/")
    row.refresh_from_db()
    assert row.active


def test_a_template_of_named_projects_is_no_others_to_use(visit, world):
    template = world.version.template
    template.projects.set([world.other.project])
    answer = world.by("member").post("workloads", world.job())
    assert answer.status_code == 400
    assert "template" in answer.json()["detail"]
    template.projects.set([world.own.project])
    assert world.by("member").post("workloads", world.job()).status_code == 201


@pytest.mark.parametrize("role", ["lead", "member", "viewer", "billing_reader"])
def test_people_read_templates_and_do_not_look_after_them(visit, world, role):
    person = visit(role)
    path = f"/templates/{world.version.template.uid}/"
    page = person.open(path).content.decode()
    assert "New version" not in page and "What changed" not in page
    assert person.open(f"{path}edit/").status_code == 403
    assert person.open("/templates/new/").status_code == 403
    assert person.send("/templates/fit/", WORDS).status_code == 403
    assert person.send(f"{path}deactivate/", {"reason": "x"}).status_code == 403


def test_steps_of_approval_and_the_hosts_share_are_set_on_the_page(visit, world):
    template = world.version.template
    admin = visit("platform_admin")
    path = f"/templates/{template.uid}/edit/"
    assert "Has steps of approval of its own" in admin.open(path).content.decode()
    steps = {"lead_when": "always", "org_admin_when": "above", "org_admin_cards": "4"}
    words = WORDS | steps | {"own_steps": "on", "cpu": "2.5", "ram_mib": "8192"}
    assert admin.send(path, words).status_code == 303
    newest = template.versions.order_by("-number").first()
    assert (newest.need["cpu_milli"], newest.need["ram_mib"]) == (2500, 8192)
    assert newest.approval == {
        "steps": [{"role": "lead"}, {"role": "org_admin", "above": {"cards": 4.0}}]
    }
    page = admin.open(f"/templates/{template.uid}/").content.decode()
    assert "steps of its own" in page
    assert admin.send(path, words | {"max_seconds": "2 h"}).status_code == 303
    assert template.versions.order_by("-number").first().approval == newest.approval
    assert admin.send(path, WORDS).status_code == 303
    newest = template.versions.order_by("-number").first()
    assert (newest.approval, "cpu_milli" in newest.need) == ({}, False)


def test_video_engines_of_a_template_are_shown_kept_and_taken_away(visit, world):
    template = world.version.template
    admin, path = visit("platform_admin"), f"/templates/{template.uid}/edit/"
    assert admin.send(path, WORDS | {"encoder_units": "2", "decoder_units": "1"}).status_code == 303
    newest = template.versions.order_by("-number").first()
    assert (newest.need["encoder_units"], newest.need["decoder_units"]) == (2, 1)
    page = admin.open(f"/templates/{template.uid}/").content.decode()
    assert "2 video encoders" in page and "1 video decoder" in page
    assert 'name="encoder_units" value="2"' in admin.open(path).content.decode()
    assert admin.send(path, WORDS | {"encoder_units": ""}).status_code == 303
    assert "encoder_units" not in template.versions.order_by("-number").first().need

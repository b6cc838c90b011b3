"""The pages of organizations, projects, their people, invitations and leavers, as one uses them."""

import re

from django.core import mail
from django.test import Client

from pool.models import Membership, Organization, Project, User
from portal.models import ApiToken


def test_an_admin_makes_an_organization_a_project_and_lets_somebody_in(
    visit, world, django_capture_on_commit_callbacks
):
    admin = visit("platform_admin")
    given = {"name": "Robotics", "slug": "robotics", "zone": "Asia/Shanghai", "currency": "CNY"}
    made = admin.send("/projects/", given)
    assert made.status_code == 303
    home = Organization.objects.get(slug="robotics")
    assert admin.send("/projects/", given).status_code == 422
    answer = admin.send(
        f"/organizations/{home.uid}/projects/", {"name": "Arms", "slug": "arms", "cost_centre": "7"}
    )
    project = Project.objects.get(slug="arms")
    assert answer["Location"] == f"/projects/{project.uid}/"
    with django_capture_on_commit_callbacks(execute=True):
        told = admin.send(
            f"/places/project/{project.uid}/invite/",
            {"email": "li@example.org", "role": "lead", "days": 7},
        )
    assert told.status_code == 201
    link = re.search(r"http://testserver(/invitations/[^\"]+)", told.content.decode())[1]
    assert mail.outbox[0].to == ["li@example.org"]
    assert link in mail.outbox[0].body

    stranger = Client()
    assert b"Arms" in stranger.get(link).content
    weak = {"username": "li", "password": "123", "again": "123", "display_name": ""}
    assert stranger.post(link, weak).status_code == 422
    joined = stranger.post(link, weak | {"password": "word of li 77", "again": "word of li 77"})
    assert (joined.status_code, joined["Location"]) == (303, f"/projects/{project.uid}/")
    assert stranger.get(joined["Location"]).status_code == 200
    assert Client().get(link).status_code == 404


def test_a_lead_gives_changes_and_takes_roles_but_only_inside(visit, world):
    lead, own = visit("lead"), world.own
    path = f"/places/project/{own.project.uid}/members/"
    assert lead.send(path, {"user": "speech-member", "role": "member"}).status_code == 422
    assert lead.send(path, {"user": "vision-viewer", "role": "member"}).status_code == 303
    row = Membership.objects.get(user__username="vision-viewer", role="member")
    assert lead.send(f"/members/{row.uid}/role/", {"role": "lead"}).status_code == 303
    row.refresh_from_db()
    assert row.role == "lead"
    assert lead.send(f"/members/{row.uid}/remove/").status_code == 303
    assert not Membership.objects.filter(pk=row.pk).exists()
    assert lead.send(f"/members/{world.other.membership.uid}/remove/").status_code == 404
    assert visit("member").send(path, {"user": "vision-viewer", "role": "lead"}).status_code == 403


def test_a_project_shows_its_people_limits_work_and_leases(visit, world):
    shown = visit("viewer").open(f"/projects/{world.own.project.uid}/").content.decode()
    for words in ("vision-lead", world.own.lease.uid, world.own.workload.uid, "without asking"):
        assert words in shown
    assert "speech" not in shown
    assert "Invite by mail" not in shown
    assert visit("viewer").open(f"/projects/{world.other.project.uid}/").status_code == 404


def test_closing_shows_the_consequences_and_refuses_until_they_are_accepted(
    visit, world, django_capture_on_commit_callbacks
):
    admin, project = visit("org_admin"), world.own.project
    path = f"/projects/{project.uid}/close/archive/"
    assert "What lives of it" in admin.open(path).content.decode()
    admin.send(path)
    project.refresh_from_db()
    assert project.archived_at is None
    with django_capture_on_commit_callbacks(execute=True):
        admin.send(path, {"wind_down": "1"})
    project.refresh_from_db()
    assert project.archived_at is not None
    assert "archived" in admin.open(f"/projects/{project.uid}/").content.decode()
    assert visit("lead").open(path).status_code == 403


def test_a_leaver_loses_login_and_tokens_at_once(visit, world):
    admin, person = visit("org_admin"), world.own.people["member"].user
    session = visit("member")
    assert session.open("/").status_code == 200
    assert "Let go" in admin.open(f"/people/{person.uid}/leave/").content.decode()
    wrong = admin.send(f"/people/{person.uid}/leave/", {"heir": "speech-member", "hours": 0})
    assert wrong.status_code == 422
    done = admin.send(f"/people/{person.uid}/leave/", {"heir": "vision-lead", "hours": 0})
    assert done.status_code == 303
    assert session.open("/").status_code == 302
    assert world.own.people["member"].get("whoami").status_code == 401
    assert not ApiToken.objects.filter(user=person, revoked_at=None).exists()
    assert admin.open(f"/people/{person.uid}/").status_code == 404
    again = visit("platform_admin").send(f"/people/{person.uid}/enable/")
    assert again.status_code == 303
    assert world.own.people["member"].get("whoami").status_code == 401


def test_a_service_account_acts_for_its_project_by_a_token_that_is_told_once(visit, world):
    lead, project = visit("lead"), world.own.project
    lead.send(f"/projects/{project.uid}/accounts/", {"username": "vision-ci", "role": "viewer"})
    robot = User.objects.get(username="vision-ci")
    path = f"/accounts-of-projects/{robot.uid}/"
    told = lead.send(path, {"name": "nightly", "scope": "read", "days": 30})
    plain = re.search(r"gpt_[\w-]+", told.content.decode())[0]
    asked = Client().get("/api/v1/whoami", headers={"Authorization": f"Bearer {plain}"})
    assert asked.json()["username"] == "vision-ci"
    assert plain not in lead.open(path).content.decode()
    lead.send(f"{path}disable/")
    asked = Client().get("/api/v1/whoami", headers={"Authorization": f"Bearer {plain}"})
    assert asked.status_code == 401
    assert visit("stranger").open(path).status_code == 404
    assert visit("viewer").open(path).status_code == 403


def test_an_administrator_changes_a_person_but_not_their_unix_account(visit, world):
    person = world.own.people["viewer"].user
    given = {"display_name": "Vi", "email": "vi@example.org", "language": "", "zone": ""}
    path = f"/people/{person.uid}/"
    assert visit("org_admin").send(path, given | {"unix_account": "root"}).status_code == 303
    person.refresh_from_db()
    assert (person.display_name, person.unix_account) == ("Vi", "")
    assert visit("platform_admin").send(path, given | {"unix_account": "root"}).status_code == 422
    assert visit("platform_admin").send(path, given | {"unix_account": "vi"}).status_code == 303
    assert visit("org_admin").open(f"/people/{world.other.owner.uid}/").status_code == 404

"""People and places over REST, as a script uses them: repeated calls, secrets told once, lists."""

from django.core import mail

from pool.models import Invitation, Membership, User
from tests.portal.callers import Caller

KEY = {"Idempotency-Key": "once"}


def test_a_repeated_invitation_is_one_and_its_link_is_told_once(
    world, django_capture_on_commit_callbacks
):
    lead = world.by("lead")
    body = {"project": "vision", "email": "li@example.org", "role": "member", "message": "Hello"}
    with django_capture_on_commit_callbacks(execute=True):
        first = lead.post("invitations", body, **KEY)
        again = lead.post("invitations", body, **KEY)
    assert first.status_code == again.status_code == 201
    assert first.json()["uid"] == again.json()["uid"]
    assert "/invitations/" in first.json()["link"]
    assert again.json()["link"] is None
    assert len(mail.outbox) == 1
    assert lead.post("invitations", {**body, "role": "viewer"}, **KEY).status_code == 422
    listed = lead.get("invitations?email=LI@example.org").json()["results"]
    assert len(listed) == 1
    assert "link" not in listed[0]
    assert lead("DELETE", f"invitations/{first.json()['uid']}").status_code == 204
    assert Invitation.objects.get(uid=first.json()["uid"]).revoked_at is not None
    for wrong in ({"role": "platform_admin"}, {"email": "x"}, {"expires_in_seconds": 1}):
        assert lead.post("invitations", {**body, **wrong}).status_code == 400
    assert lead.post("invitations", {"email": "a@b.cd", "role": "member"}).status_code == 403


def test_a_project_is_changed_closed_with_its_counts_and_reopened(
    world, django_capture_on_commit_callbacks
):
    admin, path = world.by("org_admin"), f"projects/{world.own.project.uid}"
    body = {"name": "Sight", "cost_centre": "4711", "most_live": 7}
    changed = admin("PATCH", path, body).json()
    assert {name: changed[name] for name in body} == body
    assert admin("PATCH", path, {"slug": "other"}).status_code == 400
    living = admin.get(f"{path}/living").json()
    assert (living["workloads"], living["leases"], living["requests"]) == (1, 1, 1)
    refused = admin.post(f"{path}/archive")
    assert (refused.status_code, refused.json()["code"]) == (409, "still_living")
    assert refused.json()["detail"]["workloads"] == 1
    with django_capture_on_commit_callbacks(execute=True):
        assert admin.post(f"{path}/archive", {"wind_down": True}).status_code == 200
    assert admin.get(path).json()["archived_at"]
    assert admin.get("projects?archived=false").json()["results"] == []
    assert [row["slug"] for row in admin.get("projects?archived=true").json()["results"]] == [
        "vision"
    ]
    assert admin.post("workloads", world.job()).status_code == 409
    assert admin.post(f"{path}/reopen").json()["archived_at"] is None


def test_an_organization_keeps_its_currency_once_anything_was_metered(world):
    admin, path = world.by("org_admin"), f"organizations/{world.own.organization.uid}"
    refused = admin("PATCH", path, {"currency": "USD"})
    assert (refused.status_code, "currency" in refused.json()["detail"]) == (400, True)
    assert admin("PATCH", path, {"zone": "Asia/Shanghai"}).json()["zone"] == "Asia/Shanghai"
    assert admin.post(f"{path}/archive").status_code == 403
    assert world.by("platform_admin").post(f"{path}/archive").status_code == 400


def test_a_person_is_changed_and_let_go_with_an_heir(world):
    admin, person = world.by("org_admin"), world.own.owner
    path = f"users/{person.uid}"
    assert admin("PATCH", path, {"email": "m@example.org"}).json()["email"] == "m@example.org"
    assert admin("PATCH", path, {"unix_account": "mei"}).status_code == 403
    assert admin.get(f"{path}/leaving").json()["requests"] == 1
    assert admin.post(f"{path}/leave", {"heir": "speech-member"}).status_code == 400
    gone = admin.post(f"{path}/leave", {"heir": "vision-lead", "wind_down_seconds": 0}).json()
    assert gone["active"] is False
    assert gone["left_at"]
    assert world.by("member").get("whoami").status_code == 401
    assert admin.get(path).status_code == 404
    assert world.by("platform_admin").post(f"{path}/enable").json()["active"] is True


def test_a_role_is_changed_in_place_and_a_service_account_gets_tokens_of_its_own(world):
    lead = world.by("lead")
    row = Membership.objects.get(user__username="vision-viewer")
    assert lead("PATCH", f"memberships/{row.uid}", {"role": "member"}).json()["role"] == "member"
    assert lead("PATCH", f"memberships/{row.uid}", {"role": "org_admin"}).status_code == 400
    made = lead.post("service-accounts", {"project": "vision", "username": "ci", "role": "viewer"})
    path = f"service-accounts/{made.json()['uid']}"
    told = lead.post(f"{path}/issue", {"name": "runner", "scopes": ["read"]}).json()
    assert told["token"].startswith("gpt_")
    assert "token" not in lead.get(f"{path}/tokens").json()["results"][0]
    assert lead.post(f"{path}/revoke", {"token": told["uid"]}).json()["revoked_at"]
    assert lead.post(f"{path}/revoke", {"token": "tk-none"}).status_code == 400
    end = "2099-01-01T00:00:00Z"
    mine = {"name": "mine", "scopes": ["read", "write"], "expires_at": end}
    short = Caller(lead.user, lead.post("tokens", mine).json()["token"])
    wide = {"name": "w", "scopes": ["read"]}
    for late in ({}, {"expires_at": None}, {"expires_at": "2099-01-02T00:00:00Z"}):
        refused = short.post(f"{path}/issue", wide | late)
        assert (refused.status_code, list(refused.json()["detail"])) == (400, ["expires_at"])
    assert short.post(f"{path}/issue", wide | {"expires_at": end}).status_code == 201
    assert lead.post("service-accounts", {"project": "vision", "username": "x", "role": "lead"})
    assert not User.objects.filter(username="x").exists()

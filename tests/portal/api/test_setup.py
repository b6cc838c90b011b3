"""A pool is set up over REST alone: from nothing to the first job that waits for its card."""

import pytest
from django.test import Client

from billing.models.prices import Price
from pool.models import Event, Membership, Partition, Project, Quota, User
from portal.models import IdempotentCall
from tests import rows
from tests.portal.callers import caller
from tests.portal.first_run.calls import run, told


def made(answer):
    """The body of a 201."""
    assert answer.status_code == 201, answer.content
    return answer.json()


def refused(answer):
    """Which fields a 400 names."""
    assert answer.status_code == 400, answer.content
    return set(answer.json()["detail"])


def test_an_empty_installation_is_set_up_to_its_first_waiting_job(db, tmp_path):
    run(tmp_path, mode="empty")
    (entry,) = told(tmp_path)
    admin = caller(User.objects.get(username=entry["username"]))
    card = rows.node(cards=1, label="A100-80GB").cards.get()
    assert card.partition is None

    made(admin.post("organizations", {"slug": "acme", "name": "Acme", "currency": "CNY"}))
    made(admin.post("projects", {"organization": "acme", "slug": "vision", "name": "Vision"}))
    person = made(admin.post("users", {"username": "lin", "display_name": "Lin"}))
    role = {"user": "lin", "role": "member", "project": "vision"}
    made(admin.post("memberships", role))
    cards = {"slug": "a100", "name": "A100", "selector": {"labels": ["A100-80GB"]}}
    made(admin.post("partitions", cards | {"modes": ["whole", "mig"]}))
    level = {"project": "vision", "partition": "a100", "unit": "cards_micro"}
    made(admin.post("quotas", level | {"kind": "limit", "limit": 4_000_000}))
    made(admin.post("quotas", level | {"kind": "allowance", "limit": 1_000_000}))
    made(admin.post("prices", {"partition": "a100", "rate_micro": 9, "currency": "CNY"}))
    need = {"parts": 1, "whole": True}
    made(admin.post("templates", {"slug": "one-card", "name": "One card", "need": need}))

    browser = Client()
    assert browser.login(username="lin", password=person["password"])
    member = caller(User.objects.get(username="lin"))
    job = {"project": "vision", "template": "one-card", "command": ["true"]}
    waits = made(member.post("workloads", job | {"expected_seconds": 600}))
    assert (waits["state"], waits["entitlement"]) == ("queued", "allowance")
    card.refresh_from_db()
    assert card.partition.slug == "a100"


def test_a_password_is_told_once_and_never_kept_in_clear(world):
    key = {"Idempotency-Key": "one person"}
    first = world.admin.post("users", {"username": "lin"}, **key)
    again = world.admin.post("users", {"username": "lin"}, **key)
    plain = made(first)["password"]
    assert User.objects.get(username="lin").check_password(plain)
    assert (again.status_code, again.json()["password"]) == (201, None)
    assert plain not in str(IdempotentCall.objects.get().response)
    assert plain not in str(list(Event.objects.values_list("data", flat=True)))
    assert plain not in world.admin.get("users").content.decode()


def test_a_given_password_is_taken_and_not_told_back(world):
    given = {"username": "lin", "password": " Long enough 7 "}
    assert made(world.admin.post("users", given))["password"] is None
    assert User.objects.get(username="lin").check_password(" Long enough 7 ")
    robot = made(world.admin.post("users", {"username": "ci", "service_account": True}))
    assert robot["password"] is None
    assert not User.objects.get(username="ci").has_usable_password()


@pytest.mark.parametrize(
    ("noun", "given", "fields"),
    [
        ("organizations", {"slug": "A b", "name": "A"}, {"slug"}),
        ("organizations", {"slug": "vision-org", "name": "A"}, {"slug"}),
        ("organizations", {"slug": "a", "name": "A", "zone": "Mars"}, {"zone"}),
        ("organizations", {"slug": "a", "name": "A", "currency": "eu"}, {"currency"}),
        ("organizations", {"slug": "a", "name": "A", "nmae": "B"}, {"nmae"}),
        ("projects", {"organization": "none", "slug": "a", "name": "A"}, {"organization"}),
        ("projects", {"organization": "vision-org", "slug": "vision", "name": "A"}, {"slug"}),
        ("users", {"username": "a b"}, {"username"}),
        ("users", {"username": "VISION-lead"}, {"username"}),
        ("users", {"username": "a", "password": "123"}, {"password"}),
        ("users", {"username": "a", "email": "no"}, {"email"}),
        ("users", {"username": "a", "password": "x", "service_account": True}, {"password"}),
        ("users", {"username": "a", "project": "none"}, {"project"}),
        ("users", {"username": "a", "role": "org_admin"}, {"role"}),
        ("memberships", {"user": "none", "role": "member", "project": "vision"}, {"user"}),
        ("memberships", {"user": "root", "role": "org_admin", "project": "vision"}, {"role"}),
        ("memberships", {"user": "root", "role": "member"}, {"role"}),
        (
            "memberships",
            {"user": "root", "role": "lead", "project": "vision", "organization": "vision-org"},
            {"project"},
        ),
        ("partitions", {"slug": "b", "name": "B", "selector": {}}, {"modes"}),
        (
            "partitions",
            {"slug": "b", "name": "B", "selector": {"x": ["y"]}, "modes": ["whole"]},
            {"selector"},
        ),
        (
            "partitions",
            {"slug": "b", "name": "B", "selector": {"vendors": ["amd"]}, "modes": ["whole"]},
            {"selector"},
        ),
        ("quotas", {"project": None}, {"project"}),
        ("quotas", {"organization": "vision-org"}, {"project"}),
        ("quotas", {"limit": -1}, {"limit"}),
        ("quotas", {"limit": 2**60}, {"limit"}),
        ("quotas", {"partition": "none"}, {"partition"}),
        ("quotas", {"unit": "cpu_milli", "card_model": "A100-80GB"}, {"card_model"}),
        ("quotas", {"kind": "allowance", "user": "vision-lead"}, {"kind"}),
        ("templates", {"slug": "t", "name": "T", "need": {"parts": -1}}, {"parts"}),
        ("templates", {"slug": "t", "name": "T", "need": []}, {"need"}),
        ("templates", {"slug": "t", "name": "T"}, {"need"}),
        (
            "templates",
            {"slug": "t", "name": "T", "need": {"whole": True}, "priority": "critical"},
            {"priority"},
        ),
    ],
)
def test_what_cannot_be_is_refused_and_leaves_nothing(world, noun, given, fields):
    level = {"project": "vision", "partition": "a100", "unit": "cards_micro", "kind": "limit"}
    before = Event.objects.count()
    body = level | {"limit": 1} | given if noun == "quotas" else given
    assert refused(world.admin.post(noun, body)) == fields
    assert Event.objects.count() == before


def test_a_quota_that_is_set_again_is_the_same_row(world):
    level = {"project": "vision", "partition": "a100", "unit": "workloads", "kind": "limit"}
    first = made(world.admin.post("quotas", level | {"limit": 4}))
    second = made(world.admin.post("quotas", level | {"limit": 3}))
    assert (second["uid"], second["limit"]) == (first["uid"], 3)
    assert Quota.objects.get(uid=first["uid"]).limit_value == 3


def test_an_organizations_admin_stays_inside_it(world):
    admin, other = world.by("org_admin"), world.other
    level = {"partition": "a100", "unit": "cards_micro", "limit": 1}
    inside = level | {"project": "vision"}
    made(admin.post("quotas", inside | {"kind": "allowance"}))
    made(admin.post("quotas", inside | {"kind": "limit"}))
    assert admin.post("quotas", inside | {"kind": "entitlement"}).status_code == 403
    outside = level | {"project": other.project.slug, "kind": "allowance"}
    assert refused(admin.post("quotas", outside)) == {"project"}
    role = {"role": "member", "project": "vision"}
    assert refused(admin.post("memberships", role | {"user": "speech-member"})) == {"user"}
    platform = {"role": "platform_admin", "user": "vision-lead"}
    assert admin.post("memberships", platform).status_code == 403
    assert admin.post("users", {"username": "new"}).status_code == 403
    made(admin.post("users", {"username": "new", "project": "vision", "role": "viewer"}))
    assert Membership.objects.get(user__username="new").project == world.own.project


def test_someone_with_a_role_elsewhere_is_not_an_organizations_to_disable(world):
    person = world.own.owner
    admin = world.by("org_admin")
    Membership.objects.create(user=person, project=world.other.project, role="viewer")
    assert admin.post(f"users/{person.uid}/disable").status_code == 403
    answer = world.admin.post(f"users/{person.uid}/disable")
    assert (answer.status_code, answer.json()["active"]) == (200, False)
    assert world.by("member").get("whoami").status_code == 401
    assert world.admin.post(f"users/{person.uid}/enable").json()["active"] is True


def test_the_last_platform_admin_stays(world):
    row = Membership.objects.get(role="platform_admin")
    assert refused(world.admin("DELETE", f"memberships/{row.uid}")) == {"role"}
    assert refused(world.admin.post(f"users/{world.admin.user.uid}/disable")) == {"role"}


def test_an_organization_does_not_decide_who_is_asked_or_what_its_template_costs(world):
    admin = world.by("org_admin")
    words = {"organization": "vision-org", "slug": "own", "name": "Own", "need": {"whole": True}}
    for word, value in (("price_class", "free"), ("priority", "high"), ("approval", {})):
        assert admin.post("templates", words | {word: value}).status_code == 403
    own = made(admin.post("templates", words))
    longer = made(admin.post(f"templates/{own['uid']}/versions", {"max_seconds": 7200}))
    assert (longer["version"], longer["max_seconds"], longer["need"]) == (2, 7200, own["need"])
    cheaper = admin.post(f"templates/{own['uid']}/versions", {"price_class": "free"})
    assert cheaper.status_code == 403
    off = admin.post(f"templates/{own['uid']}/deactivate", {"reason": "old"}).json()
    assert (off["active"], off["inactive_reason"]) == (False, "old")
    assert admin.post(f"templates/{own['uid']}/activate").json()["active"] is True
    assert world.by("member").post(f"templates/{own['uid']}/activate").status_code == 403
    assert world.by("stranger").post(f"templates/{own['uid']}/activate").status_code == 404


def test_a_suspended_project_says_why_and_resumes(world):
    path = f"projects/{world.own.project.uid}"
    answer = world.admin.post(f"{path}/suspend", {"reason": "unpaid"}).json()
    assert (answer["suspended"], answer["suspended_reason"]) == (True, "unpaid")
    assert Project.objects.get(slug="vision").suspended
    assert refused(world.admin.post(f"{path}/suspend")) == {"reason"}
    assert world.admin.post(f"{path}/resume").json()["suspended"] is False


def test_a_partition_is_changed_word_by_word(world):
    given = {"rank": 7, "open_to_all": False, "organizations": ["vision-org"]}
    path = f"partitions/{world.partition.uid}"
    assert world.admin("PATCH", path, given).json()["rank"] == 7
    row = Partition.objects.get(pk=world.partition.pk)
    assert [one.slug for one in row.organizations.all()] == ["vision-org"]
    assert row.modes == world.partition.modes
    assert world.by("member").get(path).status_code == 200
    assert world.by("stranger").get(path).status_code == 404
    assert refused(world.admin("PATCH", path, {"slug": "b"})) == {"slug"}
    assert refused(world.admin("PATCH", path, {"organizations": ["none"]})) == {"organization"}
    assert Price.objects.filter(partition=row).exists()

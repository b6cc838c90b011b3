"""Idle rules with a look at who is touched, nights with their price, hogs with what can be done."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import localtime

from billing.models.prices import Price
from pool.clock import now
from pool.models import IdleRule, Membership, NightKeep, Notice, Partition
from tests import rows
from tests.field.notebooks import Desk

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
RULE = {
    "idle_minutes": "20",
    "warn_minutes": "10, 2",
    "keeps": "1",
    "action": "reclaim",
    "busy_counts": "on",
    "cpu_counts": "on",
    "quiet_from": "22:00",
    "quiet_until": "07:00",
    "reason": "cards are short",
}


class House:
    """One notebook that runs, and the people around it."""

    def __init__(self):
        self.desk = Desk.laid()
        self.work, self.project = self.desk.work, self.desk.work.project
        Membership.objects.get_or_create(user=self.work.owner, project=self.project, role="member")
        admin = rows.user(username="olga")
        Membership.objects.create(
            user=admin, organization=self.project.organization, role="org_admin"
        )
        self.people = {
            "owner": self.work.owner,
            "lead": rows.member(self.project, role="lead"),
            "member": rows.member(self.project, role="member"),
            "org_admin": admin,
        }
        assert self.desk.turn().state == "running"
        self.desk.judge()

    def by(self, role):
        client = Client()
        client.force_login(self.people[role])
        return client


@pytest.fixture
def house():
    return House()


def test_an_admin_of_an_organization_sets_a_rule_after_a_look_at_who_is_touched(house):
    olga = house.by("org_admin")
    assert b"everything without a rule" in olga.get("/idle-rules/").content
    words = RULE | {"project": house.project.slug}
    looked = olga.post("/idle-rules/judged/", words, headers=HTMX).content.decode()
    assert house.work.name in looked
    assert not IdleRule.objects.exists()
    assert olga.post("/idle-rules/new/", words).status_code == 303
    rule = IdleRule.objects.get()
    assert (rule.idle_seconds, rule.warn_minutes, rule.keeps) == (1200, [10, 2], 1)
    assert (rule.quiet_from, rule.quiet_until) == (1320, 420)
    listed = olga.get("/idle-rules/").content.decode()
    assert "22:00–07:00" in listed
    assert olga.post(f"/idle-rules/{rule.uid}/", RULE | {"idle_minutes": "30"}).status_code == 303
    rule.refresh_from_db()
    assert rule.idle_seconds == 1800
    assert olga.post(f"/idle-rules/{rule.uid}/remove/").status_code == 303
    assert not IdleRule.objects.exists()


def test_wrong_words_are_told_beside_their_field_and_nothing_is_set(house):
    words = RULE | {"project": house.project.slug, "warn_minutes": "30", "quiet_until": ""}
    answer = house.by("org_admin").post("/idle-rules/new/", words)
    assert answer.status_code == 422
    said = answer.content.decode()
    assert "before the time is over" in said
    assert "a beginning and an end" in said
    assert not IdleRule.objects.exists()


def test_only_platform_admins_set_rules_for_all_and_members_set_none(house):
    assert house.by("org_admin").post("/idle-rules/new/", RULE).status_code == 422
    member = house.by("member")
    assert member.get("/idle-rules/").status_code == 200
    assert member.get("/idle-rules/new/").status_code == 403
    rule = IdleRule.objects.create(idle_seconds=3600, warn_minutes=[2])
    assert house.by("org_admin").post(f"/idle-rules/{rule.uid}/", RULE).status_code == 403


def test_names_of_another_tenants_templates_and_partitions_are_nobody_elses(house):
    other, mine = rows.organization(), rows.template(kind="notebook").template
    theirs = rows.template(kind="notebook").template
    theirs.organization, theirs.slug, theirs.name = other, "their-lab", "Their lab"
    theirs.save()
    kept = rows.partition(slug="their-cards", name="Their cards", open_to_all=False)
    kept.organizations.add(other)
    rule = IdleRule.objects.create(idle_seconds=3600, warn_minutes=[2], template=theirs)
    IdleRule.objects.create(idle_seconds=3600, warn_minutes=[2], partition=kept)
    olga = house.by("org_admin")
    form = olga.get("/idle-rules/new/").content.decode()
    assert mine.slug in form
    for path in ("/idle-rules/new/", "/idle-rules/", "/api/v1/idle-rules"):
        shown = olga.get(path).content.decode()
        assert "their-lab" not in shown and "their-cards" not in shown
    assert olga.get(f"/idle-rules/{rule.uid}/").status_code == 404
    scopes = ({"template": "their-lab"}, {"template": "nothing"}, {"partition": "their-cards"})
    for scope in scopes:
        assert olga.post("/idle-rules/new/", RULE | {"project": house.project.slug} | scope)
        body = {"idle_seconds": 3600, "project": house.project.slug} | scope
        said = olga.post("/api/v1/idle-rules", body, content_type="application/json")
        assert said.status_code == 400
    assert IdleRule.objects.count() == 2


def test_a_null_character_in_free_words_breaks_nothing(house):
    rule = IdleRule.objects.create(idle_seconds=3600, warn_minutes=[2], project=house.project)
    olga, lead = house.by("org_admin"), house.by("lead")
    assert olga.post(f"/idle-rules/{rule.uid}/remove/", {"reason": "a\0b"}).status_code == 303
    here = f"/workloads/{house.work.uid}/nudge/"
    assert lead.post(here, {"words": "a\0b"}, headers=HTMX).status_code == 204
    asked = {"until": localtime(now() + timedelta(hours=9)), "reason": "long fit"}
    asked["until"] = asked["until"].strftime("%Y-%m-%dT%H:%M")
    night = f"/notebooks/{house.work.uid}/night/"
    assert house.by("owner").post(night, asked).status_code == 303
    assert lead.post(f"{night}granted/", {"words": "a\0b"}, headers=HTMX).status_code < 400
    assert NightKeep.objects.get().answer == "granted"


def test_a_night_is_asked_with_its_price_and_granted_by_somebody_else(house):
    Price.objects.create(
        partition=Partition.objects.get(),
        currency="EUR",
        rate_micro=1_000_000,
        valid=(now() - timedelta(days=1), None),
    )
    owner, lead = house.by("owner"), house.by("lead")
    here = f"/notebooks/{house.work.uid}/night/"
    assert b"data-price" in owner.get(here).content
    until = localtime(now() + timedelta(hours=10)).strftime("%Y-%m-%dT%H:%M")
    priced = owner.post(f"{here}priced/", {"until": until}, headers=HTMX)
    assert b"per hour" in priced.content
    answer = owner.post(here, {"until": until, "reason": "a long run"})
    assert answer.status_code == 303, answer.content
    wish = NightKeep.objects.get()
    assert wish.weights["cost"] >= 1
    assert Notice.objects.filter(user=house.people["lead"], kind="to_decide").exists()
    assert b"Grant" in lead.get(f"/notebooks/{house.work.uid}/").content
    assert owner.post(f"{here}granted/", headers=HTMX).status_code == 403
    assert lead.post(f"{here}granted/", headers=HTMX).status_code == 204
    assert b"It is left alone until" in owner.get(f"/notebooks/{house.work.uid}/").content
    assert lead.post(f"{here}granted/", headers=HTMX).status_code == 409


def test_hogs_are_listed_in_order_and_their_owners_asked(house):
    empty = house.by("member").get("/hogs/").content
    assert b"Nobody holds memory for nothing" in empty
    house.desk.memory = 6000.0
    for _ in range(14):
        house.desk.read()
    lead = house.by("lead")
    for order in ("memory", "share", "quiet", "cost", "owner", "nonsense"):
        shown = lead.get(f"/hogs/?sort={order}").content.decode()
        assert f'data-hog="{house.work.uid}"' in shown
    assert "Ask the owner" in shown
    assert "Ask the owner" not in house.by("member").get("/hogs/").content.decode()
    here = f"/workloads/{house.work.uid}/nudge/"
    assert lead.post(here, headers=HTMX).status_code == 204
    assert house.by("member").post(here, headers=HTMX).status_code == 403
    assert Notice.objects.filter(user=house.work.owner, key__startswith="nudge:").count() == 1


def queries(client, path):
    with CaptureQueriesContext(connection) as seen:
        assert client.get(path).status_code == 200
    return len(seen)


def test_the_list_costs_the_same_queries_for_one_notebook_and_for_many(house):
    owner = house.by("owner")
    queries(owner, "/notebooks/")
    one = queries(owner, "/notebooks/")
    for number in range(6):
        rows.workload(
            kind="notebook",
            into=house.project,
            owner=house.work.owner,
            version=house.work.template_version,
            name=f"nb-{number}",
        )
    assert queries(owner, "/notebooks/") == one
    assert b"Cost so far" in owner.get("/notebooks/").content

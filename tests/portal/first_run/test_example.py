"""The example installation: seeded once for all of these tests, rolled back after the last."""

import pytest
from django.db import transaction

from billing.models.prices import Price
from nodeagent.drivers.simulated.fleet import read_fleet
from pool.lifecycle.roles import Role
from pool.models import (
    Event,
    Installation,
    JoinToken,
    Membership,
    Organization,
    Partition,
    Project,
    Quota,
    Template,
    User,
)
from pool.services.workloads import workload_submit
from portal.access.tokens import token_find
from portal.first_run.people import PEOPLE
from portal.first_run.templates import TEMPLATES
from tests import factories as make
from tests.portal.first_run.calls import run, told


@pytest.fixture(scope="module")
def example(django_db_setup, django_db_blocker, tmp_path_factory):
    """The data folder of an example installation with the default fleet."""
    folder = tmp_path_factory.mktemp("example")
    with django_db_blocker.unblock(), transaction.atomic():
        run(folder)
        yield folder
        transaction.set_rollback(True)


@pytest.fixture
def seeded(example, db):
    """The same, with the test's own changes undone after it."""
    return example


def counted():
    nouns = (User, Membership, Organization, Project, Partition, Quota, Template, Price, JoinToken)
    return [noun.objects.count() for noun in (*nouns, Event)]


def test_the_example_has_one_person_of_each_role_for_its_project(seeded):
    entries = [one for one in told(seeded) if one["project"] == "vision"]
    assert sorted(one["role"] for one in entries) == sorted(Role)
    assert {one["organization"] for one in entries} == {"aurora"}
    assert len(told(seeded)) == len(PEOPLE) == User.objects.count()


def test_every_password_and_token_of_the_example_works_and_is_random(seeded):
    entries = told(seeded)
    for one in entries:
        user = User.objects.get(username=one["username"])
        assert user.check_password(one["password"])
        assert token_find(one["token"]).user == user
    assert len({one["password"] for one in entries}) == len(entries)


def test_passwords_are_for_their_owner_alone(seeded):
    private = [seeded / "credentials.json", seeded / "run" / "fleet.json"]
    private += (seeded / "run" / "join").glob("*.token")
    assert {file.stat().st_mode & 0o777 for file in private} == {0o600}


def test_roles_are_held_where_they_belong(seeded):
    held = {
        row.user.username: (row.role, row.organization, row.project)
        for row in Membership.objects.select_related("user", "organization", "project")
    }
    vision = Project.objects.get(slug="vision")
    assert held["lena"] == ("lead", None, vision)
    assert held["olga"] == ("org_admin", vision.organization, None)
    assert held["bo"] == ("billing_reader", vision.organization, None)
    assert held["pat"] == ("platform_admin", None, None)


def test_everything_of_the_example_is_marked(seeded):
    assert Installation.objects.get().example
    for noun in (Organization, Project, User, Partition):
        assert not noun.objects.filter(example=False).exists()


def test_projects_have_accounts_and_trust_groups_of_their_own(seeded):
    rows = Project.objects.order_by("uid_base")
    assert len({row.trust_group_id for row in rows}) == 3
    bases = [row.uid_base for row in rows]
    assert [b - a for a, b in zip(bases, bases[1:], strict=False)] == [10_000, 10_000]


def test_every_card_of_the_default_fleet_falls_into_one_partition(seeded):
    for node in read_fleet(seeded / "fleet.yaml"):
        models = [(card.label, 1) for card in node.cards]
        for card in make.node(node.name, models).cards.all():
            assert card.partition is not None
    assert sorted(Partition.objects.values_list("slug", flat=True)) == [
        "a100",
        "amd",
        "ascend",
        "graphics",
        "h100",
    ]


def test_limits_allowances_and_prices_are_there_for_every_kind_of_card(seeded):
    vision = Project.objects.get(slug="vision")
    rows = Quota.objects.filter(project=vision, unit="cards_micro")
    held = {(row.card_model, row.kind): row.limit_value for row in rows}
    assert held["A100-80GB", "limit"] == 8_000_000
    assert held["A100-80GB", "entitlement"] == 24_000_000
    assert held["A100-80GB", "allowance"] == 2_000_000
    assert held["RTX-4090", "allowance"] == 1_000_000
    assert len({key[0] for key in held}) == 6
    assert Price.objects.filter(currency="EUR").exists()


def test_the_example_templates_run_inside_the_allowance(seeded):
    for node in read_fleet(seeded / "fleet.yaml"):
        make.node(node.name, [(card.label, 1) for card in node.cards], cores=node.cpus)
    vision = Project.objects.get(slug="vision")
    mei = User.objects.get(username="mei")
    states = {}
    for template in Template.objects.filter(active=True):
        made = workload_submit(
            user=mei,
            project=vision,
            template_version=template.versions.get(),
            command=["true"],
            actor=make.by(mei),
            when_full="wait",
        )
        states[template.slug] = made.state
    asked = {slug for slug, state in states.items() if state == "awaiting_approval"}
    assert asked == {"train-four-linked", "pretrain-node", "hpc-node"}
    assert set(states.values()) == {"awaiting_approval", "queued"}


def test_a_template_without_a_runner_is_shown_with_its_reason(seeded):
    inactive = Template.objects.filter(active=False)
    assert {one.slug for one in inactive} == {"cloud-desktop", "inference-autoscaled"}
    assert all(one.inactive_reason for one in inactive)


def test_templates_speak_both_languages():
    for one in TEMPLATES:
        assert one["name"].isascii()
        assert all(one[word] and not one[word].isascii() for word in ("name_zh", "description_zh"))


def test_the_second_run_changes_nothing(seeded):
    before, files = counted(), (told(seeded), told(seeded, "run/fleet.json"))
    tokens = {f.name: f.read_text() for f in (seeded / "run" / "join").iterdir()}
    run(seeded)
    run(seeded, mode="empty")
    assert counted() == before
    assert (told(seeded), told(seeded, "run/fleet.json")) == files
    assert {f.name: f.read_text() for f in (seeded / "run" / "join").iterdir()} == tokens


def test_the_fleet_file_names_every_node_with_a_token_that_can_be_used(seeded):
    laid = told(seeded, "run/fleet.json")
    assert laid["fleet"] == str(seeded / "fleet.yaml")
    assert [one["name"] for one in laid["nodes"]] == [
        node.name for node in read_fleet(seeded / "fleet.yaml")
    ]
    assert JoinToken.objects.filter(used_at=None).count() == len(laid["nodes"])
    assert not any(one["observe"] for one in laid["nodes"])


def test_a_token_that_has_expired_is_issued_anew_and_a_node_that_joined_needs_none(seeded):
    JoinToken.objects.update(expires_at="2020-01-01T00:00:00Z")
    make.node("sim-a100-1", [("A100-80GB", 1)])
    run(seeded)
    fresh = JoinToken.objects.filter(expires_at__year__gt=2020)
    assert sorted(fresh.values_list("node_name", flat=True)) == [
        "sim-ada-1",
        "sim-amd-1",
        "sim-ascend-1",
        "sim-h100-1",
    ]

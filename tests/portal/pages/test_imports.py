"""Files of the configuration: what they would do is shown first; written ones load unchanged."""

import io
from dataclasses import replace

import pytest
import yaml
from django.core.management import call_command
from django.db import DataError, IntegrityError

from pool.errors import Stale
from pool.events import SYSTEM
from pool.models import (
    ApprovalPolicy,
    Event,
    GroupRole,
    Organization,
    Project,
    Quota,
    Registry,
    Storage,
    Template,
    User,
)
from pool.services.imports.load import load, written
from portal.configuration import SECTIONS

FILE = """\
organizations:
- slug: north
  name: North
  zone: Europe/Berlin
users:
- username: ada
  email: ada@example.org
projects:
- slug: tides
  organization: north
  name: Tides
  cost_centre: CC-7
memberships:
- {user: ada, role: lead, project: tides}
quotas:
- {project: tides, partition: a100, unit: cards_micro, kind: limit, limit: 3000000}
"""


def loaded(text, **words):
    return load(text, shape=words.pop("shape", "yaml"), sections=SECTIONS, actor=SYSTEM, **words)


def test_a_file_is_tried_loaded_and_changes_nothing_the_second_time(world):
    tried = loaded(FILE)
    assert (tried.wrong, tried.count("new"), tried.kept) == ([], 5, False)
    assert not User.objects.filter(username="ada").exists()
    assert loaded(FILE, keep=True).kept
    assert Project.objects.get(slug="tides").cost_centre == "CC-7"
    assert Quota.objects.get(project__slug="tides").limit_value == 3_000_000
    assert not User.objects.get(username="ada").has_usable_password()
    events = Event.objects.count()
    again = loaded(FILE, keep=True)
    assert (again.count("same"), again.count("changed"), again.kept) == (5, 0, True)
    assert Event.objects.count() == events


def test_what_was_written_loads_without_a_change(world):
    text = written(shape="yaml", sections=SECTIONS)
    assert set(yaml.safe_load(text)) == {one.name for one in SECTIONS}
    found = loaded(text)
    assert (found.wrong, [one for one in found.steps if one.what != "same"]) == ([], [])


@pytest.mark.parametrize("section", [one.name for one in SECTIONS])
def test_every_section_goes_through_a_csv_and_back(world, section):
    chosen = [one for one in SECTIONS if one.name == section]
    found = loaded(written(shape="csv", sections=chosen), shape="csv", section=section)
    assert (found.wrong, [one for one in found.steps if one.what != "same"]) == ([], [])


REST_OF_IT = """\
registries:
- {prefix: registry.example.org/team, note: ours}
environments:
- slug: torch-next
  name: Torch, next
  kind: image
  reference: registry.example.org/team/torch
  digest: sha256:%s
  instruction_set: cuda
storage:
- {name: sets, kind: dataset, path: /srv/sets, project: vision, mode: ro}
templates:
- slug: of-vision
  name: Of vision alone
  environment: torch-next
  need: {parts: 1, whole: true}
  projects: [vision]
  active: false
  inactive_reason: not before the new cards
groups:
- {directory: ldap, group: cn=vision, role: member, project: vision}
approval_policies:
- organization: vision-org
  steps: [{role: lead}, {role: org_admin, above: {cards: 4}}]
  answer_hours: 6
""" % ("0" * 64)


def test_the_catalogue_groups_policies_and_who_may_use_a_template_are_in_the_file(world):
    tried = loaded(REST_OF_IT)
    assert (tried.wrong, tried.count("new")) == ([], 6)
    assert not Registry.objects.filter(note="ours").exists()
    assert loaded(REST_OF_IT, keep=True).kept
    template = Template.objects.get(slug="of-vision")
    assert [one.slug for one in template.projects.all()] == ["vision"]
    assert (template.active, template.inactive_reason) == (False, "not before the new cards")
    policy = ApprovalPolicy.objects.get(organization__slug="vision-org")
    assert (policy.answer_hours, policy.steps[1]["above"]) == (6, {"cards": 4})
    assert Storage.objects.get(name="sets").project.slug == "vision"
    assert GroupRole.objects.filter(group="cn=vision").count() == 1
    events = Event.objects.count()
    again = loaded(REST_OF_IT, keep=True)
    assert (again.count("same"), again.count("changed")) == (6, 0)
    assert Event.objects.count() == events
    whole = written(shape="yaml", sections=SECTIONS)
    assert "projects:" in whole and "of-vision" in whole
    assert loaded(whole).count("same") == len(loaded(whole).steps)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("environments:\n- {slug: torch-next, reference: other.example.org/x}", "reference"),
        ("storage:\n- {name: sets, project: vision, path: /elsewhere}", "path"),
        ("approval_policies:\n- {organization: vision-org, steps: [{role: king}]}", "approval"),
        ("groups:\n- {directory: nis, group: a, role: member, project: vision}", "directory"),
        ("templates:\n- {slug: of-vision, active: false, inactive_reason: ''}", "reason"),
    ],
)
def test_what_stays_for_good_and_what_is_none_is_told_by_its_line(world, text, word):
    assert loaded(REST_OF_IT, keep=True).kept
    found = loaded(text)
    assert [(one.line, one.field) for one in found.wrong] == [(2, word)] or word in str(found.wrong)
    assert found.wrong and not found.kept


def test_wrong_lines_are_named_and_nothing_of_the_file_is_kept(world):
    text = FILE.replace("organization: north", "organization: nowhere").replace(
        "limit: 3000000", "limit: -3"
    )
    found = loaded(text, keep=True)
    assert not found.kept
    assert not Organization.objects.filter(slug="north").exists()
    told = {(one.line, one.section, one.field) for one in found.wrong}
    assert (9, "projects", "organization") in told
    assert (14, "memberships", "project") in told
    assert all(one.line for one in found.wrong)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("users: &a [x]\nprojects: *a", 2, "Aliases"),
        ("users: !!python/object/apply:os.system ['true']", 1, "Tags"),
        ("users:\n- {username: [", 2, ""),
        ("[" * 100, 1, "deeply"),
        ("- a", 1, "Sections"),
        ("users: ada", 1, "list"),
        ("users:\n- ada", 2, "Names"),
        ("gnomes:\n- {a: 1}", 2, "no such section"),
        ("users:\n- {username: ada, shoe: 43}", 2, "Unknown"),
        ("users:\n- {username: ada}\n- {username: ada}", 3, "already in line 2"),
        ("users:\n- {username: 'a\0b'}", 0, "signs"),
        ("x: " + "y" * (4 * 1024 * 1024), 0, "MiB"),
    ],
)
def test_hostile_and_broken_files_are_refused_with_their_line(world, text, line, said):
    found = loaded(text, keep=True)
    assert not found.kept
    assert found.wrong[0].line == line
    assert said in found.wrong[0].text


@pytest.mark.parametrize(
    ("shape", "section", "text"),
    [
        ("yaml", "", "projects:\n- {slug: tides, organization: acme, most_live: {}}"),
        ("yaml", "", "projects:\n- {slug: tides, organization: acme, most_live: true}"),
        ("yaml", "", "partitions:\n- {slug: new, modes: [[a]]}"),
        ("yaml", "", "partitions:\n- {slug: new, lending: [1]}"),
        ("csv", "templates", "slug,need\nx," + "[" * 60_000),
        ("yaml", "", "quotas:\n- {project: tides, partition: a100, unit: workloads, limit: null}"),
    ],
)
def test_a_word_of_the_wrong_kind_is_a_wrong_line(world, shape, section, text):
    found = loaded(text, keep=True, shape=shape, section=section)
    assert not found.kept
    assert found.wrong[0].line == 2


def test_a_file_cannot_change_a_currency_in_which_amounts_exist(world):
    home = world.own.organization
    text = f"organizations:\n- {{slug: {home.slug}, currency: USD}}"
    refused = loaded(text, keep=True)
    assert not refused.kept
    assert [(one.line, one.field) for one in refused.wrong] == [(2, "currency")]
    home.refresh_from_db()
    assert home.currency == "EUR"


def test_a_section_changes_only_so_many_rows_at_once(world, monkeypatch):
    few = [replace(one, most=1) if one.name == "quotas" else one for one in SECTIONS]
    text = FILE + "- {project: tides, partition: a100, unit: workloads, kind: limit, limit: 3}"
    found = load(text, shape="yaml", sections=few, actor=SYSTEM, keep=True)
    assert not found.kept
    assert "split the file" in found.wrong[0].text


def test_a_cell_that_a_spreadsheet_would_run_is_written_harmless_and_read_as_it_was(world):
    Organization.objects.filter(pk=world.own.organization.pk).update(name="=cmd()")
    chosen = [one for one in SECTIONS if one.name == "organizations"]
    text = written(shape="csv", sections=chosen)
    assert "'=cmd()" in text
    found = loaded(text, shape="csv", section="organizations")
    assert found.count("same") == len(found.steps)


def test_the_page_shows_the_difference_before_it_loads(visit, world):
    admin = visit("platform_admin")
    assert admin.open("/configuration/").status_code == 200
    page = admin.send("/configuration/", {"text": FILE, "shape": "yaml"}).content.decode()
    assert "5 new, 0 changed, 0 the same." in page and "Load it" in page
    assert not Organization.objects.filter(slug="north").exists()
    answer = admin.send("/configuration/", {"text": FILE, "shape": "yaml", "keep": "yes"})
    assert answer.status_code == 303
    assert Organization.objects.filter(slug="north").exists()
    upload = io.BytesIO(b"username,email\nada,ada@example.net\n")
    upload.name = "people.csv"
    page = admin.send("/configuration/", {"file": upload, "section": "users"}).content.decode()
    assert "ada@example.org → <strong>ada@example.net" in page
    wrong = admin.send("/configuration/", {"text": "users:\n- {username: ''}"})
    assert wrong.status_code == 422 and "Line 2" in wrong.content.decode()
    for role in ("org_admin", "lead", "member", "stranger"):
        assert visit(role).open("/configuration/").status_code == 403
        assert visit(role).open("/configuration/file/").status_code == 403
        assert visit(role).send("/configuration/", {"text": FILE}).status_code == 403


def test_files_are_downloaded_section_by_section(visit, world):
    admin = visit("platform_admin")
    answer = admin.open("/configuration/file/?sections=quotas&format=csv")
    assert answer["Content-Type"].startswith("text/csv")
    assert answer.content.decode().startswith("organization,project,user,partition")
    assert "organizations:" in admin.open("/configuration/file/").content.decode()
    assert admin.open("/configuration/file/?format=csv").status_code == 404
    assert admin.open("/configuration/file/?sections=gnomes").status_code == 404


def test_the_command_writes_tries_and_loads(world, tmp_path, capsys):
    file = tmp_path / "site.yaml"
    call_command("configuration", "write")
    file.write_text(capsys.readouterr().out)
    call_command("configuration", "load", str(file))
    assert "0 new, 0 changed" in capsys.readouterr().out
    file.write_text(FILE)
    call_command("configuration", "try", str(file))
    assert "nothing is loaded" in capsys.readouterr().out
    file.write_text(FILE.replace("a100", "b200"))
    with pytest.raises(SystemExit):
        call_command("configuration", "load", str(file))
    assert "line 16: quotas partition" in capsys.readouterr().err


@pytest.mark.parametrize("odd", [IntegrityError("twice"), DataError("too long")])
def test_a_row_that_the_database_does_not_take_is_told_by_its_line(world, monkeypatch, odd):
    def taken(_words, _actor):
        raise odd

    sections = [replace(one, load=taken) if one.name == "projects" else one for one in SECTIONS]
    found = load(FILE, shape="yaml", sections=sections, actor=SYSTEM, keep=True)
    (wrong,) = [one for one in found.wrong if one.section == "projects"]
    assert wrong.line == 9 and "database" in wrong.text and not found.kept


def test_a_round_that_does_not_end_is_told_as_that(world, monkeypatch):
    def busy(_rows, _actor):
        raise Stale

    sections = [replace(one, together=busy) if one.together else one for one in SECTIONS]
    found = load(FILE, shape="yaml", sections=sections, actor=SYSTEM, keep=True)
    assert [one.text[:7] for one in found.wrong] == ["A round"]
    assert not User.objects.filter(username="ada").exists()

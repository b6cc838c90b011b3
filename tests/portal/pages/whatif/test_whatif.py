"""What-ifs at their pages: asked, followed, compared, shared, taken away; files line by line."""

import json
from datetime import timedelta
from html.parser import HTMLParser

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from billing.models import Contract
from pool.clock import now
from pool.cycle.whatif.run import studies_due
from pool.models import Membership, Study, Template, TemplateVersion, Trace
from pool.replay.whatif.figures import Tally
from pool.rules.whatif.changes import changes_from
from pool.selectors.memberships import standing
from pool.selectors.whatif.studies import known_for
from pool.services.whatif.runs import study_take
from tests import rows
from tests.pool.cycle.whatif.test_run import FILE, ran_once

pytestmark = [pytest.mark.django_db, pytest.mark.handmade_books]


FRESH_MODELS = ("L40S", "H100-80GB", "H200", "T4")


def _upload(visitor, text=FILE, shape="csv", name="march"):
    file = SimpleUploadedFile("march.csv", text.encode())
    return visitor.client.post("/records/", {"file": file, "shape": shape, "name": name})


def _asked(visitor, record, **said):
    words = {"record": record.uid, "name": "eight", "cards:a100|A100-80GB": "8"} | said
    return visitor.client.post("/what-ifs/new/", words)


@pytest.fixture
def admin(visit):
    return visit("org_admin")


@pytest.fixture
def record(admin):
    assert _upload(admin).status_code == 303
    return Trace.objects.get(source="file")


def test_nothing_yet_says_what_it_is_for(admin):
    text = admin.client.get("/what-ifs/?mine=1&state=done").content.decode()
    assert "Nothing matches" in text
    Study.objects.all().delete()
    assert "Nothing was asked yet" in admin.client.get("/what-ifs/").content.decode()


@pytest.mark.parametrize("role", ["lead", "member", "viewer", "billing_reader", "stranger"])
def test_who_plans_nothing_is_refused(visit, role):
    for path in ("/what-ifs/", "/what-ifs/new/", "/records/"):
        assert visit(role).client.get(path).status_code == 403


def test_a_file_is_kept_and_replayed_and_compared(admin, record):
    page = admin.client.get(f"/what-ifs/new/?record={record.uid}").content.decode()
    assert "speech" in page and "40" in page
    answer = _asked(admin, record, **{"limit:speech": "2", "class:vision": "high"})
    assert answer.status_code == 303
    study = Study.objects.get(name="eight")
    waiting = admin.client.get(answer["Location"]).content.decode()
    assert "every 1s" in waiting and "Cancel" in waiting
    studies_due()
    study.refresh_from_db()
    assert study.state == "done", study.state_reason
    text = admin.client.get(answer["Location"]).content.decode()
    for word in ("Who gains, who loses", "speech: at most 2 cards", "a100: 8 × A100-80GB"):
        assert word in text, word
    assert "every 1s" not in text
    with CaptureQueriesContext(connection) as asked:
        listed = admin.client.get("/what-ifs/").content.decode()
    assert "eight" in listed and listed.count("before ") >= 1
    read = " ".join(one["sql"] for one in asked)
    assert '"baseline" -> ' in read and '"baseline",' not in read, "totals, and no figures else"
    lines = admin.client.get(f"/what-ifs/{study.uid}/file.csv").content.decode().splitlines()
    assert len(lines) == 5 and lines[0].startswith("what_if,team,outcome,side,jobs")


def test_wrong_lines_are_told_by_their_number_and_nothing_is_kept(admin):
    before = Trace.objects.count()
    answer = _upload(admin, "submit_s,duration_s,gpus\n1,2,3\nx,<b>,0.5\n")
    text = answer.content.decode()
    assert answer.status_code == 422 and "Line 3" in text and "<b>" not in text
    assert _upload(admin, "\0\0").status_code == 422
    file = SimpleUploadedFile("x.csv", b"\xff\xfe\xff")
    answer = admin.client.post("/records/", {"file": file, "shape": "csv", "name": "x"})
    assert answer.status_code == 422 and "UTF-8" in answer.content.decode()
    assert Trace.objects.count() == before


def test_what_is_typed_wrong_stays_in_the_form_and_makes_nothing(admin, record):
    answer = _asked(admin, record, **{"cards:a100|A100-80GB": "many", "limit:speech": "-7"})
    text = answer.content.decode()
    assert answer.status_code == 422 and "cards.1.count" in text and "quotas.1.cards" in text
    assert 'value="-7"' in text
    today = now().date()
    said = {"since": today.isoformat(), "until": (today - timedelta(days=9)).isoformat()}
    answer = admin.client.post("/what-ifs/new/", said | {"name": "x", "number:heads": "2"})
    assert answer.status_code == 422 and not Study.objects.filter(name="x").exists()


def test_a_copy_begins_with_the_same_changes(admin, record):
    _asked(
        admin, record, **{"fresh_place:0": "a100", "fresh_model:0": "L40S", "fresh_count:0": "4"}
    )
    study = Study.objects.get(name="eight")
    text = admin.client.get(f"/what-ifs/new/?copy={study.uid}").content.decode()
    assert "eight (copy)" in text and record.uid in text and 'value="8"' in text


def test_a_running_one_is_cancelled_and_a_finished_one_deleted(admin, record):
    _asked(admin, record)
    study = Study.objects.get(name="eight")
    Study.objects.exclude(pk=study.pk).delete()
    study_take()
    page = f"/what-ifs/{study.uid}/"
    assert admin.client.post(page + "delete/").status_code == 303
    assert Study.objects.filter(pk=study.pk).exists(), "it runs: it is not deleted"
    assert admin.client.post(page + "cancel/").status_code == 303
    study.refresh_from_db()
    assert study.state == "cancelled"
    assert admin.client.post(page + "delete/").status_code == 303
    assert not Study.objects.filter(pk=study.pk).exists()
    assert admin.client.post(f"/records/{record.uid}/delete/").status_code == 303
    assert not Trace.objects.filter(pk=record.pk).exists()


def test_sharing_opens_it_to_the_organization_and_only_the_platform_to_all(
    admin, visit, world, record
):
    _asked(admin, record)
    study = Study.objects.get(name="eight")
    change = f"/what-ifs/{study.uid}/change/"
    said = {"name": "eight", "comment": "for the board", "share": "organization"}
    assert admin.client.post(change, said).status_code == 303
    study.refresh_from_db()
    assert (study.share, study.comment) == ("organization", "for the board")
    assert admin.client.post(change, said | {"share": "platform"}).status_code == 403
    root = visit("platform_admin")
    assert root.client.post(change, said | {"share": "platform"}).status_code == 303


def test_teams_of_others_are_neither_named_nor_counted_in_money(admin, world):
    nothing = Tally().told()
    sides = {"total": nothing, "models": [], "spent": [], "picture": {}, "digest": "0" * 64}
    teams = {name: nothing | {"jobs": 1} for name in ("vision", "speech")}
    study = world.own.study
    Study.objects.filter(pk=study.pk).update(
        state="done", baseline=sides | {"teams": teams}, result=sides | {"teams": teams}
    )
    text = admin.client.get(f"/what-ifs/{study.uid}/").content.decode()
    assert "speech" not in text and "1 team of other organizations is not shown" in text
    assert "Cost at today" not in text


def test_money_is_not_told_where_only_the_use_is_the_readers(admin, world):
    other = world.other
    Membership.objects.create(user=admin.user, project=other.project, role="member")
    Contract.objects.all().delete()
    Contract.objects.create(
        organization=other.organization, since=now().date().replace(day=1), showback=True
    )
    nothing, place = Tally().told(), world.partition.pk
    spent = [[name, place, "A100-80GB", "whole", "standard", 3600] for name in ("vision", "speech")]
    teams = {name: nothing | {"jobs": 1} for name in ("vision", "speech")}
    side = {"total": nothing, "models": [], "picture": {}, "digest": "0" * 64}
    side |= {"spent": spent, "teams": teams}
    study = world.own.study
    Study.objects.filter(pk=study.pk).update(state="done", baseline=side, result=side)
    text = admin.client.get(f"/what-ifs/{study.uid}/file.csv").content.decode()
    costs = {line.split(",")[1]: line.split(",")[-2] for line in text.splitlines()[1:]}
    assert costs == {"vision": "1.90", "speech": ""}
    page = admin.client.get(f"/what-ifs/{study.uid}/").content.decode()
    assert "3.80" not in page and "1.90" in page


def test_a_refused_question_leaves_no_record_behind(admin, world, monkeypatch):
    monkeypatch.setattr("pool.services.whatif.studies.days_recorded", lambda **given: 9)
    before = Trace.objects.count()
    said = {"kind": "a100|no such card", "minutes": "1"}
    assert admin.client.post("/what-ifs/cards/", said).status_code == 422
    said = {"since": "2026-01-01", "until": "2026-01-03", "name": ""}
    assert admin.client.post("/what-ifs/new/", said).status_code == 422
    assert Trace.objects.count() == before


def test_the_number_of_cards_is_refused_before_seven_days_and_searched_after(admin, world):
    said = {"kind": "a100|A100-80GB", "minutes": "1"}
    answer = admin.client.post("/what-ifs/cards/", said)
    assert answer.status_code == 422 and "of 7 days" in answer.content.decode()
    begin = now() - timedelta(days=12)
    for day in range(10):
        at = begin + timedelta(days=day)
        hour = timedelta(hours=1)
        ran_once(world.own.project, world.partition, world.own.owner, at, hour, 2 * hour)
    answer = admin.client.post("/what-ifs/cards/", said)
    assert answer.status_code == 303, answer.content
    Study.objects.filter(kind="scenario").delete()
    assert studies_due() == 1
    study = Study.objects.get(kind="cards")
    assert study.state == "done", study.state_reason
    text = admin.client.get(f"/what-ifs/{study.uid}/").content.decode()
    assert "What was tried" in text


def test_each_model_is_searched_where_nobody_says_which(admin, world):
    rows.node(cards=2, label="H100-80GB", name="other-1")
    world.node.cards.model.objects.filter(label="H100-80GB").update(partition=world.partition)
    begin = now() - timedelta(days=12)
    for day in range(10):
        at, hour = begin + timedelta(days=day), timedelta(hours=1)
        ran_once(world.own.project, world.partition, world.own.owner, at, hour, 2 * hour)
    assert admin.client.post("/what-ifs/cards/", {"kind": "*", "minutes": "1"}).status_code == 303
    Study.objects.filter(kind="scenario").delete()
    assert studies_due() == 1
    study = Study.objects.get(kind="cards")
    assert study.state == "done", study.state_reason
    asked = {(row["partition"], row["model"]) for row in study.changes["cards"]}
    assert asked == {("a100", "A100-80GB"), ("a100", "H100-80GB")}
    assert {(one["partition"], one["model"]) for one in study.result["options"]} == asked
    text = admin.client.get(f"/what-ifs/{study.uid}/").content.decode()
    assert "each model by itself" in text and text.count("H100-80GB") > 1


def test_a_changed_price_changes_the_cost_and_nothing_else(admin, record):
    asked = {"cards:a100|A100-80GB": "", "price:a100|A100-80GB": "50"}
    assert _asked(admin, record, **asked).status_code == 303
    Study.objects.exclude(trace=record).delete()
    assert studies_due() == 1
    study = Study.objects.get(trace=record)
    assert study.changes == {"prices": [{"partition": "a100", "model": "A100-80GB", "percent": 50}]}
    assert study.baseline["digest"] == study.result["digest"]
    text = admin.client.get(f"/what-ifs/{study.uid}/").content.decode()
    assert "a100 / A100-80GB: 50 % of the price" in text
    refused = _asked(admin, record, **{"price:a100|A100-80GB": "2000"})
    assert refused.status_code == 422


def test_names_of_other_organizations_stand_neither_in_the_form_nor_in_what_was_asked(
    admin, visit, world
):
    place = rows.partition(slug="theirs", name="Theirs", open_to_all=False)
    place.organizations.set([world.other.organization])
    hush = Template.objects.create(
        slug="hush-hush", name="Hush", organization=world.other.organization
    )
    TemplateVersion.objects.create(template=hush, number=1, need={"parts": 1, "memory_gb": 20})
    world.node.cards.update(partition=place)
    study = rows.study(
        owner=world.admin.user,
        share="platform",
        name="for all",
        changes={
            "quotas": [
                {"team": "speech", "kind": "limit", "cards": 3.0, "partition": "", "model": ""}
            ],
            "partitions": [{"partition": "theirs", "lending": False}],
        },
    )
    for path in ("new/", f"new/?copy={study.uid}", f"{study.uid}/", ""):
        text = admin.client.get(f"/what-ifs/{path}").content.decode()
        for word in ("theirs", "Theirs", "hush-hush", "speech"):
            assert word not in text, (path, word)
        if path not in ("", "new/"):
            assert "2 changes of what belongs to other organizations" in text
    assert "Theirs" not in admin.client.get("/planning/").content.decode()
    text = visit("platform_admin").client.get("/what-ifs/new/").content.decode()
    assert "theirs" in text and "hush-hush" in text and "speech" in text


RICH = {
    "cards": [
        {"partition": "a100", "model": "A100-80GB", "count": 8},
        *({"partition": "a100", "model": name, "count": 1} for name in FRESH_MODELS),
    ],
    "quotas": [
        {"team": "vision", "kind": "limit", "cards": 2.0},
        {"team": "vision", "kind": "limit", "cards": 1.0, "model": "A100-80GB"},
        {"team": "vision", "kind": "guarantee", "cards": None},
    ],
    "priorities": [
        {"team": "vision", "priority": "low"},
        {"template": "t", "priority": "high"},
    ],
    "templates": [{"template": "t", "need": {"parts": 2, "share_milli": 500}}],
    "prices": [
        {"partition": "", "model": "", "percent": 150},
        {"partition": "a100", "model": "A100-80GB", "percent": 80},
    ],
    "partitions": [
        {"partition": "", "lending": True},
        {"partition": "a100", "policy": "spread", "preemption": False},
    ],
    "numbers": {"heads": 2, "hour_days": 100},
}


class _Fields(HTMLParser):
    """What a browser would send of the form for a new what-if, as it stands."""

    def __init__(self, text):
        super().__init__()
        self.sent, self._inside, self._select = {}, False, ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "form":
            self._inside = given.get("action") == "/what-ifs/new/"
        if not self._inside:
            return
        if tag == "select":
            self._select = given["name"]
        if tag == "input" and (given.get("type") != "checkbox" or "checked" in given):
            self.sent.setdefault(given["name"], []).append(given.get("value") or "")
        if tag == "option" and "selected" in given:
            self.sent[self._select] = [given.get("value") or ""]


def in_order(rows_):
    """The rows whatever their order."""
    return sorted(json.dumps(row, sort_keys=True) for row in rows_)


def test_a_copy_is_the_same_question_also_where_the_page_has_no_field_for_it(admin, world):
    template = world.version.template.slug
    text = json.dumps(RICH).replace('"t"', f'"{template}"')
    known = known_for(standing=standing(user=admin.user), trace=world.own.study.trace)
    changes = changes_from(json.loads(text), known)
    study = rows.study(owner=admin.user, organization=world.own.organization, changes=changes)
    page = admin.client.get(f"/what-ifs/new/?copy={study.uid}").content.decode()
    assert "at most 1 cards (A100-80GB)" in page
    sent = _Fields(page).sent
    assert len(sent["carried"]) == 7, sent["carried"]
    assert admin.client.post("/what-ifs/new/", sent | {"name": ["again"]}).status_code == 303
    copy = Study.objects.get(name="again")
    for section, rows_ in changes.items():
        if section == "numbers":
            assert copy.changes[section] == rows_
        else:
            assert in_order(copy.changes[section]) == in_order(rows_), section
    without = sent | {"name": ["less"], "carried": []}
    assert admin.client.post("/what-ifs/new/", without).status_code == 303
    assert "templates" not in Study.objects.get(name="less").changes


@pytest.mark.parametrize(
    "carried", ["{", "[" * 40_000, "[]", '{"quotas": 3}', '{"x": [1]}', "null"]
)
def test_what_is_carried_is_judged_like_all_else(admin, record, carried):
    answer = _asked(admin, record, carried=carried, name="odd")
    assert answer.status_code == 422
    assert not Study.objects.filter(name="odd").exists()


@pytest.mark.parametrize("day", ["9999-12-31", "0001-01-01", "x"])
def test_a_day_far_away_is_refused_in_the_form(admin, day):
    said = {"since": "2026-01-01", "name": "far", "number:heads": "2"}
    for given in (said | {"until": day}, said | {"until": "2026-01-02", "since": day}):
        answer = admin.client.post("/what-ifs/new/", given)
        assert answer.status_code == 422 and not Study.objects.filter(name="far").exists()

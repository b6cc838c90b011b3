"""Money over REST: a month from its first line to its close, prices rated anew, budgets."""

import hashlib

import pytest

from billing.models import Month, Usage
from billing.services.budgets import budget_set
from billing.services.contracts import contract_set
from billing.services.metering import usage_meter
from billing.services.posting import ledger_post
from pool.events import SYSTEM, record
from pool.lifecycle.events import EventKind
from tests.billing.rows import at

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.handmade_books]


@pytest.fixture
def month(world):
    """February, in which vision held a whole card for an hour."""
    Usage.objects.all().delete()
    hold = world.own.hold
    type(hold).objects.filter(pk=hold.pk).update(
        held=(at("2026-02-10T10:00:00"), at("2026-02-10T11:00:00"))
    )
    type(world.price).objects.filter(pk=world.price.pk).update(valid=(at("2020-01-01"), None))
    record(EventKind.PLACEMENT_CLOSED, hold.placement, actor=SYSTEM)
    post()
    answer = world.by("org_admin").post(
        "invoices", {"organization": "vision-org", "month": "2026-02"}
    )
    assert answer.status_code == 201, answer.content
    return answer.json()["uid"]


def post():
    usage_meter()
    while ledger_post(until=at("2026-03-01T01:00:00"), most=2000).more:
        pass


def test_a_month_is_read_reviewed_closed_and_comes_out_the_same(world, month):
    reader, admin = world.by("billing_reader"), world.by("org_admin")
    (line,) = reader.get(f"invoices/{month}/lines").json()["lines"]
    assert (line["account"], line["amount_micro"], line["amount_cents"]) == (
        "held_unknown",
        1_900_000,
        190,
    )
    assert line["card_seconds"] == 3600
    for verb in ("review", "reopen", "review", "close"):
        answer = admin.post(f"invoices/{month}/{verb}")
        assert answer.status_code == 200, answer.content
    shown = reader.get(f"invoices/{month}").json()
    assert (shown["state"], shown["total_micro"]) == ("closed", 1_900_000)
    file = reader.get(f"invoices/{month}/file").content
    assert hashlib.sha256(file).hexdigest() == shown["digest"]
    again = admin.post(f"invoices/{month}/close")
    assert (again.status_code, again.json()["code"]) == (409, "illegal_move")


def test_a_complaint_is_made_and_granted(world, month):
    reader, admin = world.by("billing_reader"), world.by("org_admin")
    (line,) = reader.get(f"invoices/{month}/lines").json()["lines"]
    body = {"line_id": line["line_id"], "text": "not ours"}
    made = reader.post(f"invoices/{month}/dispute", body)
    assert made.status_code == 201, made.content
    words = {"accept": True, "answer": "granted", "granted_micro": 900_000}
    decided = admin.post(f"disputes/{made.json()['uid']}/decide", words)
    assert decided.json()["state"] == "accepted"
    wrong = reader.post(f"invoices/{month}/dispute", {"line_id": "ln-none", "text": "x"})
    assert (wrong.status_code, wrong.json()["code"]) == (400, "invalid")


def test_a_price_may_begin_in_an_open_month(world, month):
    body = {
        "partition": "a100",
        "rate_micro": 3_800_000,
        "currency": "EUR",
        "starts_at": "2026-02-10T10:30:00Z",
    }
    refused = world.admin.post("prices", body)
    assert refused.json()["code"] == "price_in_the_past"
    assert world.admin.post("prices", body | {"rerate": True}).status_code == 201
    post()
    lines = world.admin.get(f"invoices/{month}/lines").json()
    assert lines["total_micro"] == 2_850_000


def test_a_month_to_come_has_no_statement(world):
    body = {"organization": "vision-org", "month": "2199-01"}
    assert world.by("org_admin").post("invoices", body).status_code == 400
    assert not Month.objects.filter(first__year=2199).exists()


def test_a_budget_is_set_read_and_overdrawn(world):
    admin = world.by("org_admin")
    body = {
        "organization": "vision-org",
        "project": "vision",
        "limit_micro": 10**9,
        "every": "quarter",
        "action": "block",
    }
    made = admin.post("budgets", body)
    assert made.status_code == 201, made.content
    uid = made.json()["uid"]
    stand = world.by("member").get(f"budgets/{uid}/stand").json()["stand"]
    assert (stand["allowed_micro"], stand["level"]) == (10**9, 0)
    over = {"overdraft_micro": 10**8, "until": "2199-01-01", "reason": "a deadline"}
    assert admin.post(f"budgets/{uid}/overdraft", over).json()["overdraft_by"]
    assert admin.get(f"budgets/{uid}/stand").json()["stand"]["allowed_micro"] == 11 * 10**8
    assert admin("DELETE", f"budgets/{uid}").status_code == 204
    assert admin.get(f"budgets/{uid}").status_code == 404
    for wrong in ({"project": "speech"}, {"user": "nobody"}, {"every": "custom"}):
        assert admin.post("budgets", body | wrong).status_code == 400


def test_showback_shows_use_without_money_over_rest_as_on_pages(world, month):
    home = world.own.organization
    budget_set(organization=home, project=world.own.project, limit_micro=10**9, actor=SYSTEM)
    hours = budget_set(
        organization=home,
        project=world.own.project,
        limit_micro=10**9,
        measure="card_hours",
        actor=SYSTEM,
    )
    contract_set(organization=home, since=at("2026-02-01").date(), showback=True, actor=SYSTEM)
    member, admin = world.by("member"), world.by("org_admin")
    shown = member.get("usage").json()["results"]
    assert {row["amount_micro"] for row in shown} == {None}
    assert 1_900_000 in {row["amount_micro"] for row in admin.get("usage").json()["results"]}
    work = world.own.workload.uid
    cost = member.get(f"workloads/{work}").json()["cost"]
    assert (cost["amount_micro"], cost["per_hour_micro"]) == (None, None)
    assert admin.get(f"workloads/{work}").json()["cost"]["amount_micro"] is not None
    said = {row["measure"]: row for row in member.get("budgets").json()["results"]}
    assert said["money"]["limit_micro"] is None
    assert said["card_hours"]["limit_micro"] == 10**9
    stand = member.get(f"budgets/{said['money']['uid']}/stand").json()["stand"]
    assert (stand["spent_micro"], stand["allowed_micro"], stand["forecast_micro"]) == (None,) * 3
    assert member.get(f"budgets/{hours.uid}/stand").json()["stand"]["allowed_micro"] == 10**9
    stand = admin.get(f"budgets/{said['money']['uid']}/stand").json()["stand"]
    assert stand["allowed_micro"] == 10**9


def test_the_teams_month_is_a_report_for_scripts_too(world, month):
    body = {"organization": "vision-org", "month": "2026-02", "by": "person"}
    told = world.by("member").post("reports/team", body).json()
    assert (told["total_micro"], told["currency"], told["month"]) == (1_900_000, "EUR", "2026-02")
    assert told["parts"] == [{"account": "held_unknown", "amount_micro": 1_900_000}]
    (group,) = told["groups"]
    assert (group["amount_micro"], group["held_seconds"], group["used_seconds"]) == (
        *(1_900_000, 3600),
        0,
    )
    assert told["days"] == [{"day": "2026-02-10", "amount_micro": 1_900_000}]
    assert told["forecast_low_micro"] is None, "the month is over"
    other = world.by("member").post("reports/team", body | {"organization": "speech-org"})
    assert other.status_code == 400
    late = world.by("member").post("reports/team", body | {"month": "2199-01"})
    assert late.status_code == 400
    assert "2000-01 – 2" in late.content.decode(), "from the first month to the running one"
    (row,) = (
        world.by("member")
        .get("usage?since=2026-02-01T00:00:00Z&until=2026-03-01T00:00:00Z")
        .json()["results"]
    )
    assert (row["seconds"], row["used_seconds"], row["known_seconds"]) == (3600, 0, 0)


def test_a_report_tells_use_alone_where_money_is_not_shown(world, month):
    home = world.own.organization
    contract_set(organization=home, since=at("2026-02-01").date(), showback=True, actor=SYSTEM)
    body = {"organization": "vision-org", "month": "2026-02"}
    told = world.by("member").post("reports/team", body).json()
    assert told["total_micro"] is None and told["parts"] == [] and told["days"] == []
    assert told["groups"][0]["amount_micro"] is None
    assert told["groups"][0]["held_seconds"] == 3600
    assert world.by("org_admin").post("reports/team", body).json()["total_micro"] == 1_900_000


def test_months_no_calendar_of_bills_holds_are_refused(world):
    for month in ("0001-01", "1999-12"):
        body = {"organization": "vision-org", "month": month}
        assert world.by("org_admin").post("invoices", body).status_code == 400

"""Pages about money, as people in their roles see them: on one real month."""

import io
from datetime import timedelta

import pytest
from openpyxl import load_workbook

from billing.models import Budget, Cursor, Discount, Dispute, Month, Posting
from billing.rating.intervals import micros
from billing.selectors.holds import database_now
from billing.selectors.statements import bill_of
from billing.services.budgets import budget_set
from billing.services.contracts import contract_set, discount_set, overhead_set
from billing.services.metering import usage_meter
from billing.services.posting import ledger_post
from billing.services.prices import price_set
from pool.events import SYSTEM, record
from pool.lifecycle.events import EventKind
from pool.models import Event, Organization
from portal.pages.panels import panel_key
from tests.billing.rows import at

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.handmade_books]


@pytest.fixture
def bill(world):
    """The hour that vision held, posted in a month that is over."""
    hold = world.own.hold
    world.own.usage.delete()
    world.other.usage.delete()
    type(hold).objects.filter(pk=hold.pk).update(
        held=(at("2026-02-10T10:00:00"), at("2026-02-10T11:00:00"))
    )
    type(world.price).objects.filter(pk=world.price.pk).update(valid=(at("2020-01-01"), None))
    record(EventKind.PLACEMENT_CLOSED, hold.placement, actor=SYSTEM)
    usage_meter()
    while ledger_post(until=at("2026-03-01T01:00:00"), most=2000).more:
        pass
    return Month.objects.create(
        organization=world.own.organization,
        first=at("2026-02-01").date(),
        zone="UTC",
        currency="EUR",
    )


def text(answer):
    assert answer.status_code == 200, answer.status_code
    return answer.content.decode()


@pytest.mark.parametrize("by", ["project", "person", "cost_centre", "template", "model", "mode"])
def test_the_month_is_shown_by_whatever_one_asks_for(visit, bill, by):
    shown = text(visit("billing_reader").open(f"/billing/?month=2026-02&by={by}"))
    assert "€1.90" in shown
    assert "Held, not measured" in shown


def test_a_member_sees_the_projects_of_theirs_and_no_others(visit, world, bill):
    shown = text(visit("member").open("/billing/?month=2026-02"))
    assert "€1.90" in shown
    other = world.other.organization.uid
    assert visit("member").open(f"/billing/?organization={other}").status_code == 404
    assert visit("member").open("/billing/?by=salary").status_code == 404
    assert visit("member").open("/billing/?month=soon").status_code == 404


def test_showback_shows_use_without_money(visit, world, bill):
    contract_set(
        organization=world.own.organization,
        since=at("2026-02-01").date(),
        showback=True,
        actor=SYSTEM,
    )
    assert "€" not in text(visit("member").open("/billing/?month=2026-02"))
    assert "€1.90" in text(visit("org_admin").open("/billing/?month=2026-02"))
    budget_set(organization=world.own.organization, limit_micro=12_500_000, actor=SYSTEM)
    assert "€" not in text(visit("member").open("/budgets/"))
    assert "€12.50" in text(visit("org_admin").open("/budgets/"))
    work = world.own.workload.uid
    for path in ("/", "/usage/", f"/workloads/{work}/", "/notebooks/?all=1", "/hogs/"):
        assert "€" not in text(visit("member").open(path)), path
    assert "€" in text(visit("org_admin").open("/usage/"))
    held = {
        panel_key(world.own.people[role].user, f"workload:{work}") for role in ("member", "lead")
    }
    assert len(held) == 1
    assert panel_key(world.own.people["org_admin"].user, f"workload:{work}") not in held


def test_odd_addresses_and_words_are_refused(visit, bill):
    member, admin = visit("member"), visit("org_admin")
    for month in ("9999-12", "0001-01", "1999-12", "3000-01"):
        assert member.open(f"/billing/?month={month}").status_code == 404
    sums = "purchase=1e30&years=1&watts=1&kwh=1&people=1&use=1"
    assert member.open(f"/prices/?{sums}").status_code == 200
    (line,) = bill_of(bill).lines
    words = {"text": "not\0ours", "line": line.line_id}
    assert admin.send(f"/statements/{bill.uid}/dispute/", words).status_code == 303
    row = Dispute.objects.get(month=bill)
    assert row.text == "notours"
    no = {"accept": "0", "answer": "we\0looked"}
    assert admin.send(f"/disputes/{row.uid}/decide/", no).status_code == 303


def test_a_discount_is_ended_by_a_platform_admin_and_told(visit, world):
    root, home = visit("platform_admin"), world.own.organization
    now = database_now()
    since = (now - timedelta(days=3)).replace(hour=0, minute=0, second=0, microsecond=0)
    given = {"kind": "agreement", "milli": 1000, "organization": home, "actor": SYSTEM}
    row = discount_set(since=since, **given)
    path = f"/prices/agreed/{row.uid}/end/"
    assert path in text(root.open("/prices/agreed/"))
    assert visit("org_admin").send(path).status_code == 403
    assert root.send("/prices/agreed/ds-none/end/").status_code == 404
    assert root.send(path).status_code == 303
    end = Discount.objects.get(pk=row.pk).valid.upper
    assert now <= end <= database_now()
    assert Event.objects.filter(kind=EventKind.DISCOUNT_CHANGED, actor_kind="user").count() == 1
    assert path not in text(root.open("/prices/agreed/"))
    assert root.send(path, {"day": f"{since:%Y-%m-%d}"}).status_code == 303
    assert not Discount.objects.filter(pk=row.pk).exists()


def test_the_files_say_the_same(visit, bill):
    reader = visit("billing_reader")
    erp = reader.open(f"/statements/{bill.uid}/erp/").content
    assert erp == reader.open(f"/statements/{bill.uid}/erp/").content
    assert b",1.90,1900000,EUR" in erp
    assert "1.90" in reader.open(f"/statements/{bill.uid}/csv/").content.decode("utf-8-sig")
    book = load_workbook(io.BytesIO(reader.open(f"/statements/{bill.uid}/xlsx/").content))
    assert book.active is not None
    assert [cell.value for cell in book.active[book.active.max_row]][7] == 1.9
    assert reader.open(f"/statements/{bill.uid}/pdf/").content.startswith(b"%PDF")
    assert reader.open(f"/statements/{bill.uid}/doc/").status_code == 405


def test_a_line_leads_to_its_placement(visit, world, bill):
    reader = visit("billing_reader")
    (line,) = bill_of(bill).lines
    shown = text(reader.open(f"/statements/{bill.uid}/line/?line={line.line_id}"))
    assert world.own.placement.uid in shown
    assert reader.open(f"/statements/{bill.uid}/line/?line=ln-none").status_code == 404


def test_a_reader_reads_and_an_admin_closes(visit, bill):
    reader, admin = visit("billing_reader"), visit("org_admin")
    assert reader.send(f"/statements/{bill.uid}/review/").status_code == 403
    assert admin.send(f"/statements/{bill.uid}/review/").status_code == 303
    assert admin.send(f"/statements/{bill.uid}/close/").status_code == 303
    assert Month.objects.get(pk=bill.pk).state == "closed"
    assert "Closed" in text(reader.open(f"/statements/{bill.uid}/"))


def test_costs_shown_apart_stand_beside_the_bill_and_not_on_it(visit, world, bill):
    for label, home in (
        ("Spare fans", world.own.organization),
        ("Theirs", world.other.organization),
    ):
        overhead_set(
            first=at("2026-02-01").date(),
            kind="operations",
            label=label,
            amount_micro=7_000_000,
            currency="EUR",
            organization=home,
            shared=False,
            actor=SYSTEM,
        )
    shown = text(visit("org_admin").open(f"/statements/{bill.uid}/"))
    assert "Spare fans" in shown and "€7.00" in shown and "Theirs" not in shown
    assert bill_of(bill).micro == 1_900_000


def test_a_complaint_goes_its_way(visit, world, bill):
    (line,) = bill_of(bill).lines
    path = f"/statements/{bill.uid}/dispute/"
    assert (
        visit("billing_reader").send(path, {"text": "not ours", "line": line.line_id}).status_code
        == 303
    )
    row = Dispute.objects.get(month=bill)
    words = {"accept": "1", "answer": "granted", "amount": "1.50"}
    assert visit("org_admin").send(f"/disputes/{row.uid}/decide/", words).status_code == 303
    credit = Posting.objects.get(project_id=world.own.project.pk, account="correction")
    assert credit.amount_micro == -1_500_000


def test_a_statement_is_made_when_somebody_asks(visit, world, bill):
    home = Organization.objects.get(pk=world.own.organization.pk)
    admin = visit("org_admin")
    words = {"organization": home.uid, "month": "2026-01"}
    assert admin.send("/statements/open/", words).status_code == 303
    assert Month.objects.filter(organization=home, first="2026-01-01").exists()
    words["organization"] = world.other.organization.uid
    assert admin.send("/statements/open/", words).status_code == 404


def test_budgets_are_set_overdrawn_and_removed_by_who_closes_months(visit, world):
    admin = visit("org_admin")
    home = world.own.organization
    words = {
        "organization": home.uid,
        "measure": "money",
        "limit": "1200.50",
        "every": "month",
        "action": "notify",
    }
    assert admin.send("/budgets/", words).status_code == 303
    row = Budget.objects.get(organization=home, project=None)
    assert row.limit_micro == 1_200_500_000
    assert "€1,200.50" in text(admin.open("/budgets/"))
    over = {"amount": "5", "until": "2199-01-01", "reason": "a deadline"}
    assert visit("billing_reader").send(f"/budgets/{row.uid}/overdraft/", over).status_code == 403
    assert admin.send(f"/budgets/{row.uid}/overdraft/", over).status_code == 303
    assert admin.send(f"/budgets/{row.uid}/remove/").status_code == 303
    assert Budget.objects.get(pk=row.pk).removed_at is not None
    assert "1200.5x" in text(admin.send("/budgets/", words | {"limit": "1200.5x"}))


def test_a_line_of_many_hours_is_told_page_by_page(visit, world, bill, monkeypatch):
    monkeypatch.setattr("portal.pages.billing.statements.SHOWN", 2)
    hold = world.own.hold
    longer = (at("2026-02-10T08:00:00"), at("2026-02-10T11:00:00"))
    type(hold).objects.filter(pk=hold.pk).update(held=longer)
    record(EventKind.PLACEMENT_CLOSED, hold.placement, actor=SYSTEM)
    usage_meter()
    Cursor.objects.filter(name="ledger").update(event=micros(at("2026-02-10T08:00:00")))
    while ledger_post(until=at("2026-02-10T12:00:00"), most=2000).more:
        pass
    url = f"/statements/{bill.uid}/line/?line={bill_of(bill).lines[0].line_id}"
    first = text(visit("org_admin").open(url))
    assert first.count("€1.90") == 2 and "from=2" in first
    assert f"subject=placement:{hold.placement.uid}" in first, "each leads to its events"
    second = text(visit("org_admin").open(f"{url}&from=2"))
    assert second.count("€1.90") == 1 and "from=4" not in second
    assert visit("org_admin").open(f"{url}&from=x").status_code == 404


def test_the_page_of_prices_tells_a_team_what_an_hour_really_costs(visit, world, bill):
    discount_set(
        kind="agreement",
        milli=100,
        organization=world.own.organization,
        since=at("2026-01-01"),
        actor=SYSTEM,
    )
    asked = (
        "of_project=vision&of_partition=a100&of_model=A100-80GB&of_mode=whole"
        "&of_class=standard&used=100"
    )
    shown = text(visit("member").open(f"/prices/?{asked}"))
    assert "€1.90" in shown and "-€0.19" in shown and "€1.71" in shown
    unknown = text(visit("member").open(f"/prices/?{asked.replace('A100-80GB', 'Nothing')}"))
    assert "Show the price" in unknown and "shared in turns" in unknown
    stranger = text(visit("stranger").open(f"/prices/?{asked}"))
    assert "€1.71" not in stranger


def test_a_team_sees_what_its_use_would_cost_at_the_next_prices(visit, world, bill):
    assert "The same use at the prices from" not in text(
        visit("member").open("/billing/?month=2026-02")
    )
    price_set(
        partition=world.price.partition,
        card_model=world.price.card_model,
        mode=world.price.mode,
        price_class=world.price.price_class,
        currency="EUR",
        rate_micro=2 * world.price.rate_micro,
        starts_at=at("2199-01-01"),
        actor=SYSTEM,
    )
    shown = text(visit("member").open("/billing/?month=2026-02"))
    assert "The same use at the prices from" in shown and "€3.80" in shown


def test_a_platform_admin_sets_prices_and_what_was_agreed(visit, world):
    root = visit("platform_admin")
    price = {"partition": "a100", "unit": "card", "rate": "2.5", "currency": "EUR"}
    assert root.send("/prices/", price).status_code == 303
    assert "€2.50" in text(visit("member").open("/prices/"))
    assert visit("org_admin").send("/prices/", price).status_code == 403
    assert visit("org_admin").open("/prices/agreed/").status_code == 403
    sums = "purchase=20000&years=4&watts=700&kwh=0.25&people=1000&use=70"
    assert "1.227804" in text(root.open(f"/prices/?{sums}"))
    contract = {
        "form": "contract",
        "contract-since": "2199-01-01",
        "contract-basis": "max",
        "contract-floor": "50",
        "contract-tax": "19",
        "contract-minimum": "100",
        "contract-stranded_by": "holders",
        "contract-guarantee_by": "platform",
        "contract-idle_by": "shared",
        "contract-down_by": "platform",
    }
    assert root.send("/prices/agreed/", contract).status_code == 303
    discount = {
        "form": "discount",
        "discount-kind": "off_peak",
        "discount-percent": "30",
        "discount-starts_on": "2199-01-01",
        "discount-from_hour": "20",
        "discount-to_hour": "8",
        "discount-days": ["5", "6"],
    }
    assert root.send("/prices/agreed/", discount).status_code == 303
    assert Discount.objects.get(milli=300).days == [5, 6]
    cost = {
        "form": "overhead",
        "overhead-first": "2199-01-01",
        "overhead-overhead": "people",
        "overhead-label": "Two operators",
        "overhead-amount": "9000",
        "overhead-currency": "EUR",
        "overhead-shared": "on",
    }
    assert root.send("/prices/agreed/", cost).status_code == 303
    shown = text(root.open("/prices/agreed/"))
    assert "Two operators" in shown

"""Months: a person reviews and closes; closed is closed, and the same bytes come out again."""

import hashlib

import pytest
from django.db import IntegrityError, transaction
from django.db.models import Sum

from billing.errors import MonthNotOver, PriceInThePast
from billing.models import Month, Posting, StatementLine
from billing.rating.accounts import Account
from billing.selectors.statements import bill_file, bill_now, bill_of, line_postings
from billing.services.contracts import contract_set, overhead_set
from billing.services.metering import usage_meter
from billing.services.months import (
    correction_post,
    dispute_decide,
    dispute_open,
    month_close,
    month_open,
    month_reopen,
    month_review,
)
from billing.services.posting import ledger_post
from billing.services.prices import price_set
from pool.errors import IllegalMove, Invalid
from pool.events import SYSTEM, Actor
from pool.models import Event, Membership, Notice
from tests.billing.rows import Books, at, told

pytestmark = pytest.mark.django_db(transaction=True)

RATE = 1_900_000
FEBRUARY = at("2026-02-01").date()


def posted(until="2026-03-01T02:00:00"):
    usage_meter()
    while ledger_post(until=at(until), most=3000).more:
        pass


@pytest.fixture
def books():
    """Three hours of a whole card late in February."""
    found = Books.opened(rate=RATE)
    told(found.hold((at("2026-02-28T20:00:00"), at("2026-02-28T23:00:00")), micro=1_000_000))
    posted()
    return found


def closed(books):
    month = month_open(organization=books.project.organization, first=FEBRUARY)
    month_review(month=month, actor=SYSTEM)
    return month_close(month=month, actor=SYSTEM)


def test_a_closed_month_is_what_the_ledger_said_and_stays_so(books):
    month = closed(books)
    assert month.total_micro == 3 * RATE
    first = bill_file(month)
    assert hashlib.sha256(first).hexdigest() == month.digest
    told(books.hold((at("2026-02-28T10:00:00"), at("2026-02-28T11:00:00")), micro=1_000_000))
    posted()
    assert bill_file(Month.objects.get(pk=month.pk)) == first
    assert bill_now(month).micro == 3 * RATE
    march = month_open(organization=books.project.organization, first=at("2026-03-05").date())
    (late,) = bill_of(march).lines
    assert late.what.late
    assert late.what.amount_micro == RATE
    told(books.hold((at("2026-03-01T00:00:00"), at("2026-03-01T01:00:00")), micro=1_000_000))
    posted()
    for line in bill_of(march).lines:
        behind = line_postings(march, line).aggregate(s=Sum("amount_micro"))["s"]
        assert behind == line.what.amount_micro, line


def test_who_runs_the_organization_hears_that_its_month_is_closed(books):
    home = books.project.organization
    Membership.objects.create(user=books.user, organization=home, role="billing_reader")
    closed(books)
    told_them = Notice.objects.get(user=books.user, kind="money")
    assert told_them.values["total"] == "5.70 EUR"


def test_the_database_keeps_a_closed_month_as_it_is(books):
    month = closed(books)
    with pytest.raises(IntegrityError), transaction.atomic():
        Month.objects.filter(pk=month.pk).update(state="provisional")
    with pytest.raises(IntegrityError), transaction.atomic():
        StatementLine.objects.filter(month=month).update(amount_micro=0)
    with pytest.raises(IntegrityError), transaction.atomic():
        StatementLine.objects.filter(month=month).delete()


def test_the_steps_are_taken_in_order(books):
    month = month_open(organization=books.project.organization, first=FEBRUARY)
    with pytest.raises(IllegalMove):
        month_close(month=month, actor=SYSTEM)
    month_review(month=month, actor=SYSTEM)
    month_reopen(month=month, actor=SYSTEM)
    month_review(month=month, actor=SYSTEM)
    month_close(month=month, actor=SYSTEM)
    for again in (month_review, month_reopen, month_close):
        with pytest.raises(IllegalMove):
            again(month=month, actor=SYSTEM)
    assert Event.objects.filter(kind="month.moved").count() == 4


def test_a_month_that_runs_is_not_closed(books):
    running = month_open(organization=books.project.organization, first=at("2199-01-01").date())
    with pytest.raises(MonthNotOver):
        month_review(month=running, actor=SYSTEM)


def test_lines_are_rounded_and_one_line_says_by_how_much(books):
    for n in range(3):
        told(
            books.hold(
                (at(f"2026-02-28T1{n}:00:00"), at(f"2026-02-28T1{n}:00:11")),
                micro=333_333 + n,
                placement=books.placement(books.workload()),
            )
        )
    posted()
    month = closed(books)
    bill = bill_of(month)
    assert bill.cents == round(bill.micro / 10_000)
    assert len({line.line_id for line in bill.lines}) == len(bill.lines)
    lines = [line for line in bill.lines if line.what.account != "rounding"]
    for line in lines:
        behind = line_postings(month, line).aggregate(s=Sum("amount_micro"))["s"]
        assert behind == line.what.amount_micro


def test_overhead_is_shared_by_what_was_held_and_the_minimum_filled_up(books):
    home = books.project.organization
    overhead_set(
        first=FEBRUARY,
        kind="people",
        label="Two operators",
        amount_micro=5_000_001,
        currency="EUR",
        organization=home,
        actor=SYSTEM,
    )
    contract_set(organization=home, since=FEBRUARY, minimum_micro=20_000_000, actor=SYSTEM)
    posted()
    month = closed(books)
    told_by = {line.what.account: line.what.amount_micro for line in bill_of(month).lines}
    assert told_by[Account.OVERHEAD] == 5_000_001
    assert sum(told_by.values()) == month.total_micro == 20_000_000
    assert not Posting.objects.values("entry").annotate(s=Sum("amount_micro")).exclude(s=0).exists()


def test_tax_is_on_shared_costs_and_the_least_charge_too(books):
    home = books.project.organization
    overhead_set(
        first=FEBRUARY,
        kind="people",
        label="Two operators",
        amount_micro=5_000_000,
        currency="EUR",
        organization=home,
        actor=SYSTEM,
    )
    contract_set(
        organization=home, since=FEBRUARY, minimum_micro=20_000_000, tax_milli=190, actor=SYSTEM
    )
    posted()
    told_by = {line.what.account: 0 for line in bill_of(closed(books)).lines}
    month = Month.objects.get()
    for line in bill_of(month).lines:
        told_by[line.what.account] += line.what.amount_micro
    assert told_by[Account.TAX] == 20_000_000 * 190 // 1000
    assert month.total_micro == 20_000_000 * 1190 // 1000
    for line in bill_of(month).lines:
        behind = line_postings(month, line).aggregate(s=Sum("amount_micro"))["s"] or 0
        assert line.what.account == "rounding" or behind == line.what.amount_micro, line


def test_idle_time_is_shared_where_the_contract_says_so(books):
    home = books.project.organization
    type(books.node.cards.first()).objects.update(partition=books.partition)
    contract_set(organization=home, since=FEBRUARY, idle_by="shared", actor=SYSTEM)
    posted()
    month = month_open(organization=home, first=FEBRUARY)
    month_review(month=month, actor=SYSTEM)
    told_by = {line.what.account: line.what.amount_micro for line in bill_of(month).lines}
    for line in bill_of(month).lines:
        behind = line_postings(month, line).aggregate(s=Sum("amount_micro"))["s"]
        assert behind == line.what.amount_micro, line
    assert told_by[Account.PLATFORM_IDLE] == (28 * 24 - 3) * RATE
    assert told_by[Account.HELD_UNKNOWN] == 3 * RATE


def test_a_complaint_that_is_granted_is_a_line_of_the_next_bill(books):
    month = closed(books)
    line = bill_of(month).lines[0]
    words = {"month": month, "line_id": line.line_id, "text": "not ours", "user": books.user}
    row = dispute_open(**words, actor=SYSTEM)
    with pytest.raises(Invalid):
        dispute_open(**words, actor=SYSTEM)
    with pytest.raises(Invalid):
        dispute_decide(dispute=row, accept=True, answer="yes", granted_micro=10**12, actor=SYSTEM)
    dispute_decide(dispute=row, accept=True, answer="yes", granted_micro=RATE, actor=SYSTEM)
    own = Posting.objects.filter(project_id=books.project.pk, account="correction")
    assert own.get().amount_micro == -RATE
    with pytest.raises(IllegalMove):
        dispute_decide(dispute=row, accept=False, answer="no", actor=SYSTEM)
    assert bill_of(month).micro == 3 * RATE


def complaint(books, month, line, granted, **more):
    words = {"month": month, "line_id": line.line_id, "text": "not ours", "user": books.user}
    row = dispute_open(**words, actor=SYSTEM)
    given = {"accept": True, "answer": "yes", "granted_micro": granted, "actor": SYSTEM}
    return dispute_decide(dispute=row, **(given | more))


def test_all_that_is_granted_of_a_line_is_at_most_the_line(books):
    month = closed(books)
    line = bill_of(month).lines[0]
    complaint(books, month, line, 2 * RATE)
    with pytest.raises(Invalid) as refused:
        complaint(books, month, line, 2 * RATE)
    assert "granted_micro" in refused.value.detail
    row = month.disputes.get(state="open")
    dispute_decide(dispute=row, accept=True, answer="yes", granted_micro=RATE, actor=SYSTEM)
    assert sum(one.granted_micro for one in month.disputes.all()) == 3 * RATE


def test_nobody_grants_what_they_complained_about_themselves(books):
    month = closed(books)
    line = bill_of(month).lines[0]
    with pytest.raises(Invalid) as refused:
        complaint(books, month, line, RATE, actor=Actor.of(books.user))
    assert "accept" in refused.value.detail


def test_a_credit_stays_with_the_bill_it_is_about_when_the_project_has_moved(books):
    home = books.project.organization
    month = closed(books)
    there = type(home).objects.create(slug="far", name="Far", currency="USD")
    type(books.project).objects.filter(pk=books.project.pk).update(organization=there)
    complaint(books, month, bill_of(month).lines[0], RATE)
    credit = Posting.objects.get(account="correction", project_id=books.project.pk)
    assert (credit.organization_id, credit.entry.currency) == (home.pk, "EUR")
    assert f"{credit.month:%Y-%m}" == "2026-03"


def test_a_correction_by_hand_needs_words(books):
    with pytest.raises(Invalid):
        correction_post(project=books.project, amount_micro=5, reason=" ", actor=SYSTEM)
    assert correction_post(project=books.project, amount_micro=5, reason="why", actor=SYSTEM) == 2


def test_a_price_may_begin_in_an_open_month_and_what_was_metered_is_rated_anew(books):
    price_set(
        partition=books.partition,
        rate_micro=2 * RATE,
        starts_at=at("2026-02-28T22:00:00"),
        rerate=True,
        actor=SYSTEM,
    )
    posted()
    home = books.project.organization
    assert bill_of(month_open(organization=home, first=FEBRUARY)).micro == 4 * RATE
    closed(books)
    with pytest.raises(PriceInThePast):
        price_set(
            partition=books.partition,
            rate_micro=RATE,
            starts_at=at("2026-02-28T21:00:00"),
            rerate=True,
            actor=SYSTEM,
        )

"""The ledger on real rows: every hour sums to zero, replays post nothing, corrections beside."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import Sum

from billing.models import Contract, Discount, Entry, Month, Posting, Usage
from billing.rating.accounts import CARD_PARTS, Account
from billing.rating.lines import Posted, Whose
from billing.selectors.holds import database_now
from billing.services.entries import Bills, Draft, entries_write
from billing.services.metering import usage_meter
from billing.services.posting import ledger_post, ledger_repost
from pool.lifecycle.events import EventKind
from pool.models import Hold
from tests.billing.rows import Books, at, told

pytestmark = pytest.mark.django_db(transaction=True)

HOUR_US = 3_600_000_000
RATE = 1_900_000


def posted(until="2026-03-10", **of):
    """Meter and post all that is over."""
    usage_meter()
    while ledger_post(until=at(until), most=2000).more:
        pass
    return sums(**of)


def sums(**of):
    rows = (
        Posting.objects.filter(**of).order_by().values_list("account").annotate(Sum("amount_micro"))
    )
    return {account: int(micro) for account, micro in rows if micro}


def balanced():
    assert not Posting.objects.values("entry").annotate(s=Sum("amount_micro")).exclude(s=0).exists()
    for row in (
        Posting.objects.filter(account__in=CARD_PARTS)
        .order_by()
        .values("entry__scope", "entry__hour")
        .annotate(micro=Sum("amount_micro"), us=Sum("card_us"))
    ):
        assert (row["micro"], row["us"]) == (RATE, HOUR_US), row


def test_a_share_pays_its_part_and_the_rest_is_the_platforms():
    books = Books.opened(rate=RATE)
    told(books.hold((at("2026-03-01T10:00:00"), at("2026-03-01T12:00:00")), micro=250_000))
    found = posted(until="2026-03-01T12:00:00")
    assert found == {
        Account.HELD_UNKNOWN: 950_000,
        Account.PLATFORM_IDLE: 2_850_000,
        Account.CAPACITY: -3_800_000,
    }
    balanced()
    own = Posting.objects.filter(project_id=books.project.pk).aggregate(s=Sum("amount_micro"))["s"]
    assert own == sum(Usage.objects.values_list("amount_micro", flat=True))


def test_the_same_is_posted_once_however_often_it_is_looked_at():
    books = Books.opened(rate=RATE)
    told(books.hold((at("2026-03-01T10:20:00"), at("2026-03-01T12:00:01"))))
    first = posted(until="2026-03-01T14:00:00")
    count = Posting.objects.count()
    ledger_repost(since=at("2026-03-01"))
    assert posted(until="2026-03-01T14:00:00") == first
    assert Posting.objects.count() == count


def test_more_changed_hours_than_one_go_takes_are_all_looked_at():
    books = Books.opened(rate=RATE)
    told(books.hold((at("2026-03-01T00:00:00"), at("2026-03-02T06:00:00")), micro=1_000_000))
    until = at("2026-03-02T07:00:00")
    usage_meter()
    while ledger_post(until=until, most=50).more:
        pass
    Usage.objects.update(amount_micro=RATE // 2, metered_at=database_now())
    runs = [ledger_post(until=until, most=4) for _ in range(8)]
    assert [run.more for run in runs] == [True] * 7 + [False]
    assert sums()[Account.PRICE] == -30 * RATE // 2


def test_a_correction_is_posted_beside_and_the_sum_is_the_new_truth():
    books = Books.opened(rate=RATE)
    hold = told(books.hold((at("2026-03-01T10:00:00"), at("2026-03-01T10:30:00")), micro=1_000_000))
    posted(until="2026-03-01T12:00:00")
    before = set(Posting.objects.values_list("pk", flat=True))
    Hold.objects.filter(pk=hold.pk).update(corrected_s=900)
    told(Hold.objects.get(pk=hold.pk), EventKind.HOLD_CORRECTED)
    found = posted(until="2026-03-01T12:00:00")
    assert found[Account.HELD_UNKNOWN] == RATE // 4
    assert before < set(Posting.objects.values_list("pk", flat=True))
    balanced()


def test_what_comes_late_for_a_closed_month_is_on_the_next_bill():
    books = Books.opened(rate=RATE)
    hold = told(books.hold((at("2026-02-28T10:00:00"), at("2026-02-28T11:00:00")), micro=1_000_000))
    posted(until="2026-03-01T00:00:00")
    Month.objects.create(
        organization=books.project.organization,
        first=at("2026-02-01").date(),
        zone="UTC",
        currency="EUR",
        state="closed",
        closed_at=at("2026-03-02"),
        total_micro=RATE,
        digest="0" * 64,
    )
    Hold.objects.filter(pk=hold.pk).update(corrected_s=1800)
    told(Hold.objects.get(pk=hold.pk), EventKind.HOLD_CORRECTED)
    posted(until="2026-03-01T00:00:00")
    own = {"organization_id": books.project.organization_id}
    assert sum(sums(month=at("2026-02-01").date(), **own).values()) == RATE
    assert sum(sums(month=at("2026-03-01").date(), **own).values()) == -RATE // 2
    balanced()


def test_discounts_and_bases_are_postings_of_their_own():
    books = Books.opened(rate=RATE)
    home = books.project.organization
    Contract.objects.create(organization=home, since=at("2026-01-01").date(), tax_milli=200)
    Discount.objects.create(
        kind="agreement", milli=100, organization=home, valid=(at("2026-01-01"), None)
    )
    ever = (at("2026-01-01"), None)
    Discount.objects.create(kind="off_peak", milli=500, valid=ever, from_hour=22, to_hour=6)
    told(books.hold((at("2026-03-01T21:00:00"), at("2026-03-01T23:00:00")), micro=1_000_000))
    found = posted(until="2026-03-02", project_id=books.project.pk)
    assert found == {
        Account.HELD_UNKNOWN: 2 * RATE,
        Account.AGREEMENT: -2 * RATE // 10,
        Account.OFF_PEAK: -RATE * 45 // 100,
        Account.TAX: (RATE * 90 // 100 + RATE * 45 // 100) // 5,
    }
    balanced()


def test_a_hold_corrected_after_its_project_moved_is_rated_in_its_own_currency():
    books = Books.opened(rate=RATE)
    hold = told(books.hold((at("2026-03-01T10:00:00"), at("2026-03-01T10:30:00")), micro=1_000_000))
    usage_meter()
    there = type(books.project.organization).objects.create(slug="far", name="Far", currency="USD")
    type(books.project).objects.filter(pk=books.project.pk).update(organization=there)
    Hold.objects.filter(pk=hold.pk).update(corrected_s=5400)
    told(Hold.objects.get(pk=hold.pk), EventKind.HOLD_CORRECTED)
    usage_meter()
    rows = Usage.objects.filter(hold=hold)
    assert {row.currency for row in rows} == {"EUR"}
    assert {row.organization_id for row in rows} == {books.project.organization_id}
    assert sum(row.amount_micro for row in rows) == RATE * 3 // 2


def test_the_database_refuses_what_does_not_balance_and_any_change():
    books = Books.opened(rate=RATE)
    told(books.hold((at("2026-03-01T10:00:00"), at("2026-03-01T11:00:00"))))
    posted(until="2026-03-01T12:00:00")
    entry = Entry.objects.first()
    day = at("2026-03-01").date()
    with pytest.raises(IntegrityError), transaction.atomic():
        Posting.objects.create(entry=entry, account="used", day=day, month=day, amount_micro=1)
    for statement in (
        "UPDATE billing_posting SET amount_micro = 0",
        "DELETE FROM billing_posting",
        "TRUNCATE billing_posting",
        "UPDATE billing_entry SET reason = 'x'",
    ):
        with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


def test_an_idle_hour_of_a_card_is_posted_even_if_nobody_came():
    books = Books.opened(rate=RATE)
    told(books.hold((at("2026-03-01T10:00:00"), at("2026-03-01T11:00:00")), micro=1_000_000))
    type(books.node.cards.first()).objects.update(partition=books.partition)
    found = posted(until="2026-03-01T15:00:00")
    assert found[Account.PLATFORM_IDLE] == 4 * RATE
    balanced()


def test_only_hours_that_are_over_are_posted():
    books = Books.opened(rate=RATE)
    start = database_now() - timedelta(hours=3)
    told(books.hold((start, None), micro=1_000_000), EventKind.PLACEMENT_OPENED)
    usage_meter()
    ledger_post(most=2000)
    last = Entry.objects.order_by("-hour").first()
    assert last is not None
    assert last.hour + timedelta(hours=1) <= database_now()
    balanced()


def _read_of_the_ledger():
    """Rows of the ledger that this transaction has looked at."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)"
            " FROM pg_stat_xact_user_tables WHERE relname = 'billing_posting'"
        )
        return cursor.fetchone()[0]


def test_what_is_added_is_checked_without_a_look_at_what_was_posted_before():
    home = Books.opened(rate=RATE).project.organization
    day = at("2026-03-01").date()
    lines = [
        Posted(Account.CORRECTION, None, Whose(home.pk), day, 7),
        Posted(Account.REVENUE, None, Whose(), day, -7),
    ]
    draft = Draft("card:1", at("2026-03-01"), "EUR", lines)
    entries_write([draft] * 50, bills=Bills.now(), now=at("2026-03-02"))
    with transaction.atomic():
        before = _read_of_the_ledger()
        entries_write([draft], bills=Bills.now(), now=at("2026-03-02"))
        assert _read_of_the_ledger() == before
    assert Posting.objects.count() == 102

"""A month with a million placements: posted hour by hour, read as a bill, closed, and compared."""

import os
import time

import pytest
from django.db import connection

from billing.models import Posting, Usage
from billing.selectors.budgets import budget_spent
from billing.selectors.lost import lost_to_preemption
from billing.selectors.newbook import new_book
from billing.selectors.reconciling import differences
from billing.selectors.statements import bill_of
from billing.selectors.stranded import card_days
from billing.selectors.team import month_days, month_groups, month_parts, month_waste
from billing.services.budgets import budget_set
from billing.services.metering import usage_meter
from billing.services.months import month_close, month_open, month_review
from billing.services.posting import ledger_post
from pool.events import SYSTEM
from pool.models import Card
from tests.billing.rows import Books, at, told

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.handmade_books,
    pytest.mark.timeout(3600),
]

PLACEMENTS = int(os.environ.get("BENCH_PLACEMENTS", "1000000"))
CARDS = int(os.environ.get("BENCH_CARDS", "300"))
HOURS = 28 * 24

FILL = """
INSERT INTO billing_usage ({columns})
SELECT {values} FROM billing_usage AS t,
    generate_series(0, %(count)s - 1) AS n,
    LATERAL (SELECT timestamptz '2026-02-01 00:00:00+00' + (n %% {hours}) * interval '1 hour'
        + ((n / {hours} / {cards}) %% 60) * interval '60 seconds' AS begin) AS s
WHERE t.id = %(row)s
"""
"""One short piece of a card an hour and placement: a million rows lie on all cards and hours."""


def filled(row, cards):
    """A usage row for each placement; the holds behind them are one and the same."""
    columns = [one.column for one in Usage._meta.concrete_fields if one.column != "id"]
    said = {
        "uid": "'ug-' || gen_random_uuid()",
        "hold_id": "NULL",
        "kept_id": "t.hold_id",
        "hour": f"timestamptz '2026-02-01 00:00:00+00' + (n %% {HOURS}) * interval '1 hour'",
        "starts_at": "s.begin",
        "ends_at": "s.begin + interval '45 seconds'",
        "reserved_us": "45000000",
        "card_id": f"(%(cards)s::bigint[])[1 + (n / {HOURS}) %% {len(cards)}]",
    }
    del said["kept_id"]
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE billing_usage DROP CONSTRAINT usage_of_a_hold_or_a_kept_card")
        cursor.execute(
            FILL.format(
                columns=", ".join(f'"{name}"' for name in columns),
                values=", ".join(said.get(name, f't."{name}"') for name in columns),
                hours=HOURS,
                cards=len(cards),
            ),
            {"count": PLACEMENTS, "row": row.pk, "cards": cards},
        )
        cursor.execute("ANALYZE billing_usage")


def test_closing_a_month_with_a_million_placements():
    books = Books.opened(rate=1_900_000)
    told(books.hold((at("2026-02-01T00:00:00"), at("2026-02-01T00:00:45")), micro=250_000))
    usage_meter()
    row = Usage.objects.get()
    first = Card.objects.get()
    for n in range(CARDS - 1):
        Card.objects.create(
            uuid=f"GPU-bench-{n}",
            node=books.node,
            vendor="nvidia",
            model=first.model,
            label=first.label,
            nominal_gb=80,
            memory_mib=81920,
            partition=books.partition,
        )
    filled(row, list(Card.objects.order_by("pk").values_list("pk", flat=True)))
    seconds = {}

    def timed(name, run):
        begin = time.monotonic()
        found = run()
        seconds[name] = time.monotonic() - begin
        return found

    def post():
        while ledger_post(until=at("2026-03-01"), most=200).more:
            pass

    home = books.project.organization
    timed("post every hour", post)
    month = month_open(organization=home, first=at("2026-02-01").date())
    where = {"organization": home, "first": month.first}
    budget = budget_set(organization=home, limit_micro=10**12, actor=SYSTEM)
    timed("the reconciliation", lambda: differences(since=at("2026-02-01"), until=at("2026-03-01")))
    parts = timed("parts of the month", lambda: month_parts(**where))
    timed("the month by person", lambda: month_groups(by="person", **where))
    timed("the month by template", lambda: month_groups(by="template", **where))
    timed("where money is wasted", lambda: month_waste(**where))
    timed("day by day", lambda: month_days(**where))
    timed("lost to preemption", lambda: lost_to_preemption(**where))
    timed("the month at the next prices", lambda: new_book(**where))
    timed("stranded by day", lambda: card_days(since=at("2026-02-01"), until=at("2026-03-01")))
    timed("a budget", lambda: budget_spent(budget=budget, at=at("2026-02-28")))
    bill = timed("the bill's lines", lambda: bill_of(month))
    timed("review", lambda: month_review(month=month, actor=SYSTEM))
    closed = timed("close", lambda: month_close(month=month, actor=SYSTEM))
    timed("post every hour again: nothing", post)
    assert closed.total_micro == bill.micro == sum(parts.values())
    assert not [
        one
        for one in differences(since=at("2026-02-01"), until=at("2026-03-01"))
        if "held time" not in one.what
    ]
    print(f"\n{PLACEMENTS} placements on {CARDS} cards, {Posting.objects.count()} postings")  # noqa: T201
    for name, took in seconds.items():
        print(f"  {name}: {took:.1f} s")  # noqa: T201

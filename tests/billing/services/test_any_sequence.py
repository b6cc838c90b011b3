"""Whatever happens in whatever order, the books balance and say what plain arithmetic says."""

from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from itertools import count

import pytest
from django.db.models import Sum
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from billing.errors import PriceInThePast
from billing.models import Cursor, Month, Posting, Usage
from billing.rating.days import month_of
from billing.rating.intervals import micros
from billing.selectors.reconciling import differences
from billing.services.metering import READER as METER
from billing.services.metering import usage_meter
from billing.services.months import month_close, month_open, month_review
from billing.services.posting import READER as LEDGER
from billing.services.posting import ledger_post
from billing.services.prices import price_set
from pool.events import SYSTEM
from pool.lifecycle.events import EventKind
from pool.models import Hold, Organization, Project
from tests.billing.rows import Books, told

pytestmark = pytest.mark.django_db(transaction=True)

ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Asia/Shanghai", "UTC")
HOURS = 18
"""A window round the end of a month, so that every zone's midnight lies in it."""

RATE = 1_900_000
months = count()

seconds = st.integers(0, (HOURS - 6) * 3600)
STEPS = st.one_of(
    st.tuples(st.just("hold"), seconds, st.integers(1, 5 * 3600), st.integers(1, 1_000_000)),
    st.tuples(st.just("correct"), st.integers(0, 9), st.integers(0, 5 * 3600)),
    st.tuples(st.just("price"), seconds, st.integers(0, 5_000_000)),
    st.tuples(st.just("move")),
    st.tuples(st.just("meter")),
    st.tuples(st.just("replay")),
    st.tuples(st.just("post")),
    st.tuples(st.just("close")),
)


class Play:
    """One organization's window, and beside it the plain facts that an oracle needs."""

    def __init__(self, zone):
        number = next(months)
        end = datetime(2008 + number // 12, number % 12 + 1, 1, tzinfo=UTC)
        self.begin = end - timedelta(hours=HOURS - 6)
        self.end = end + timedelta(hours=6)
        self.books = Books.opened(zone=zone, rate=None)
        self.home = self.books.project.organization
        self.prices = [(self.books_begin(), RATE)]
        self.books.price(RATE, "2000-01-01")
        self.holds = []
        Cursor.objects.filter(name=LEDGER).update(event=micros(self.begin))

    def books_begin(self):
        return datetime(2000, 1, 1, tzinfo=UTC)

    def hold(self, at_s, length_s, micro):
        start = self.begin + timedelta(seconds=at_s)
        row = self.books.hold((start, start + timedelta(seconds=length_s)), micro=micro)
        told(row)
        self.holds.append([row, start, length_s, micro])

    def correct(self, number, length_s):
        if not self.holds:
            return
        one = self.holds[number % len(self.holds)]
        one[2] = length_s
        Hold.objects.filter(pk=one[0].pk).update(corrected_s=length_s)
        told(Hold.objects.get(pk=one[0].pk), EventKind.HOLD_CORRECTED)

    def price(self, at_s, rate):
        start = self.begin + timedelta(seconds=at_s)
        usage_meter()
        try:
            price_set(
                partition=self.books.partition,
                rate_micro=rate,
                starts_at=start,
                rerate=True,
                actor=SYSTEM,
            )
        except PriceInThePast:
            return
        self.prices = [one for one in self.prices if one[0] != start] + [(start, rate)]

    def move(self):
        """The project goes to another organization; what was metered of it stays where it is."""
        usage_meter()
        there, _made = Organization.objects.get_or_create(
            slug=f"there-{self.home.pk}", defaults={"name": "There", "zone": self.home.zone}
        )
        now = Project.objects.get(pk=self.books.project.pk).organization_id
        other = there if now == self.home.pk else self.home
        Project.objects.filter(pk=self.books.project.pk).update(organization=other)

    def meter(self):
        usage_meter()

    def replay(self):
        Cursor.objects.filter(name=METER).update(epoch=0, xact=0, event=0)
        usage_meter()

    def post(self):
        usage_meter()
        while ledger_post(until=self.end, most=100).more:
            pass

    def close(self):
        self.post()
        first = month_of(self.begin.date())
        if Month.objects.filter(organization=self.home, first=first, state="closed").exists():
            return
        month = month_open(organization=self.home, first=first)
        month_review(month=month, actor=SYSTEM)
        month_close(month=month, actor=SYSTEM)

    def worth(self, start, length_s, micro):
        """What a hold comes to: every second at the rate in force, rounded once, half to even."""
        end = start + timedelta(seconds=length_s)
        edges = sorted(self.prices)
        total = Decimal(0)
        for (since, rate), (until, _next) in zip(edges, [*edges[1:], (self.end, 0)], strict=True):
            until = max(until, self.end) if (since, rate) == edges[-1] else until
            inside = (min(end, until) - max(start, since)) / timedelta(seconds=1)
            total += Decimal(rate) * micro * Decimal(max(0.0, inside)) / 3600 / 1_000_000
        return int(total.quantize(Decimal(1), rounding=ROUND_HALF_EVEN))


@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.sampled_from(ZONES), st.lists(STEPS, min_size=2, max_size=9))
def test_any_order_of_events_leaves_balanced_books_that_say_what_arithmetic_says(zone, steps):
    play = Play(zone)
    play.hold(3600, 2 * 3600 + 7, 428_571)
    for name, *words in steps:
        getattr(play, name)(*words)
    play.replay()
    play.post()
    for row, start, length_s, micro in play.holds:
        told_of = Usage.objects.filter(hold=row).aggregate(Sum("reserved_us"), Sum("amount_micro"))
        assert told_of["reserved_us__sum"] == length_s * 1_000_000
        assert told_of["amount_micro__sum"] == play.worth(start, length_s, micro)
    own = Posting.objects.filter(organization_id__in=homes(play))
    usage = Usage.objects.filter(organization__in=homes(play)).aggregate(s=Sum("amount_micro"))
    assert (own.aggregate(s=Sum("amount_micro"))["s"] or 0) == (usage["s"] or 0)
    assert not Posting.objects.values("entry").annotate(s=Sum("amount_micro")).exclude(s=0).exists()
    assert differences(since=play.begin, until=play.end) == []
    days = own.order_by().values("day").annotate(us=Sum("card_us"))
    whole = own.aggregate(us=Sum("card_us"))["us"] or 0
    assert sum(one["us"] for one in days) == whole
    assert abs(whole - sum(s * m for _row, _at, s, m in play.holds)) <= HOURS * len(play.holds)
    for month in Month.objects.filter(organization__in=homes(play), state="closed"):
        kept = own.filter(organization_id=month.organization_id, month=month.first)
        assert month.total_micro == (kept.aggregate(s=Sum("amount_micro"))["s"] or 0)


def homes(play):
    """Both organizations that the project may have been in."""
    return list(
        Organization.objects.filter(slug__in=[play.home.slug, f"there-{play.home.pk}"]).values_list(
            "pk", flat=True
        )
    )

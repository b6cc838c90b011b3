"""Kept cards count in budgets and months where the team pays them, and nowhere else."""

import pytest

from billing.models import Budget, Usage
from billing.selectors.budgets import budget_spent
from billing.selectors.charged import charged
from billing.selectors.usage import project_month
from billing.services.contracts import contract_set
from billing.services.metering import usage_meter
from pool.events import SYSTEM
from tests.billing.rows import Books, at, told
from tests.billing.services.test_keeping import card_of, kept, the_clock_says

pytestmark = pytest.mark.django_db(transaction=True)

RATE = 2_000_000
MARCH, APRIL = at("2026-03-01").date(), at("2026-04-01").date()


@pytest.fixture
def books():
    """Two hours of a kept card that stays idle, and one hour of a quarter held by other work."""
    books = Books.opened(rate=RATE)
    the_clock_says(at("2026-03-01T12:00:00"))
    kept(books, card_of(books))
    told(books.hold((at("2026-03-01T10:00:00"), at("2026-03-01T11:00:00")), micro=250_000))
    usage_meter()
    return books


def stands(books, measure):
    """What a budget of this month says is spent; in the ledger's millionths."""
    budget = Budget.objects.create(
        organization=books.project.organization,
        project=books.project,
        measure=measure,
        limit_micro=10**9,
    )
    spent = budget_spent(budget=budget).spent_micro
    budget.delete()
    return spent


def sums(books):
    month = project_month(project=books.project).amount_micro
    return stands(books, "money"), stands(books, "card_hours"), month


def test_budgets_and_the_month_count_kept_cards_by_who_pays_them(books):
    with_kept, without = (4_500_000, 2_250_000, 4_500_000), (500_000, 250_000, 500_000)
    home = books.project.organization
    assert sums(books) == with_kept
    contract_set(since=MARCH, guarantee_by="platform", actor=SYSTEM)
    assert sums(books) == without
    contract_set(organization=home, since=MARCH, guarantee_by="holders", actor=SYSTEM)
    assert sums(books) == with_kept, "its own words come before everybody's"
    contract_set(organization=home, since=APRIL, guarantee_by="platform", actor=SYSTEM)
    assert sums(books) == with_kept, "a later month's words count from then on"


def test_the_day_of_a_row_is_that_of_its_organization(books):
    row = Usage.objects.filter(kind="kept-idle").first()
    Usage.objects.filter(pk=row.pk).update(
        hour=at("2026-03-31T22:00:00"),
        starts_at=at("2026-03-31T22:00:00"),
        ends_at=at("2026-03-31T23:00:00"),
    )
    contract_set(since=APRIL, guarantee_by="platform", actor=SYSTEM)
    mine = Usage.objects.filter(pk=row.pk)
    assert charged(mine).exists()
    home = type(books.project.organization).objects.filter(pk=row.organization_id)
    home.update(zone="Europe/Berlin")
    assert not charged(mine).exists(), "it is midnight there: April has begun"


def test_what_is_not_asked_for_is_not_charged(books):
    Usage.objects.update(billable=False)
    assert not charged(Usage.objects.all()).exists()

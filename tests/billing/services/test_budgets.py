"""Budgets: what is spent, what people hear, what stops and what goes on again."""

from datetime import timedelta

import pytest

from billing.models import Budget
from billing.selectors.budgets import budget_effect, budget_spent
from billing.selectors.holds import database_now
from billing.services import acting, budgets
from billing.services.budgets import budget_overdraw, budget_remove, budget_set, budgets_watch
from billing.services.metering import usage_meter
from pool.errors import Invalid
from pool.events import SYSTEM
from pool.models import Event, Membership, Notice, Project, Workload
from tests.billing.rows import Books, told

pytestmark = pytest.mark.django_db(transaction=True)

HOUR = timedelta(hours=1)


@pytest.fixture
def books():
    """A whole card at 1 an hour, held for the two hours before the last full hour, this year."""
    found = Books.opened(rate=1_000_000)
    end = database_now().replace(minute=0, second=0, microsecond=0)
    told(found.hold((end - 2 * HOUR, end), micro=1_000_000))
    usage_meter()
    return found


def of_project(books, limit, **more):
    """Over this year, so that no month ends meanwhile."""
    now = database_now().date()
    days = {
        "every": "custom",
        "starts_on": now - timedelta(days=40),
        "ends_on": now + timedelta(days=40),
    }
    return budget_set(
        organization=books.project.organization,
        limit_micro=limit,
        actor=SYSTEM,
        **({"project": books.project} | days | more),
    )


def suspended(books):
    return Project.objects.get(pk=books.project.pk).suspended


def test_what_was_metered_is_spent_in_money_and_in_card_hours(books):
    assert budget_spent(budget=of_project(books, 10_000_000)).spent_micro == 2_000_000
    hours = of_project(books, 4_000_000, measure="card_hours")
    assert budget_spent(budget=hours).spent_micro == 2_000_000
    assert budget_spent(budget=hours).percent == 50


def test_the_effect_of_a_wish_is_shown_for_every_budget_over_it(books):
    of_project(books, 3_000_000, action="block")
    budget_set(organization=books.project.organization, limit_micro=10**9, actor=SYSTEM)
    one, two = budget_effect(project=books.project, user=books.user, micro_cost=1_500_000)
    both = {row.level: row for row in (one, two)}
    own = both["project"]
    assert (own.before_micro, own.after_micro, own.over_micro) == (2_000_000, 3_500_000, 500_000)
    assert (own.reaches, own.refuses) == (100, False)
    assert both["organization"].over_micro == 0


def test_somebody_elses_budget_does_not_bind(books):
    other = type(books.user).objects.create(username="other")
    of_project(books, 1, user=other)
    assert budget_effect(project=books.project, user=books.user, micro_cost=1) == []


def test_people_hear_of_each_level_once_a_period(books):
    Membership.objects.create(user=books.user, project=books.project, role="lead")
    budget = of_project(books, 2_400_000)
    for _ in range(3):
        budgets_watch()
    assert Event.objects.filter(kind="budget.warned").count() == 1
    assert Notice.objects.filter(user=books.user, kind="money").count() == 1
    of_project(books, 2_000_000)
    budgets_watch()
    assert Budget.objects.get(pk=budget.pk).told_level == 100
    assert not suspended(books)


def test_a_used_up_budget_stops_new_starts_and_lets_go_by_itself(books):
    budget = of_project(books, 2_000_000, action="block")
    budgets_watch()
    assert suspended(books)
    budgets_watch()
    assert Event.objects.filter(kind="budget.acted").count() == 1
    today = database_now().date()
    budget_overdraw(
        budget=budget, overdraft_micro=1_000_000, until=today, reason="a deadline", actor=SYSTEM
    )
    assert not suspended(books)
    budget_overdraw(budget=budget, overdraft_micro=0, until=today, reason="over", actor=SYSTEM)
    assert suspended(books)
    budget_remove(budget=budget, actor=SYSTEM)
    assert not suspended(books)


def test_two_budgets_let_go_only_together(books):
    own = of_project(books, 1_000_000, action="block")
    home = budget_set(
        organization=books.project.organization, limit_micro=0, action="block", actor=SYSTEM
    )
    budgets_watch()
    budget_remove(budget=own, actor=SYSTEM)
    assert suspended(books)
    budget_remove(budget=home, actor=SYSTEM)
    assert not suspended(books)


def test_a_person_suspends_and_no_budget_lets_go(books):
    Project.objects.filter(pk=books.project.pk).update(suspended=True, suspended_reason="audit")
    budget = of_project(books, 1_000_000, action="block")
    budgets_watch()
    budget_remove(budget=budget, actor=SYSTEM)
    assert suspended(books)


def test_a_persons_budget_keeps_back_that_persons_work_alone(books):
    own, other = books.workload(state="queued"), books.workload(state="queued")
    Workload.objects.filter(pk=other.pk).update(
        owner=type(books.user).objects.create(username="other")
    )
    budget = of_project(books, 1_000_000, user=books.user, action="block")
    budgets_watch()
    states = dict(Workload.objects.values_list("pk", "state"))
    assert (states[own.pk], states[other.pk]) == ("on_hold", "queued")
    budget_remove(budget=budget, actor=SYSTEM)
    assert Workload.objects.get(pk=own.pk).state == "queued"


def test_a_persons_work_goes_on_project_by_project_as_budgets_let_go(books):
    """Budgets of the whole organization and of one project, and one of another project."""
    there = Project.objects.create(
        organization=books.project.organization,
        slug="other",
        name="Other",
        trust_group=books.project.trust_group,
    )
    here, other = books.workload(state="queued"), books.workload(state="queued")
    Workload.objects.filter(pk=other.pk).update(project=there)
    one = of_project(books, 0, user=books.user, action="block")
    two = of_project(books, 0, user=books.user, action="block", project=there)
    budgets_watch()
    assert set(Workload.objects.values_list("state", flat=True)) == {"on_hold"}
    budget_remove(budget=one, actor=SYSTEM)
    states = dict(Workload.objects.values_list("pk", "state"))
    assert (states[here.pk], states[other.pk]) == ("queued", "on_hold")
    budget_remove(budget=two, actor=SYSTEM)
    assert set(Workload.objects.values_list("state", flat=True)) == {"queued"}


def test_what_moved_away_while_a_budget_kept_it_is_let_go(books):
    of_project(books, 1_000_000, action="block", project=None)
    budgets_watch()
    assert suspended(books)
    there = type(books.project.organization).objects.create(slug="far", name="Far")
    Project.objects.filter(pk=books.project.pk).update(organization=there)
    budgets_watch()
    assert not suspended(books)


def test_one_budget_that_fails_keeps_no_other_from_its_turn(books, monkeypatch):
    first = budget_set(organization=books.project.organization, limit_micro=0, actor=SYSTEM)
    of_project(books, 1_000_000, action="block")

    def spent(*, budget, at=None):
        if budget.pk == first.pk:
            raise ArithmeticError
        return budget_spent(budget=budget, at=at)

    monkeypatch.setattr(budgets, "budget_spent", spent)
    budgets_watch()
    assert suspended(books)


def test_work_that_was_placed_meanwhile_is_passed_over(books, monkeypatch):
    placed, waiting = books.workload(state="queued"), books.workload(state="queued")
    Workload.objects.filter(pk=placed.pk).update(state="running")
    monkeypatch.setattr(
        acting, "_waiting", lambda budget: Workload.objects.filter(owner=budget.user).order_by("pk")
    )
    budget = of_project(books, 1_000_000, user=books.user, action="block")
    budgets_watch()
    states = dict(Workload.objects.values_list("pk", "state"))
    assert (states[placed.pk], states[waiting.pk]) == ("running", "on_hold")
    assert Budget.objects.get(pk=budget.pk).acting_since is not None


def test_stopping_spares_what_does_not_give_way_and_endpoints(books):
    low = books.workload(state="queued", priority="low")
    normal = books.workload(state="queued")
    replica = books.workload(state="queued", priority="low", kind="replica")
    Workload.objects.filter(pk__in=[low.pk, normal.pk, replica.pk]).update(state="running")
    of_project(books, 1_000_000, action="stop_preemptible")
    budgets_watch()
    left = {one.pk for one in Workload.objects.filter(stop_reason="")}
    assert low.pk not in left
    assert {normal.pk, replica.pk} <= left


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"limit_micro": -1}, "limit_micro"),
        ({"every": "week"}, "every"),
        ({"action": "shout"}, "action"),
        ({"measure": "bananas"}, "measure"),
        ({"every": "custom"}, "ends_on"),
    ],
)
def test_what_no_budget_can_be_is_refused(books, given, field):
    words = {"organization": books.project.organization, "limit_micro": 1, "actor": SYSTEM} | given
    with pytest.raises(Invalid) as refused:
        budget_set(**words)
    assert field in refused.value.detail

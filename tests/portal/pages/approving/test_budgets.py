"""Budgets before and after, beside a decision and while one asks, as far as one may read them."""

import pytest

from billing.models.budgets import Budget
from billing.services.budgets import budget_set
from pool.clock import now
from pool.events import SYSTEM


@pytest.fixture
def asked(world):
    """A request that has a price and could run in the world's partition."""
    one = world.own.asked()
    one.partitions.add(world.partition)
    return one


def budget(world, limit, *, of_project=True):
    project = world.own.project
    return budget_set(
        organization=project.organization,
        project=project if of_project else None,
        limit_micro=limit,
        actor=SYSTEM,
    )


def test_a_decider_sees_the_budget_before_and_after(visit, world, asked):
    budget(world, 10**12)
    shown = visit("lead").part(f"/approvals/{asked.uid}/").content.decode()
    assert "budget" in shown
    assert "over the budget" not in shown


def test_a_budget_that_would_be_passed_is_said_to_whoever_may_read_it(visit, world, asked):
    budget(world, 1)
    shown = visit("lead").part(f"/approvals/{asked.uid}/").content.decode()
    assert "over the budget" in shown or "nothing of it would start" in shown


def test_without_a_budget_nothing_is_said_of_one(visit, world, asked):
    Budget.objects.update(removed_at=now())
    shown = visit("lead").part(f"/approvals/{asked.uid}/").content.decode()
    assert 'gp-sub">budget' not in shown


def test_whoever_asks_reads_the_projects_budget_and_not_anothers(visit, world):
    budget(world, 1)
    words = {
        "project": "vision",
        "template": world.version.template.slug,
        "time_value": "2 h",
        "copies": "3",
        "kind": "on_demand",
    }
    shown = visit("member").send("/requests/judged/", words, htmx=True).content.decode()
    assert "for all 3," in shown
    assert "Budget" in shown
    budget(world, 1, of_project=False)
    shown = visit("member").send("/requests/judged/", words, htmx=True).content.decode()
    assert "Budget" in shown

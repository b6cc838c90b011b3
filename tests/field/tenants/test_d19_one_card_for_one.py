"""D19: many ask for the one free card at once; it is given once, and nobody sees an error."""

import pytest
from django.db import connection

from pool.cycle.audit import breaches_now
from pool.cycle.round import run_rounds
from pool.models import Hold, Placement, Quota, Workload
from tests import rows
from tests.portal.callers import caller
from tests.races.test_rounds import together

pytestmark = pytest.mark.django_db(transaction=True)

CARD = 1_000_000
MANY = 50


@pytest.fixture
def place():
    """One free card, and two people who may each hold it."""
    part = rows.partition(modes=["whole", "mig"])
    rows.node()
    into = rows.project()
    people = [rows.member(into), rows.member(into)]
    words = {"label": "A100-80GB", "partition": part}
    levels = ({"organization": into.organization}, {"project": into})
    for level in (*levels, *({"project": into, "user": one} for one in people)):
        rows.quota(limit=MANY * CARD, **level, **words)
    rows.quota(limit=MANY * CARD, project=into, kind="allowance", **words)
    version = rows.template(need={"parts": 1, "whole": True})
    version.body = {
        "kind": "job",
        "project": into.slug,
        "template": version.template.slug,
        "command": ["sleep", "600"],
        "expected_seconds": 600,
    }
    return people, version.body


@pytest.mark.parametrize("rounds", [1, 2])
def test_fifty_at_once_for_one_card_exactly_one_runs(place, rounds):
    people, body = place
    callers = [caller(one) for one in people]
    said, refused = [], []

    def submits(who, count):
        def act():
            for _ in range(count):
                answer = who.post("workloads", body)
                said.append(answer.status_code)
                refused.extend([answer.content] * (answer.status_code != 201))

        return act

    def plans():
        for _ in range(10):
            run_rounds()

    acts = [submits(who, MANY // 10) for who in callers for _ in range(5)]
    raised = together(*acts, *([plans] * rounds))
    run_rounds()
    connection.close()
    assert raised == [None] * len(raised)
    assert said == [201] * MANY, refused
    assert Workload.objects.filter(state="placed").count() == 1
    assert Workload.objects.filter(state="queued").count() == MANY - 1
    live = Hold.objects.filter(held__upper_inf=True, card__isnull=False)
    assert live.count() == len({one.card_id for one in live}) == 1
    assert Placement.objects.filter(state="open").count() == 1
    runs = Workload.objects.get(state="placed")
    limits = Quota.objects.filter(kind="limit")
    assert limits.get(organization__isnull=False).held == CARD
    assert limits.get(project=runs.project, user=None).held == CARD
    assert {row.user_id: row.held for row in limits.filter(user__isnull=False)} == {
        one.pk: CARD * (one.pk == runs.owner_id) for one in people
    }
    assert breaches_now() == []

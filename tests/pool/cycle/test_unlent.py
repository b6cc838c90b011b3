"""What is guaranteed and not lent stays free for its owner; the rest is lent while it is idle."""

import pytest

from pool.cycle.round import run_rounds
from pool.models import Quota
from tests import rows
from tests.pool.obedient import Obedient
from tests.pool.place import seen

pytestmark = pytest.mark.django_db

WHOLE = {"need": {"whole": True}, "asked_micro": 1_000_000}


@pytest.fixture
def guarantee():
    """Two of two cards are guaranteed to a project; another has nothing of its own."""
    part = rows.partition()
    Obedient(rows.node(cards=2))
    words = {"label": "A100-80GB", "partition": part, "kind": "entitlement"}
    row = rows.quota(limit=2_000_000, project=rows.project(), **words)
    rows.quota(limit=0, project=rows.project(), **words)
    return row


def started(into):
    work = rows.workload(into=into, **WHOLE)
    run_rounds()
    return seen(work).state == "placed"


def test_all_is_lent_unless_the_guarantee_says_otherwise(guarantee):
    other = Quota.objects.exclude(pk=guarantee.pk).get().project
    assert [started(other), started(other), started(other)] == [True, True, False]


def test_what_is_not_lent_stays_free_for_its_owner(guarantee):
    Quota.objects.filter(pk=guarantee.pk).update(lend_limit=1_000_000)
    other = Quota.objects.exclude(pk=guarantee.pk).get().project
    assert [started(other), started(other)] == [True, False]
    assert started(guarantee.project)


def test_what_the_owner_holds_counts_as_kept(guarantee):
    Quota.objects.filter(pk=guarantee.pk).update(lend_limit=1_000_000)
    other = Quota.objects.exclude(pk=guarantee.pk).get().project
    assert started(guarantee.project)
    assert started(other)

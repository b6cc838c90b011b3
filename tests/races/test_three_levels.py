"""Two hundred starts at once under caps of an organization, its projects and their members: each
cap is reached and none is passed, and the levels add up at every moment somebody looks."""

import threading

import pytest
from django.db import connection

from pool.clock import now
from pool.cycle.audit import breaches_now
from pool.cycle.snapshot import take
from pool.errors import QuotaExceeded, Stale
from pool.events import SYSTEM
from pool.models import Hold, Quota
from pool.scheduling.plan import plan
from pool.services.placements import placement_open
from tests import rows
from tests.races.test_rounds import together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]

CARD = 1_000_000
JOBS, HANDS = 100, 20
CAPS = {"organization": 55, "projects": (35, 30), "member": 12}
_LEVELS = """
SELECT coalesce(sum(held) FILTER (WHERE organization_id IS NOT NULL), 0),
       coalesce(sum(held) FILTER (WHERE project_id IS NOT NULL AND user_id IS NULL), 0),
       coalesce(sum(held) FILTER (WHERE user_id IS NOT NULL), 0),
       count(*) FILTER (WHERE held > limit_value OR held > ceiling OR held < 0)
FROM pool_quota
"""


def looked():
    """The three sums of one instant; none is passed."""
    with connection.cursor() as cursor:
        cursor.execute(_LEVELS)
        *levels, broken = cursor.fetchone()
    assert broken == 0
    assert len(set(levels)) == 1, levels
    return levels[0]


@pytest.fixture
def asked():
    """A hundred jobs of eight people in two projects, planned while nothing bounds them."""
    part = rows.partition()
    rows.node(cards=JOBS)
    home = rows.organization()
    version = rows.template(need={"parts": 1, "whole": True})
    projects = [rows.project(organization=home) for _ in range(2)]
    people = [(one, rows.member(one)) for one in projects for _ in range(4)]
    for number in range(JOBS):
        into, owner = people[number % len(people)]
        rows.workload(into=into, owner=owner, version=version, asked_micro=CARD, cpu_milli=500)
    made = plan(take(now())).placed
    assert len(made) == JOBS
    words = {"label": "A100-80GB", "partition": part}
    rows.quota(organization=home, limit=CAPS["organization"] * CARD, **words)
    for one, cap in zip(projects, CAPS["projects"], strict=True):
        rows.quota(project=one, limit=cap * CARD, **words)
    for one, owner in people:
        rows.quota(project=one, user=owner, limit=CAPS["member"] * CARD, **words)
    return made


def starting(mine, refused, ended):
    """One hand: its share of the starts, one after the other."""

    def act():
        try:
            for placed in mine:
                try:
                    placement_open(workload_id=placed.workload, placed=placed, actor=SYSTEM)
                except (QuotaExceeded, Stale) as told:
                    refused.append(told)
        finally:
            ended()

    return act


def test_two_hundred_starts_at_once_reach_three_levels_of_caps_and_pass_none(asked):
    left, refused, looks = threading.Semaphore(0), [], []
    over = threading.Event()

    def watch():
        while not over.is_set():
            looks.append(looked())
            over.wait(0.05)

    def last():
        for _ in range(HANDS):
            left.acquire()
        over.set()

    twice = [*asked, *asked[::-1]]
    hands = [starting(twice[n::HANDS], refused, left.release) for n in range(HANDS)]
    assert together(watch, last, *hands) == [None] * (HANDS + 2)
    assert looked() == CAPS["organization"] * CARD
    assert Hold.objects.filter(held__upper_inf=True, card__isnull=False).count() == 55
    assert len(refused) == 2 * JOBS - 55
    for row in Quota.objects.filter(user=None, project__isnull=False):
        members = Quota.objects.filter(project=row.project, user__isnull=False)
        assert sum(one.held for one in members) == row.held <= row.limit_value
    assert len(looks) > 1
    assert breaches_now() == []

"""How long work waited, team by team, against the target; others' teams are not counted."""

from datetime import timedelta

import pytest

from pool.clock import now
from pool.events import SYSTEM
from pool.models import Workload
from pool.selectors.memberships import Standing, standing
from pool.selectors.rounds import team_waits
from pool.services.queueing.steer import wait_target_set
from tests import rows

pytestmark = pytest.mark.django_db

ALL = Standing(platform=True)


def started(into, waited_s, ago=timedelta(hours=1)):
    """Work that has ended by now: only its times are looked at."""
    row = rows.workload(into=into, state="succeeded")
    begun = now() - ago
    Workload.objects.filter(pk=row.pk).update(
        queued_at=begun - timedelta(seconds=waited_s), started_at=begun
    )
    return row


def test_percentiles_are_of_what_started_within_a_week():
    into = rows.project()
    for waited in (10, 20, 30, 40, 1000):
        started(into, waited)
    started(into, 99_999, ago=timedelta(days=8))
    (team,) = team_waits(standing=ALL)
    assert (team.slug, team.started, team.p50_s, team.p95_s) == (into.slug, 5, 30.0, 808.0)
    assert (team.waiting, team.oldest_s, team.late) == (0, None, False)


def test_a_team_is_late_by_what_waits_now_as_well():
    into = rows.project()
    row = rows.workload(into=into)
    Workload.objects.filter(pk=row.pk).update(queued_at=now() - timedelta(seconds=700))
    wait_target_set(seconds=600, actor=SYSTEM)
    (team,) = team_waits(standing=ALL)
    assert (team.started, team.p50_s, team.p95_s, team.waiting) == (0, None, None, 1)
    assert 700 <= team.oldest_s < 760 and team.late


def test_the_longest_wait_comes_first_and_work_that_came_back_is_no_wait_backwards():
    short, long = rows.project(), rows.project()
    started(short, 5)
    started(long, 50)
    back = started(short, 5)
    Workload.objects.filter(pk=back.pk).update(queued_at=now())
    teams = team_waits(standing=ALL)
    assert [(one.slug, one.started) for one in teams] == [(long.slug, 1), (short.slug, 1)]


def test_a_member_sees_only_the_own_teams():
    mine, other = rows.project(), rows.project()
    started(mine, 5)
    started(other, 50)
    rows.workload(into=other)
    seen = standing(user=rows.member(mine))
    assert [one.slug for one in team_waits(standing=seen)] == [mine.slug]
    assert team_waits(standing=Standing()) == []

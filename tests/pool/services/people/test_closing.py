"""Projects close or move only once nothing of them lives; wound down they close by themselves."""

import pytest

from pool.errors import Invalid, StillLiving
from pool.events import SYSTEM
from pool.models import Event, Project
from pool.selectors.people.living import project_living
from pool.services.people.closing import (
    closings_due,
    project_archive,
    project_move,
    project_reopen,
)
from pool.services.people.places import (
    organization_archive,
    organization_change,
    project_change,
)
from pool.services.tenants import project_create, project_resume
from tests import rows
from tests.portal.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.handmade_books]


@pytest.fixture
def own():
    return World().own


def test_a_project_in_use_is_not_archived_until_it_is_wound_down(own):
    with pytest.raises(StillLiving) as refused:
        project_archive(project=own.project, actor=SYSTEM)
    assert refused.value.detail["workloads"] == 1
    assert refused.value.detail["leases"] == 1
    own.project.refresh_from_db()
    assert (own.project.suspended, own.project.archived_at) == (False, None)

    project_archive(project=own.project, actor=SYSTEM, wind_down=True)
    assert closings_due() == 1
    done = Project.objects.get(pk=own.project.pk)
    assert done.archived_at is not None
    assert project_living(project=done).nothing
    for row, state in (
        (own.workload, "cancelled"),
        (own.request, "withdrawn"),
        (own.lease, "ended"),
    ):
        row.refresh_from_db()
        assert row.state == state
    own.schedule.refresh_from_db()
    assert own.schedule.state == "paused"
    own.account.refresh_from_db()
    own.invitation.refresh_from_db()
    assert not own.account.is_active
    assert own.invitation.revoked_at is not None
    assert project_archive(project=done, actor=SYSTEM).archived_at == done.archived_at


def test_what_still_runs_keeps_the_project_closing_until_it_is_gone(own):
    work = own.work(state="running", name="long")
    done = project_archive(project=own.project, actor=SYSTEM, wind_down=True)
    assert (done.archived_at, done.suspended) == (None, True)
    assert done.closing_since is not None
    assert closings_due() == 0
    work.refresh_from_db()
    assert work.state == "stopping"
    type(work).objects.filter(pk=work.pk).update(state="cancelled")
    assert closings_due() == 1
    own.project.refresh_from_db()
    assert own.project.archived_at is not None
    assert Event.objects.filter(kind="project.archived").count() == 1


def test_a_closing_project_cannot_be_resumed_but_reopened(own):
    own.work(state="running")
    project_archive(project=own.project, actor=SYSTEM, wind_down=True)
    with pytest.raises(Invalid):
        project_resume(project=own.project, actor=SYSTEM)
    again = project_reopen(project=own.project, actor=SYSTEM)
    assert (again.closing_since, again.suspended) == (None, False)


def test_a_project_moves_with_its_people_and_leaves_a_shared_trust_group_behind(own):
    there = rows.organization()
    sister = rows.project(organization=own.organization, trust_group=own.project.trust_group)
    with pytest.raises(StillLiving):
        project_move(project=own.project, organization=there, actor=SYSTEM)
    project_move(project=own.project, organization=there, actor=SYSTEM, wind_down=True)
    closings_due()
    moved = Project.objects.get(pk=own.project.pk)
    assert moved.organization == there
    assert (moved.suspended, moved.moving_to) == (False, None)
    assert moved.trust_group_id != sister.trust_group_id
    assert moved.memberships.count() == own.project.memberships.count() == 3
    told = Event.objects.filter(kind="project.arrived").values_list("organization_id", flat=True)
    assert sorted(told) == sorted([own.organization.pk, there.pk])
    with pytest.raises(Invalid):
        project_move(project=moved, organization=there, actor=SYSTEM)


def test_an_organization_is_archived_after_its_projects_and_takes_no_new_ones(own):
    with pytest.raises(Invalid):
        organization_archive(organization=own.organization, actor=SYSTEM)
    project_archive(project=own.project, actor=SYSTEM, wind_down=True)
    closings_due()
    away = organization_archive(organization=own.organization, actor=SYSTEM)
    assert away.archived_at is not None
    with pytest.raises(Invalid):
        project_create(organization=away, slug="late", name="Late", actor=SYSTEM)
    with pytest.raises(Invalid):
        project_reopen(project=Project.objects.get(pk=own.project.pk), actor=SYSTEM)


def test_changes_are_told_once_and_wrong_ones_change_nothing():
    project = rows.project()
    for _ in range(2):
        project_change(project=project, actor=SYSTEM, cost_centre="CC 7", name="Sight")
    event = Event.objects.get(kind="project.changed")
    assert event.data["cost_centre"] == {"before": "", "after": "CC 7"}
    for wrong in ({"most_live": 0}, {"most_live": True}, {"name": "\n"}, {"cost_centre": "x" * 64}):
        with pytest.raises(Invalid):
            project_change(project=project, actor=SYSTEM, **wrong)
    home = project.organization
    with pytest.raises(Invalid):
        organization_change(organization=home, actor=SYSTEM, currency_fixed=False, zone="Mars/Base")
    with pytest.raises(Invalid):
        organization_change(organization=home, actor=SYSTEM, currency="USD", currency_fixed=True)
    changed = organization_change(
        organization=home, actor=SYSTEM, currency_fixed=False, currency="USD"
    )
    assert changed.currency == "USD"

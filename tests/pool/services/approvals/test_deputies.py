"""Deputies decide for somebody away, for the time they were named and no request of that person."""

from datetime import timedelta

import pytest
from django.utils import timezone

from pool.errors import Forbidden, Invalid, OwnRequest
from pool.lifecycle.roles import Role
from pool.models import Event, Membership, Notice
from pool.selectors.approvals.powers import deciders_of
from pool.selectors.memberships import standing
from pool.selectors.requests import approval_list
from pool.services.approvals.delegations import delegation_create, delegation_end
from pool.services.decisions import request_approve
from pool.services.requests import request_submit
from tests import factories as make

HOUR = timedelta(hours=1)


@pytest.fixture
def deputy(world):
    """A colleague who only runs work."""
    return make.user("dora", Role.MEMBER, at=world.project)


def named(world, who, **words):
    asked = {
        "person": world.lead,
        "deputy": who,
        "starts_at": timezone.now() - HOUR,
        "ends_at": timezone.now() + HOUR,
    }
    return delegation_create(**(asked | words), actor=make.by(world.lead))


def asked(world, user=None):
    user = user or world.member
    return request_submit(
        user=user,
        project=world.project,
        template_version=world.finetune,
        actor=make.by(user),
        weights=make.FREE,
    )


def yes(request, user):
    return request_approve(request=request, user=user, actor=make.by(user))


def test_a_deputy_sees_the_inbox_and_decides_in_the_name_of_who_is_away(world, deputy):
    request = asked(world)
    with pytest.raises(Forbidden):
        yes(request, deputy)
    assert not approval_list(standing=standing(user=deputy)).exists()
    named(world, deputy)
    assert list(approval_list(standing=standing(user=deputy))) == [request]
    assert yes(request, deputy).decided_by == deputy
    told = Event.objects.get(kind="request.approved").data
    assert told["deputy_of"] == world.lead.username
    assert Notice.objects.filter(user=deputy, kind="deputy").count() == 1


def test_a_deputy_is_told_what_waits_as_well(world, deputy):
    named(world, deputy)
    assert set(deciders_of(project=world.project, step="lead")) == {world.lead, deputy}
    asked(world)
    assert Notice.objects.filter(user=deputy, kind="to_decide").count() == 1


def test_the_power_ends_with_its_time_when_ended_and_with_the_persons_role(world, deputy):
    request = asked(world)
    one = named(world, deputy, starts_at=timezone.now() - 3 * HOUR)
    delegation_end(delegation=one, actor=make.by(world.lead))
    delegation_end(delegation=one, actor=make.by(world.lead))
    with pytest.raises(Forbidden):
        yes(request, deputy)
    named(world, deputy)
    Membership.objects.filter(user=world.lead).delete()
    with pytest.raises(Forbidden):
        yes(request, deputy)


def test_before_its_begin_a_deputy_decides_nothing(world, deputy):
    request = asked(world)
    named(world, deputy, starts_at=timezone.now() + HOUR, ends_at=timezone.now() + 2 * HOUR)
    with pytest.raises(Forbidden):
        yes(request, deputy)


def test_nobody_has_their_own_request_decided_by_their_deputy(world, deputy):
    named(world, deputy)
    with pytest.raises(Forbidden):
        yes(asked(world, user=world.lead), deputy)
    with pytest.raises(OwnRequest):
        yes(asked(world, user=deputy), deputy)


def test_deputies_are_colleagues_one_at_a_time_and_for_a_bounded_time(world, deputy):
    stranger = make.user("sam", Role.MEMBER, at=make.project("speech"))
    for wrong in (
        {"deputy": stranger},
        {"deputy": world.lead},
        {"ends_at": timezone.now() - HOUR},
        {"ends_at": timezone.now() + timedelta(days=400)},
    ):
        with pytest.raises(Invalid):
            named(world, deputy, **wrong)
    named(world, deputy)
    with pytest.raises(Invalid):
        named(world, world.admin)
    with pytest.raises(Forbidden):
        named(world, world.lead, person=world.member)

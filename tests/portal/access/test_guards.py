"""Who may do what: the whole table, scopes, and not-there before not-allowed."""

import pytest

from pool.errors import Forbidden, NotYours
from pool.lifecycle.roles import Role
from pool.models import Project, Workload
from pool.selectors.memberships import standing
from pool.selectors.tenants import project_list
from pool.selectors.workloads import workload_list
from pool.services.workloads import workload_submit
from portal.access.guards import anywhere, found, guard, may, roles_at
from portal.access.roles import MAY, Verb, allowed
from tests import factories as make

V = Verb


def test_every_role_is_in_the_table_and_admins_may_everything():
    assert set(MAY) == set(Role)
    assert MAY[Role.PLATFORM_ADMIN] == frozenset(Verb)


@pytest.mark.parametrize(
    ("weaker", "stronger"),
    [
        (Role.VIEWER, Role.MEMBER),
        (Role.MEMBER, Role.LEAD),
        (Role.LEAD, Role.ORG_ADMIN),
        (Role.ORG_ADMIN, Role.PLATFORM_ADMIN),
        (Role.BILLING_READER, Role.ORG_ADMIN),
    ],
)
def test_a_stronger_role_may_all_that_a_weaker_one_may(weaker, stronger):
    assert MAY[weaker] < MAY[stronger]


def test_reading_roles_change_nothing():
    for role in (Role.VIEWER, Role.BILLING_READER):
        assert all(verb.value.endswith(".see") for verb in MAY[role])
    assert not allowed(frozenset({Role.BILLING_READER}), V.WORK_SEE)
    assert not allowed(frozenset(), V.WORK_SEE)


@pytest.fixture
def world(db):
    """One project with people, eight cards and three templates."""
    return make.World()


@pytest.fixture
def work(world):
    """A workload of the member's."""
    return workload_submit(
        user=world.member,
        project=world.project,
        template_version=world.finetune,
        command=["true"],
        actor=make.by(world.member),
    )


def test_a_role_counts_only_where_it_is_held(world):
    other = make.project("speech", of=world.organization)
    foreign = make.project("render")
    for thing, mine in ((world.project, True), (other, False), (foreign, False)):
        assert may(standing(user=world.lead), V.REQUEST_DECIDE, thing) is mine
    for thing, mine in ((world.project, True), (other, True), (foreign, False)):
        assert may(standing(user=world.admin), V.REQUEST_DECIDE, thing) is mine
    assert may(standing(user=world.platform), V.REQUEST_DECIDE, foreign)


def test_one_stops_ones_own_work_and_leads_anybodys(world, work):
    colleague = make.user("col", Role.MEMBER, at=world.project)
    assert may(standing(user=world.member), V.WORK_STOP, work)
    assert may(standing(user=world.lead), V.WORK_STOP, work)
    with pytest.raises(Forbidden):
        guard(standing(user=colleague), V.WORK_STOP, work)


def test_strangers_hear_not_found_and_insiders_forbidden(world, work):
    stranger = make.user("sam", Role.LEAD, at=make.project("render"))
    viewer = make.user("vic", Role.VIEWER, at=world.project)
    payer = make.user("bo", Role.BILLING_READER, at=world.organization)
    with pytest.raises(NotYours):
        guard(standing(user=stranger), V.WORK_STOP, work)
    with pytest.raises(Forbidden):
        guard(standing(user=viewer), V.WORK_STOP, work)
    with pytest.raises(NotYours):
        guard(standing(user=payer), V.WORK_STOP, work)
    with pytest.raises(Forbidden):
        guard(standing(user=payer), V.QUOTA_SET, world.organization)
    guard(standing(user=payer), V.COST_SEE, work)


def test_only_the_platform_manages_the_platform(world):
    for person in (world.member, world.lead, world.admin):
        with pytest.raises(Forbidden):
            guard(standing(user=person), V.NODE_MANAGE)
    guard(standing(user=world.platform), V.NODE_MANAGE)


def test_lists_hold_ones_own_tenants_and_nobody_elses(world, work):
    other = make.project("render")
    stranger = make.user("sam", Role.MEMBER, at=other)
    nobody = make.user("nob")
    seen = {
        person: list(workload_list(standing=standing(user=person)))
        for person in (world.member, world.lead, world.admin, world.platform, stranger, nobody)
    }
    assert [bool(rows) for rows in seen.values()] == [True, True, True, True, False, False]
    assert list(project_list(standing=standing(user=stranger))) == [other]
    with pytest.raises(NotYours):
        found(workload_list(standing=standing(user=stranger)), work.uid)
    assert found(workload_list(standing=standing(user=world.member)), work.uid) == work


@pytest.mark.parametrize("uid", ["", "wl-1", "' OR 1=1 --", "\x00", "名" * 500])
def test_a_strange_uid_is_not_found(db, uid):
    with pytest.raises(NotYours):
        found(Workload.objects.all(), uid)


def test_a_leaver_has_no_role_left(world):
    world.lead.is_active = False
    world.lead.save()
    assert roles_at(standing(user=world.lead), world.project) == frozenset()


def test_doors_are_shown_to_those_who_may_use_them_somewhere(world):
    assert anywhere(standing(user=world.lead), V.REQUEST_DECIDE)
    assert not anywhere(standing(user=world.member), V.REQUEST_DECIDE)
    assert Project.objects.count() == 1

"""Who may decide what: one's own roles, and those of people one stands in for now."""

from django.db.models import Q, QuerySet

from pool.clock import now
from pool.lifecycle.roles import Role
from pool.models.approvals.delegations import Delegation
from pool.models.requests import Request
from pool.models.tenants import Membership, Project
from pool.models.users import User
from pool.rules.approval import DECIDERS
from pool.selectors.memberships import Standing, standing

BY_PLACE = {Role.LEAD: "project", Role.ORG_ADMIN: "project__organization"}


def delegations_now(*, deputy: int) -> QuerySet[Delegation]:
    """Those for whom this person (by key) stands in at this moment."""
    rows = Delegation.objects.filter(deputy=deputy, ended_at=None, span__contains=now())
    return rows.filter(person__is_active=True).select_related("person").order_by("pk")


def roles_to_decide(*, user: User, request: Request) -> frozenset[Role]:
    """The roles this person may decide the request with, lent ones among them.

    Whoever asked lends nothing for it: nobody decides their own request, nor has a deputy do it.
    """
    roles = standing(user=user).roles_in(request.project)
    for one in delegations_now(deputy=user.pk).exclude(person=request.requester_id):
        roles |= standing(user=one.person).roles_in(request.project) & set(DECIDERS)
    return roles


def stands_in_for(*, user: User, request: Request) -> User | None:
    """Whose power a deputy uses on this request; None where their own roles are enough."""
    step = request.steps[request.step] if request.step < len(request.steps) else Role.LEAD
    enough = set(DECIDERS[DECIDERS.index(Role(step)) :])
    if enough & standing(user=user).roles_in(request.project):
        return None
    for one in delegations_now(deputy=user.pk).exclude(person=request.requester_id):
        if enough & standing(user=one.person).roles_in(request.project):
            return one.person
    return None


def decides_where(*, standing_of: Standing) -> Q | None:
    """Rows with a project in which this person decides, for themselves or as a deputy.

    None means everywhere.
    """
    lent = [standing(user=one.person) for one in delegations_now(deputy=standing_of.user)]
    if standing_of.platform or any(one.platform for one in lent):
        return None
    found = Q(pk__in=[])
    for one in (standing_of, *lent):
        found |= Q(project__in=one.in_projects(Role.LEAD))
        found |= Q(project__organization__in=one.in_organizations(Role.ORG_ADMIN))
    return found


def decides_anywhere(*, standing: Standing) -> bool:
    """Whether this person decides about requests somewhere, themselves or as a deputy."""
    return standing.decides or delegations_now(deputy=standing.user).exists()


def deciders_of(*, project: Project, step: str, but: int = 0) -> list[User]:
    """Who can say yes to a step there, deputies of those who are away among them.

    Whoever holds exactly the step's role comes; stronger roles only where nobody else would be
    left. `but` is the key of whoever asked.
    """
    for role in DECIDERS[DECIDERS.index(Role(step)) :]:
        found = _holders(project, role, but)
        if found:
            return found
    return []


def _holders(project: Project, role: Role, but: int) -> list[User]:
    place = {
        Role.LEAD: Q(project=project),
        Role.ORG_ADMIN: Q(organization=project.organization_id),
        Role.PLATFORM_ADMIN: Q(project=None, organization=None),
    }[role]
    rows = Membership.objects.filter(place, role=role, user__is_active=True)
    held = set(rows.exclude(user=but).values_list("user", flat=True))
    away = Delegation.objects.filter(person__in=held, ended_at=None, span__contains=now())
    held |= set(away.exclude(deputy=but).values_list("deputy", flat=True))
    return list(User.objects.filter(pk__in=held, is_active=True).order_by("username"))

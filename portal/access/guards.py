"""One answer to "may I?" for pages, REST and sockets: 404 before 403."""

from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from pool.errors import Forbidden, NotYours
from pool.lifecycle.roles import Role
from pool.models import Organization, Project, Request, Schedule, Workload
from pool.selectors.memberships import Standing
from portal.access.roles import MAY, Verb, allowed

M = TypeVar("M", bound=Model)

_OWNED = {Verb.WORK_STOP: Verb.WORK_STOP_ANY, Verb.REQUEST_MAKE: Verb.REQUEST_CHANGE_ANY}
"""What a member may do to things of their own, and what it takes to do it to another's."""


def found(rows: QuerySet[M], uid: str) -> M:
    """The row with this uid among those the caller may see.

    Raises:
        NotYours: it is not among them, whether it exists or not.
    """
    row = rows.filter(uid=uid).first() if uid.isprintable() else None
    if row is None:
        raise NotYours
    return row


def roles_at(standing: Standing, place: Any) -> frozenset[Role]:
    """The roles that count where a thing lives: its project, its organization, the platform.

    `place` is a project, an organization, something that has one of them, or None for the
    platform itself.
    """
    held = {Role.PLATFORM_ADMIN} if standing.platform else set()
    project = place if isinstance(place, Project) else getattr(place, "project", None)
    organization_id = _organization(place, project)
    if project is not None:
        held |= {role for role, ids in standing.projects.items() if project.pk in ids}
    if organization_id is not None:
        held |= {role for role, ids in standing.organizations.items() if organization_id in ids}
    return frozenset(held)


def may(standing: Standing, verb: Verb, thing: Any = None) -> bool:
    """Whether the person may do this to the thing, or at the place, or (None) on the platform."""
    wanted = _OWNED.get(verb, verb) if _others(standing, thing) else verb
    return allowed(roles_at(standing, thing), wanted)


def guard(standing: Standing, verb: Verb, thing: Any = None) -> None:
    """Pass, or refuse.

    Raises:
        NotYours: the person holds no role where the thing lives and is not to know of it.
        Forbidden: the role held there does not allow this.
    """
    if may(standing, verb, thing):
        return
    if thing is not None and not _knows_of(standing, thing):
        raise NotYours
    raise Forbidden


def owns(standing: Standing, thing: Any) -> bool:
    """Whether the thing is the person's own, or the person runs the platform and may change all."""
    return standing.platform or thing.owner_id == standing.user


def own(standing: Standing, thing: M) -> M:
    """The thing, where it may be changed.

    Raises:
        Forbidden: it is another's.
    """
    if not owns(standing, thing):
        raise Forbidden
    return thing


def anywhere(standing: Standing, verb: Verb) -> bool:
    """Whether some role held anywhere allows the verb: to show a door, never to open it."""
    held = set(standing.organizations) | set(standing.projects)
    if standing.platform:
        held.add(Role.PLATFORM_ADMIN)
    return any(verb in MAY[role] for role in held)


def _organization(place: Any, project: Project | None) -> int | None:
    if isinstance(place, Organization):
        return place.pk
    if project is not None:
        return project.organization_id
    found_id: int | None = getattr(place, "organization_id", None)
    return found_id


def _knows_of(standing: Standing, thing: Any) -> bool:
    """A role anywhere in it lets one know of a project or organization; work needs more."""
    roles = roles_at(standing, thing)
    if isinstance(thing, (Project, Organization)):
        return bool(roles)
    return allowed(roles, Verb.WORK_SEE)


def _others(standing: Standing, thing: Any) -> bool:
    """Whether the thing has an owner who is not this person."""
    if isinstance(thing, (Workload, Schedule)):
        return thing.owner_id != standing.user
    if isinstance(thing, Request):
        return thing.requester_id != standing.user
    return False

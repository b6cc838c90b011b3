"""Roles that a directory's groups bring: mapped by an admin, given and taken at each reading."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import structlog
from django.db import transaction

from pool.errors import Invalid, NotYours, PoolError
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models.people.groups import SOURCES, GroupRole
from pool.models.tenants import Membership, Organization, Project
from pool.models.users import User
from pool.rules.problems import Problem
from pool.rules.problems import marked as _
from pool.rules.tenants import role_problem
from pool.services.memberships import membership_add, membership_remove
from pool.services.refusals import refuse

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Moved:
    """How many roles one reading gave and took, and how many it could not take."""

    given: int = 0
    taken: int = 0
    kept: int = 0


@transaction.atomic
def group_role_set(
    *,
    source: str,
    group: str,
    role: str,
    actor: Actor,
    organization: Organization | None = None,
    project: Project | None = None,
) -> GroupRole:
    """Whoever the directory lists in the group holds the role there; twice changes nothing.

    Raises:
        Invalid: an unknown directory, an empty group, or a role not of the place.
    """
    known = Problem(_("Choose from: %(known)s."), {"known": ", ".join(SOURCES)})
    short = 0 < len(group.strip()) <= 255
    refuse(
        {
            "source": None if source in SOURCES else known,
            "group": None if short else Problem(_("1 to 255 characters are needed.")),
            "role": role_problem(
                role, in_organization=organization is not None, in_project=project is not None
            ),
        }
    )
    row, made = GroupRole.objects.get_or_create(
        source=source, group=group.strip(), role=role, organization=organization, project=project
    )
    if made:
        _tell(row, actor, "added")
    return row


@transaction.atomic
def group_role_change(
    *,
    group_role: GroupRole,
    source: str,
    group: str,
    role: str,
    actor: Actor,
    organization: Organization | None = None,
    project: Project | None = None,
) -> GroupRole:
    """Let the mapping say something else; who held the old role by it loses it at the next reading.

    The same again changes nothing. Where another mapping says the new thing already, this one goes.

    Raises:
        Invalid: as `group_role_set`.
        NotYours: it is gone.
    """
    row = GroupRole.objects.select_for_update(of=("self",)).filter(pk=group_role.pk).first()
    if row is None:
        raise NotYours
    new = group_role_set(
        source=source,
        group=group,
        role=role,
        organization=organization,
        project=project,
        actor=actor,
    )
    if new.pk != row.pk:
        _tell(row, actor, "removed")
        row.delete()
    return new


@transaction.atomic
def group_role_remove(*, group_role: GroupRole, actor: Actor) -> None:
    """The group brings this role no more; who held it through it loses it at the next reading.

    Raises:
        NotYours: it is gone already.
    """
    row = GroupRole.objects.select_for_update(of=("self",)).filter(pk=group_role.pk).first()
    if row is None:
        raise NotYours
    _tell(row, actor, "removed")
    row.delete()


@transaction.atomic
def person_groups_read(*, user: User, source: str, groups: Iterable[str], actor: Actor) -> Moved:
    """Make the roles that this directory brings the person what its groups say now.

    Roles given by hand are not touched. A role that must stay (the last platform admin's) stays.
    """
    here = User.objects.select_for_update(no_key=True).get(pk=user.pk).is_active
    names = {one.casefold() for one in groups}
    wanted = {
        (row.role, row.organization_id, row.project_id): row
        for row in GroupRole.objects.filter(source=source).select_related("organization", "project")
        if here and row.group.casefold() in names
    }
    held = {
        (row.role, row.organization_id, row.project_id): row
        for row in Membership.objects.filter(user=user)
    }
    given = [wanted[key] for key in wanted if key not in held]
    for one in given:
        membership_add(
            user=user,
            role=one.role,
            organization=one.organization,
            project=one.project,
            source=source,
            actor=actor,
        )
    over = [row for key, row in held.items() if row.source == source and key not in wanted]
    taken = sum(_taken(row, actor) for row in over)
    return Moved(len(given), taken, len(over) - taken)


def directory_read(*, source: str, people: Mapping[str, Iterable[str]], actor: Actor) -> Moved:
    """Roles of everybody by user name and groups, whoever the directory lists no more included.

    Somebody whose roles cannot be what it says is told in the log, and is nobody else's matter.
    """
    total = Moved()
    known = User.objects.filter(username__in=list(people))
    gone = User.objects.filter(memberships__source=source).exclude(username__in=list(people))
    for user in [*known.order_by("pk"), *gone.distinct().order_by("pk")]:
        try:
            one = person_groups_read(
                user=user, source=source, groups=people.get(user.username, ()), actor=actor
            )
        except PoolError as odd:
            log.warning("directory.person_left_out", user=user.pk, why=str(odd))
            continue
        total = Moved(total.given + one.given, total.taken + one.taken, total.kept + one.kept)
    return total


def _taken(row: Membership, actor: Actor) -> bool:
    try:
        with transaction.atomic():
            membership_remove(membership=row, actor=actor)
    except Invalid as stays:
        log.warning("directory.role_kept", user=row.user_id, role=row.role, why=str(stays))
        return False
    return True


def _tell(row: GroupRole, actor: Actor, what: str) -> None:
    record(
        EventKind.GROUP_ROLE_CHANGED,
        row,
        actor=actor,
        project=row.project,
        source=row.source,
        group=row.group,
        role=row.role,
        what=what,
    )

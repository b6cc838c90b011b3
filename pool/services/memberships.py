"""Who is what, and where: roles given and taken."""

from django.db import transaction
from django.db.models import F, Q, Value
from django.utils.translation import gettext

from pool.errors import Invalid, NotYours
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.roles import Role
from pool.models.tenants import Membership, Organization, Project
from pool.models.users import User
from pool.rules.tenants import ACCOUNT_ROLES, role_problem
from pool.selectors.desired import UIDS_OF_A_PROJECT
from pool.services.people.inviters import invitations_end
from pool.services.people.told import tell_of_role
from pool.services.refusals import refuse


@transaction.atomic
def membership_add(
    *,
    user: User,
    role: str,
    actor: Actor,
    organization: Organization | None = None,
    project: Project | None = None,
    source: str = "",
) -> Membership:
    """Give a role on the platform, in an organization, or in a project; twice changes nothing.

    `source` is the directory that brings it; a role given by hand stays a role given by hand.

    Raises:
        Invalid: the role is not one of that place.
    """
    if organization is not None and project is not None:
        raise Invalid(project=gettext("A role is held in one place."))
    wrong = role_problem(
        role, in_organization=organization is not None, in_project=project is not None
    )
    refuse({"role": wrong})
    _account_in_its_place(user, role, project)
    if project is not None:
        _unix_number_is_free(user, project)
    row, made = Membership.objects.get_or_create(
        user=user,
        role=role,
        organization=organization,
        project=project,
        defaults={"source": source},
    )
    if made:
        number = _tell(row, actor, "added")
        if actor.id != user.uid:
            tell_of_role(membership=row, event=number)
    return row


@transaction.atomic
def membership_remove(*, membership: Membership, actor: Actor) -> None:
    """Take a role away, and with it the open invitations that only it let the person send.

    Raises:
        NotYours: it is gone already.
        Invalid: it is the last active platform admin's.
    """
    row = _locked(membership)
    if row.role == Role.PLATFORM_ADMIN:
        keep_an_admin(leaving=row.user)
    number = _tell(row, actor, "removed")
    tell_of_role(membership=row, event=number, gone=True)
    row.delete()
    invitations_end(user=row.user, actor=actor)


@transaction.atomic
def membership_change(*, membership: Membership, role: str, actor: Actor) -> Membership:
    """Give another role in the same place instead; the same again changes nothing.

    From then on it is a role given by hand. Where the person holds the new role there already, the
    old one simply goes.

    Raises:
        NotYours: it is gone.
        Invalid: the role is not one of that place.
    """
    row = _locked(membership)
    wrong = role_problem(
        role, in_organization=row.organization is not None, in_project=row.project is not None
    )
    refuse({"role": wrong})
    _account_in_its_place(row.user, role, row.project)
    if row.role == role:
        return row
    old = row.role
    place = {"user": row.user, "organization": row.organization, "project": row.project}
    known = Membership.objects.filter(role=role, **place).first()
    if known is not None:
        _tell(row, actor, "removed")
        row.delete()
        invitations_end(user=row.user, actor=actor)
        return known
    row.role, row.source = role, ""
    row.save(update_fields=["role", "source"])
    number = _tell(row, actor, "changed", before=old)
    tell_of_role(membership=row, event=number)
    invitations_end(user=row.user, actor=actor)
    return row


def _account_in_its_place(user: User, role: str, project: Project | None) -> None:
    """A service account works in its own project, as a member or viewer, and decides nothing.

    Raises:
        Invalid: it would be more, or be elsewhere.
    """
    if not user.service_account:
        return
    at_home = project is not None and user.service_project_id in (None, project.pk)
    if role not in ACCOUNT_ROLES or not at_home:
        raise Invalid(
            role=gettext("A service account is a member or a viewer of its own project only.")
        )


def _unix_number_is_free(user: User, project: Project) -> None:
    """Work of two people must never run under one Unix account: each would read the other's files.

    Raises:
        Invalid: somebody who is in the project, or whose work was, has the number of this person.
    """
    if user.unix_account:
        return
    others = User.objects.filter(unix_account="").exclude(pk=user.pk)
    here = others.filter(Q(memberships__project=project) | Q(workloads__project=project))
    number = F("pk") % Value(UIDS_OF_A_PROJECT)
    same = here.alias(number=number).filter(number=user.pk % UIDS_OF_A_PROJECT).first()
    if same is not None:
        raise Invalid(
            user=gettext(
                "On the nodes %(user)s would share an account with %(other)s in this project: "
                "give one of them a Unix account of their own first."
            )
            % {"user": user.username, "other": same.username}
        )


def keep_an_admin(*, leaving: User) -> None:
    """Pass while another active platform admin stays; holds their rows meanwhile.

    Raises:
        Invalid: nobody else would be left.
    """
    admins = Membership.objects.select_for_update(of=("self",)).filter(
        role=Role.PLATFORM_ADMIN, user__is_active=True
    )
    if not [row for row in admins.order_by("pk") if row.user_id != leaving.pk]:
        raise Invalid(role=gettext("The last platform admin stays."))


def _locked(membership: Membership) -> Membership:
    rows = Membership.objects.select_for_update(of=("self",))
    row = rows.select_related("user", "project", "organization").filter(pk=membership.pk).first()
    if row is None:
        raise NotYours
    return row


def _tell(row: Membership, actor: Actor, what: str, **more: str) -> int:
    place = row.project or row.organization
    return record(
        EventKind.MEMBERSHIP_CHANGED,
        row,
        actor=actor,
        project=row.project,
        user=row.user.uid,
        role=row.role,
        place=place.uid if place else "",
        what=what,
        **more,
    )

"""People are invited by mail: once, until a date, into one place and role."""

import secrets
from datetime import timedelta

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext

from pool.clock import now
from pool.errors import Invalid, NotYours, TooMany
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models.people.invitations import Invitation
from pool.models.tenants import Organization, Project
from pool.models.users import User
from pool.rules.people import USUAL, lifetime_problem
from pool.rules.problems import Problem
from pool.rules.problems import marked as _
from pool.rules.tenants import role_problem
from pool.services.memberships import membership_add
from pool.services.nodes import secret_hash
from pool.services.people.told import tell_of_arrival
from pool.services.refusals import refuse
from pool.services.users import user_create

MOST_OPEN = 200
"""Open invitations of one place: a leaked admin session must not become a mail cannon."""


@transaction.atomic
def invitation_send(
    *,
    email: str,
    role: str,
    user: User,
    actor: Actor,
    organization: Organization | None = None,
    project: Project | None = None,
    seconds: int = int(USUAL.total_seconds()),
    message: str = "",
) -> tuple[Invitation, str]:
    """A new invitation, and the secret of its link, which is told only here.

    An open one of the same address, place and role is replaced: its link works no more.

    Raises:
        Invalid: no mail address, a role not of the place, an archived place, a wrong life time.
        TooMany: the place has 200 open ones.
    """
    place = project or organization
    wrong: dict[str, Problem | None] = {
        "email": _email_problem(email),
        "role": role_problem(
            role, in_organization=organization is not None, in_project=project is not None
        ),
        "expires_in_seconds": lifetime_problem(seconds),
        "message": Problem(_("At most 500 characters.")) if len(message) > 500 else None,
    }
    if place is None or (organization is not None and project is not None):
        wrong["project"] = Problem(_("Name one project, or one organization."))
    elif place.archived_at is not None:
        wrong["project"] = Problem(_("It is archived."))
    refuse(wrong)
    open_ones = invitations_open().filter(organization=organization, project=project)
    open_ones.filter(email__iexact=email, role=role).update(revoked_at=now())
    if open_ones.count() >= MOST_OPEN:
        raise TooMany(what=gettext("open invitations"), limit=MOST_OPEN)
    secret = secrets.token_urlsafe(32)
    row = Invitation.objects.create(
        email=email,
        role=role,
        organization=organization,
        project=project,
        message=message.strip(),
        secret_hash=secret_hash(secret),
        invited_by=user,
        expires_at=now() + timedelta(seconds=seconds),
    )
    _tell(EventKind.INVITATION_SENT, row, actor)
    return row, secret


def invitations_open() -> QuerySet[Invitation]:
    """Invitations whose link works now: not those of somebody who is let go or disabled."""
    return Invitation.objects.filter(
        accepted_at=None, revoked_at=None, expires_at__gt=now(), invited_by__is_active=True
    )


def invitation_find(secret: str) -> Invitation | None:
    """The open invitation of a link; None for every other text, used, revoked and late ones."""
    rows = invitations_open().select_related("project__organization", "organization", "invited_by")
    found = rows.filter(secret_hash=secret_hash(secret)).first()
    place = (found.project or found.organization) if found is not None else None
    return found if place is not None and place.archived_at is None else None


@transaction.atomic
def invitation_accept(*, secret: str, user: User, actor: Actor) -> Invitation:
    """The person who is logged in takes the role; the link works no more.

    Raises:
        NotYours: no open invitation has this secret.
        Invalid: a service account cannot accept.
    """
    row = _taken(secret)
    if user.service_account:
        raise Invalid(user=gettext("A service account belongs to one project only."))
    membership_add(
        user=user, role=row.role, organization=row.organization, project=row.project, actor=actor
    )
    row.accepted_at, row.accepted_by = now(), user
    row.save(update_fields=["accepted_at", "accepted_by"])
    _tell(EventKind.INVITATION_ACCEPTED, row, actor, user=user.uid)
    tell_of_arrival(invitation=row, user=user)
    return row


@transaction.atomic
def invitation_join(*, secret: str, username: str, password: str, display_name: str = "") -> User:
    """Whoever holds the link makes an account with the invited address, and takes the role.

    Raises:
        NotYours: no open invitation has this secret.
        Invalid: a name that is taken or wrong, a weak password.
    """
    row = _taken(secret)
    host = Actor("user", row.invited_by.uid, row.invited_by.username)
    user = user_create(
        username=username,
        password=password,
        display_name=display_name,
        email=row.email,
        actor=host,
    )
    invitation_accept(secret=secret, user=user, actor=Actor.of(user))
    return user


@transaction.atomic
def invitation_revoke(*, invitation: Invitation, actor: Actor) -> Invitation:
    """Its link works no more; one that is over stays as it is."""
    row = Invitation.objects.select_for_update().get(pk=invitation.pk)
    if row.accepted_at is None and row.revoked_at is None:
        row.revoked_at = now()
        row.save(update_fields=["revoked_at"])
        _tell(EventKind.INVITATION_REVOKED, row, actor)
    return row


def _taken(secret: str) -> Invitation:
    """The open invitation, locked, so that two acceptances are one.

    Raises:
        NotYours: there is none.
    """
    found = invitation_find(secret)
    if found is None:
        raise NotYours
    rows = Invitation.objects.select_for_update(of=("self",))
    row = rows.select_related("project", "organization", "invited_by").get(pk=found.pk)
    if not invitations_open().filter(pk=row.pk).exists():
        raise NotYours
    return row


def _tell(kind: EventKind, row: Invitation, actor: Actor, **more: str) -> None:
    place = row.project or row.organization
    words = {"email": row.email, "role": row.role, "place": place.uid if place else ""}
    record(kind, row, actor=actor, project=row.project, **words, **more)


def _email_problem(email: str) -> Problem | None:
    try:
        validate_email(email)
    except ValidationError:
        return Problem(_("This is not an e-mail address."))
    return None

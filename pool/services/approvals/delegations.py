"""Deputies: named for a time, ended before it, told about it."""

from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.utils.translation import gettext

from pool.clock import now
from pool.errors import Forbidden, Invalid
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.roles import Role
from pool.models.approvals.delegations import Delegation
from pool.models.tenants import Membership
from pool.models.users import User
from pool.rules.notices import NoticeKind
from pool.rules.problems import marked as _
from pool.selectors.memberships import Standing, standing
from pool.services.notices.send import notice_send

LONGEST = timedelta(days=92)


@transaction.atomic
def delegation_create(
    *,
    person: User,
    deputy: User,
    starts_at: datetime,
    ends_at: datetime,
    actor: Actor,
    reason: str = "",
) -> Delegation:
    """Let the deputy decide for the person in that time; both are told.

    Raises:
        Forbidden: the person decides nothing.
        Invalid: the deputy is outside of their organizations, the time is wrong, or another deputy
            is named for a part of it.
    """
    own = standing(user=person)
    if not own.decides:
        raise Forbidden
    if starts_at >= ends_at or ends_at <= now() or ends_at - starts_at > LONGEST:
        raise Invalid(ends_at=gettext("The end lies after the begin and now, 92 days at the most."))
    if deputy == person or deputy.service_account or not _near(own, deputy):
        raise Invalid(deputy=gettext("Choose somebody else who belongs to your organization."))
    try:
        with transaction.atomic():
            made = Delegation.objects.create(
                person=person,
                deputy=deputy,
                span=DateTimeTZRange(starts_at, ends_at),
                reason=reason.strip()[:200],
            )
    except IntegrityError as twice:
        raise Invalid(starts_at=gettext("A deputy is named for a part of that time.")) from twice
    told: dict[str, Any] = {"deputy": deputy.username, "until": ends_at.isoformat()}
    record(EventKind.DELEGATION_STARTED, made, actor=actor, person=person.username, **told)
    notice_send(
        kind=NoticeKind.DEPUTY,
        to=[deputy],
        about=made,
        text=_("You decide for %(who)s from %(from_at)s until %(until_at)s."),
        key=f"deputy:{made.uid}",
        who=str(person),
        from_at=starts_at.isoformat(),
        until_at=ends_at.isoformat(),
    )
    return made


@transaction.atomic
def delegation_end(*, delegation: Delegation, actor: Actor) -> Delegation:
    """End it now; doing it twice changes nothing. The deputy is told."""
    row = Delegation.objects.select_for_update(of=("self",)).select_related("person", "deputy")
    found = row.get(pk=delegation.pk)
    if found.ended_at is not None:
        return found
    found.ended_at = now()
    found.save(update_fields=["ended_at"])
    record(EventKind.DELEGATION_ENDED, found, actor=actor, person=found.person.username)
    notice_send(
        kind=NoticeKind.DEPUTY,
        to=[found.deputy],
        about=found,
        text=_("You no longer decide for %(who)s."),
        key=f"deputy-over:{found.uid}",
        who=str(found.person),
    )
    return found


def _near(own: Standing, deputy: User) -> bool:
    """Whether the deputy holds a role where the person decides, or on the platform."""
    theirs = standing(user=deputy)
    if theirs.platform or (own.platform and theirs.first_role is not None):
        return True
    places = Membership.objects.filter(user=deputy, user__is_active=True)
    admin = own.in_organizations(Role.ORG_ADMIN)
    return (
        places.filter(project__in=own.in_projects(Role.LEAD)).exists()
        or places.filter(organization__projects__in=own.in_projects(Role.LEAD)).exists()
        or places.filter(organization__in=admin).exists()
        or places.filter(project__organization__in=admin).exists()
    )

"""What people are told of people: a role given or taken, somebody who left, an invitation taken."""

from django.db.models import Q

from pool.lifecycle.roles import Role
from pool.models.people.invitations import Invitation
from pool.models.requests import Request
from pool.models.schedules import Schedule
from pool.models.tenants import Membership, Project
from pool.models.users import User
from pool.rules.notices import NoticeKind
from pool.rules.problems import marked as _
from pool.selectors.people.living import work_open
from pool.services.notices.send import notice_send

NOW = {
    Role.PLATFORM_ADMIN: _("You administer the platform now."),
    Role.ORG_ADMIN: _("You administer %(place)s now."),
    Role.BILLING_READER: _("You read the bills of %(place)s now."),
    Role.LEAD: _("You lead %(place)s now."),
    Role.MEMBER: _("You are a member of %(place)s now."),
    Role.VIEWER: _("You may look into %(place)s now."),
}
NO_MORE = {
    Role.PLATFORM_ADMIN: _("You administer the platform no more."),
    Role.ORG_ADMIN: _("You administer %(place)s no more."),
    Role.BILLING_READER: _("You read the bills of %(place)s no more."),
    Role.LEAD: _("You lead %(place)s no more."),
    Role.MEMBER: _("You are a member of %(place)s no more."),
    Role.VIEWER: _("You look into %(place)s no more."),
}


def tell_of_role(*, membership: Membership, event: int, gone: bool = False) -> None:
    """Tell a person what they are now, or no more, in the transaction that makes it so.

    `event` is the number of the event that says so: who becomes the same once more hears it again.
    """
    place = membership.project or membership.organization
    role = Role(membership.role)
    mark = "role-over" if gone else "role"
    notice_send(
        kind=NoticeKind.PEOPLE,
        to=[membership.user],
        about=place or membership.user,
        text=(NO_MORE if gone else NOW)[role],
        key=f"{mark}:{membership.uid}:{role}:{event}",
        place=str(place) if place is not None else "",
    )


def tell_of_leaver(*, user: User, heir: User | None) -> None:
    """Tell the heir what comes to them, and the leads of each project that somebody has left.

    Before the roles are taken: they say where the person was.
    """
    until = user.winds_down_at.isoformat() if user.winds_down_at else ""
    if heir is not None:
        notice_send(
            kind=NoticeKind.PEOPLE,
            to=[heir],
            about=user,
            text=_(
                "%(who)s has left and you take over: resting notebooks and their files, schedules,"
                " leases and pending requests are yours where you work too."
            ),
            key=f"heir:{user.uid}:{until}",
            who=str(user),
        )
    inside = Q(memberships__user=user) | Q(workloads__in=work_open(Q(owner=user)))
    for project in Project.objects.filter(inside, archived_at=None).distinct():
        leads = User.objects.filter(memberships__project=project, memberships__role=Role.LEAD)
        notice_send(
            kind=NoticeKind.PEOPLE,
            to=leads.exclude(pk=user.pk),
            about=project,
            text=_(
                "%(who)s has left %(place)s. What of theirs runs is stopped at %(until_at)s at the"
                " latest."
            ),
            key=f"left:{user.uid}:{project.uid}:{until}",
            who=str(user),
            place=str(project),
            until_at=until,
        )


def tell_of_lost(*, row: Schedule | Request, heir: User, count: int, event: int) -> None:
    """Tell whoever has a schedule or a request now that it goes on without the personal things of
    who had it.

    `event` is the number of the event that says so: who takes it over once more hears it again.
    """
    notice_send(
        kind=NoticeKind.PEOPLE,
        to=[heir],
        about=row,
        text=_(
            "%(name)s is yours now and runs without %(count)s secrets or folders of whoever had it:"
            " name your own where it needs some."
        ),
        key=f"lost:{row.uid}:{heir.uid}:{event}",
        name=str(row),
        count=count,
    )


def tell_of_arrival(*, invitation: Invitation, user: User) -> None:
    """Tell whoever invited somebody that they have come."""
    place = invitation.project or invitation.organization
    assert place is not None
    notice_send(
        kind=NoticeKind.PEOPLE,
        to=[invitation.invited_by],
        about=place,
        text=_("%(who)s has taken your invitation to %(place)s."),
        key=f"arrived:{invitation.uid}",
        who=str(user),
        place=str(place),
    )

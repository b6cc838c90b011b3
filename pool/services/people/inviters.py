"""Invitations live only as long as their sender manages people in the place they lead to."""

from pool.clock import now
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models.people.invitations import Invitation
from pool.models.users import User
from pool.selectors.memberships import standing
from pool.selectors.people.invited import invitation_list


def invitations_end(*, user: User, actor: Actor) -> int:
    """Revoke what this person has sent into places where they manage people no more; how many.

    Within the transaction that takes the role: nobody comes back by a link of their own.
    """
    managed = invitation_list(standing=standing(user=user)).values("pk")
    rows = Invitation.objects.select_for_update(of=("self",)).select_related(
        "project", "organization"
    )
    over = rows.filter(invited_by=user, accepted_at=None, revoked_at=None).exclude(pk__in=managed)
    return sum(_revoked(row, actor) for row in over.order_by("pk"))


def _revoked(row: Invitation, actor: Actor) -> bool:
    row.revoked_at = now()
    row.save(update_fields=["revoked_at"])
    place = row.project or row.organization
    words = {"email": row.email, "role": row.role, "place": place.uid if place else ""}
    record(EventKind.INVITATION_REVOKED, row, actor=actor, project=row.project, **words)
    return True

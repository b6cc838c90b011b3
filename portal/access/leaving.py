"""Somebody leaves: what the pool ends and hands on, and the tokens that only the portal knows."""

from django.db import transaction
from django.utils.translation import gettext as _

from pool.errors import Invalid
from pool.events import Actor
from pool.models import User
from pool.rules.people import WIND_DOWN
from pool.selectors.memberships import Standing
from pool.selectors.users import user_list
from pool.services.people.leavers import user_leave
from portal.access.tokens import token_revoke
from portal.models import ApiToken, GatewayPass


@transaction.atomic
def person_leave(
    *,
    user: User,
    actor: Actor,
    heir: User | None = None,
    seconds: int = int(WIND_DOWN.total_seconds()),
) -> User:
    """Let a person go; every token of theirs is revoked for good in the same transaction.

    Raises:
        Invalid: as `user_leave`.
    """
    row = user_leave(user=user, heir=heir, seconds=seconds, actor=actor)
    for token in ApiToken.objects.filter(user=row, revoked_at=None).order_by("pk"):
        token_revoke(token=token, actor=actor)
    GatewayPass.objects.filter(user=row).delete()
    return row


def heir_named(standing: Standing, name: str) -> User:
    """The person with that user name among those whom the caller administers.

    Raises:
        Invalid: there is none.
    """
    found = user_list(standing=standing).filter(username=name).first()
    if found is None:
        raise Invalid(heir=_("No such person."))
    return found

"""One yes to several requests: all of them, or none."""

from collections.abc import Mapping, Sequence

from django.db import transaction
from django.utils.translation import gettext

from pool.errors import Invalid
from pool.events import Actor
from pool.models.requests import Request
from pool.models.users import User
from pool.selectors.together import requests_check_together
from pool.services.decisions import request_approve, request_undo
from pool.services.requests import request_locked

MOST = 50
"""How many requests one yes may cover."""


@transaction.atomic
def requests_approve(
    *,
    requests: Sequence[Request],
    revisions: Mapping[str, int],
    user: User,
    actor: Actor,
    delay_s: int = 0,
) -> list[Request]:
    """Say yes to the due step of each request, as it was read; nothing is kept if one is refused.

    `revisions` are the readings by uid; rows are locked in the order of their keys.

    Raises:
        Invalid: none or too many are named, or their sum passes a limit or an entitlement.
        OwnRequest, Forbidden, AlreadyDecided, Stale, QuotaExceeded: as request_approve.
    """
    if not 0 < len(requests) <= MOST:
        raise Invalid(requests=gettext("Choose between 1 and %(n)d requests.") % {"n": MOST})
    ordered = sorted(requests, key=lambda one: one.pk)
    locked = [request_locked(request=one) for one in ordered]
    if not requests_check_together(requests=locked).fits:
        raise Invalid(requests=gettext("Together they pass a limit; nothing was approved."))
    return [
        request_approve(
            request=one,
            user=user,
            actor=actor,
            revision=revisions.get(one.uid, -1),
            delay_s=delay_s,
        )
        for one in locked
    ]


@transaction.atomic
def requests_undo(*, requests: Sequence[Request], user: User, actor: Actor) -> list[Request]:
    """Take one yes to several requests back before it takes effect: from all of them, or none.

    Raises:
        Stale: one of them has taken effect, or was decided otherwise meanwhile.
        Forbidden: somebody else said yes to one.
    """
    ordered = sorted(requests, key=lambda one: one.pk)
    return [request_undo(request=one, user=user, actor=actor) for one in ordered]

"""That a ticket is used by the browser of the person it was made for, and by no other.

Whoever is led to somebody else's ticket would sit in that notebook under their own eyes, beside its
scripts. So the gateway marks the browser with a number of its own, the portal says with its
signature whose ticket that browser may use, and the gateway compares.
"""

import hashlib

from django.core import signing
from django.utils.crypto import constant_time_compare

from pool import clock
from pool.models import User
from portal.access.passes import TICKET_S
from portal.access.tokens import token_hash
from portal.models import GatewayPass

SALT = "portal.access.entrances"


def mark_of(number: str) -> str:
    """What the portal is told of the number in the browser's cookie."""
    return hashlib.sha256(number.encode()).hexdigest()


def entrance_vouched(*, plain: str, uid: str, mark: str, user: User) -> str | None:
    """The portal's word that this browser may use the ticket; None when it is not its person's."""
    theirs = GatewayPass.objects.filter(
        ticket_hash=token_hash(plain),
        ticket_until__gt=clock.now(),
        cookie_hash=None,
        workload__uid=uid,
        user=user,
    )
    return signing.dumps([token_hash(plain), mark], salt=SALT) if theirs.exists() else None


def entrance_holds(*, word: str, plain: str, number: str) -> bool:
    """Whether the portal has said so of this very ticket and this very browser, just now."""
    try:
        ticket, mark = signing.loads(word, salt=SALT, max_age=TICKET_S)
    except (signing.BadSignature, ValueError, TypeError):
        return False
    fits = constant_time_compare(ticket, token_hash(plain))
    return fits and constant_time_compare(mark, mark_of(number))

"""API tokens: issue, find, revoke. Only a hash is ever stored."""

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from pool import clock
from pool.errors import Invalid, NotYours, TooMany
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models import User
from pool.services.nodes import secret_hash
from portal.models import SCOPES, ApiToken

PREFIX = "gpt_"
USED_EVERY = timedelta(minutes=1)
MOST_TOKENS = 50


def token_hash(plain: str) -> str:
    """What is stored of a token: 256 random bits need no salt and no slow hash."""
    return secret_hash(plain)


@transaction.atomic
def token_issue(
    *,
    user: User,
    name: str,
    actor: Actor,
    expires: datetime | None = None,
    scopes: Sequence[str] = SCOPES,
) -> tuple[ApiToken, str]:
    """A new token and its plain text, which exists nowhere else and is told once.

    Raises:
        Invalid: empty name, unknown scope, or an end that is already past.
        TooMany: the user has 50 living tokens.
    """
    wrong = _wrong(name, expires, scopes)
    if wrong:
        raise Invalid(**wrong)
    User.objects.select_for_update().get(pk=user.pk)
    if token_list(user=user).filter(revoked_at=None).count() >= MOST_TOKENS:
        raise TooMany(what=_("API tokens"), limit=MOST_TOKENS)
    plain = PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user=user,
        name=name.strip(),
        token_hash=token_hash(plain),
        hint=plain[-4:],
        scopes=sorted(set(scopes)),
        expires_at=expires,
    )
    record(EventKind.TOKEN_ISSUED, token, actor=actor, user=user.uid, name=token.name)
    return token, plain


def token_list(*, user: User) -> QuerySet[ApiToken]:
    """The user's own tokens, newest first; nobody reads anybody else's."""
    return ApiToken.objects.filter(user=user).order_by("-pk")


def token_find(plain: str) -> ApiToken | None:
    """The living token behind a plain text, with its user; None for every other text."""
    found = (
        ApiToken.objects.select_related("user")
        .filter(token_hash=token_hash(plain), revoked_at=None, user__is_active=True)
        .first()
    )
    if found is None:
        return None
    now = clock.now()
    if found.expires_at is not None and found.expires_at <= now:
        return None
    if found.last_used_at is None or now - found.last_used_at >= USED_EVERY:
        ApiToken.objects.filter(pk=found.pk).update(last_used_at=now)
    return found


@transaction.atomic
def token_revoke(*, token: ApiToken, actor: Actor) -> ApiToken:
    """End a token for good; doing it twice changes nothing.

    Raises:
        NotYours: it does not exist any more.
    """
    locked = ApiToken.objects.select_for_update().filter(pk=token.pk).first()
    if locked is None:
        raise NotYours
    if locked.revoked_at is None:
        locked.revoked_at = clock.now()
        locked.save(update_fields=["revoked_at"])
        record(EventKind.TOKEN_REVOKED, locked, actor=actor, name=locked.name)
    return locked


def _wrong(name: str, expires: datetime | None, scopes: Sequence[str]) -> dict[str, str]:
    wrong: dict[str, str] = {}
    if not name.strip() or len(name.strip()) > 63:
        wrong["name"] = _("A name of 1 to 63 characters is needed.")
    if not scopes or set(scopes) - set(SCOPES):
        wrong["scopes"] = _("Choose from: %(scopes)s.") % {"scopes": ", ".join(SCOPES)}
    if expires is not None and expires <= clock.now():
        wrong["expires_at"] = _("The end lies in the past.")
    return wrong

"""Who calls: a script by its token, or a person by the session of the pages."""

from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import (
    AuthenticationFailed,
    NotAuthenticated,
    PermissionDenied,
    Throttled,
)
from rest_framework.permissions import SAFE_METHODS, IsAuthenticated
from rest_framework.request import Request

from pool.events import Actor
from pool.models import User
from portal.access.rates import Rate
from portal.access.tokens import token_find
from portal.api.throttling import TokenRate
from portal.models import ApiToken

WRONG = Rate(limit=60, seconds=60)
"""Wrong tokens from one address; a right one from there is never refused for them."""


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer <token>`."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """The user behind the token; None when the call brings no Authorization header at all.

        Raises:
            AuthenticationFailed: a header that is no living token.
            Throttled: too many of those from this address.
        """
        header = request.META.get("HTTP_AUTHORIZATION", "")
        if not header:
            return None
        scheme, _space, plain = header.partition(" ")
        token = token_find(plain.strip()) if scheme.lower() == "bearer" else None
        if token is None:
            wait = WRONG.knock(request.META.get("REMOTE_ADDR", ""))
            if wait:
                raise Throttled(wait=wait)
            raise AuthenticationFailed(_("The token is not valid."))
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        """What a 401 names as the way in."""
        return "Bearer"


class MayCall(IsAuthenticated):
    """Somebody known; a token with the scope `read` alone only reads."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not super().has_permission(request, view):
            return False
        token = request.auth
        if not isinstance(token, ApiToken):
            return True
        return ("read" if request.method in SAFE_METHODS else "write") in token.scopes


def admitted(request: HttpRequest) -> tuple[User, ApiToken | None]:
    """The same guard for views outside the REST framework.

    Raises:
        NotAuthenticated, AuthenticationFailed: nobody known.
        PermissionDenied: a token that may not read.
        Throttled: too often.
    """
    asked = Request(request, authenticators=[TokenAuthentication(), SessionAuthentication()])
    if not asked.user.is_authenticated:
        refused = NotAuthenticated()
        refused.auth_header = "Bearer"  # type: ignore[attr-defined]
        raise refused
    if not MayCall().has_permission(asked, None):
        raise PermissionDenied
    rate = TokenRate()
    if not rate.allow_request(asked, None):
        raise Throttled(wait=rate.wait())
    return caller(asked), asked.auth if isinstance(asked.auth, ApiToken) else None


def caller(request: Request) -> User:
    """The person behind a call that was let in."""
    found = request.user
    assert isinstance(found, User)
    return found


def actor_of(request: Request) -> Actor:
    """Who is written into the events: the token's user, and that a token was used."""
    user = caller(request)
    if isinstance(request.auth, ApiToken):
        return Actor("token", user.uid, f"{user.username} ({request.auth.name})")
    return Actor.of(user)

"""allauth's questions, answered for this pool: accounts are made by admins, never by strangers."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context
from allauth.mfa.utils import is_mfa_enabled
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from portal.access.logins import locked

TOLD_EVERY_S = 300
"""A shut account is told of once in so many seconds, however often somebody tries."""


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Nobody makes an account for themselves; failures are counted in the database."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def is_reauthentication_required(self, *, app: str) -> bool:
        """Whether to ask who it is once more; never those who have nothing to answer with here:
        single sign-on or the directory alone know them."""
        user = context.request.user
        known = user.is_authenticated and (user.has_usable_password() or is_mfa_enabled(user))
        return bool(known and super().is_reauthentication_required(app=app))

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Pass, or refuse while account or address are shut.

        Raises:
            ValidationError: too many failures lately; the right password is refused too.
        """
        try:
            super().pre_authenticate(request, **credentials)
        except ValidationError:
            name = str(credentials.get("username", ""))
            if cache.add(f"login-locked:{name.casefold()[:150]!r}", 1, TOLD_EVERY_S):
                locked(name, request)
            raise

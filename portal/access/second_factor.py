"""Second factors: their secrets sealed at rest, and who gets nowhere without one."""

import base64
import hashlib
from collections.abc import Callable

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.utils import is_mfa_enabled
from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from pool.models.users import User
from pool.selectors.approvals.powers import delegations_now
from pool.selectors.memberships import Standing, standing

OPEN = ("/accounts/", "/static/", "/language/", "/healthz", "/gate/")
"""Addresses that work without the wanted second factor: one must be able to set it up."""


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """The secret of an authenticator app lies in the database under the site's keys."""

    def encrypt(self, text: str) -> str:
        """Sealed."""
        return _box().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Opened; a lost key is an error, never a log-in without the second factor."""
        return _box().decrypt(encrypted_text.encode()).decode()

    def get_totp_label(self, user: User) -> str:
        """What the app shows beside the code."""
        return user.username


class SecondFactorWanted:
    """Sends people whose role wants a second factor to set one up; scripts use tokens."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._next = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not settings.MFA_REQUIRED_ROLES or request.path.startswith(OPEN):
            return self._next(request)
        user = getattr(request, "user", None)
        if not isinstance(user, User) or not lacking(user):
            return self._next(request)
        if request.path.startswith("/api/"):
            return self._refused(request)
        messages.warning(request, _("Your role needs a second factor. Set one up to go on."))
        return HttpResponseRedirect(reverse("mfa_activate_totp"))

    def _refused(self, request: HttpRequest) -> HttpResponse:
        """A session's call over REST is refused; one with a token is the token's business."""
        if "Authorization" in request.headers:
            return self._next(request)
        said = {
            "code": "second_factor_wanted",
            "message": _("Your role needs a second factor. Set one up to go on."),
            "detail": {},
        }
        return JsonResponse(said, status=403)


def lacking(user: User) -> bool:
    """Whether some role of the person, own or lent, wants a second factor that they do not have."""
    if not settings.MFA_REQUIRED_ROLES or is_mfa_enabled(user):
        return False
    lent = delegations_now(deputy=user.pk).select_related("person")
    held = [standing(user=user), *(standing(user=one.person) for one in lent)]
    return any(wanted(one) for one in held)


def wanted(held: Standing) -> bool:
    """Whether one of the roles, wherever it is held, wants a second factor."""
    roles = {str(role) for role in (*held.organizations, *held.projects)}
    if held.platform:
        roles.add("platform_admin")
    return bool(roles & set(settings.MFA_REQUIRED_ROLES))


def _box() -> MultiFernet:
    keys = [*(one for one in getattr(settings, "SECRET_KEYS", ()) if one), settings.SECRET_KEY]
    return MultiFernet([Fernet(_key(one)) for one in keys])


def _key(text: str) -> bytes:
    return base64.urlsafe_b64encode(hashlib.sha256(b"second factor:" + text.encode()).digest())

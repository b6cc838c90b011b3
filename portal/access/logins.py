"""Every log-in, log-out, failure, shut account and change of second factor is an event."""

from typing import Any

from allauth.account.signals import password_changed
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import (
    authentication_failed,
    authenticator_added,
    authenticator_removed,
    authenticator_reset,
)
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.http import HttpRequest

from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models import Installation, User

STRANGER = "login"
"""Who acts in events of people who are not (yet) known."""


def listen() -> None:
    """Connect to what Django and allauth say; once, when the portal starts."""
    user_logged_in.connect(_came, dispatch_uid="login.succeeded")
    user_logged_out.connect(_went, dispatch_uid="login.ended")
    user_login_failed.connect(_failed, dispatch_uid="login.failed")
    password_changed.connect(_password, dispatch_uid="password.changed")
    authentication_failed.connect(_wrong_code, dispatch_uid="login.failed.code")
    for what, signal in (
        ("added", authenticator_added),
        ("removed", authenticator_removed),
        ("renewed", authenticator_reset),
    ):
        signal.connect(_factor(what), dispatch_uid=f"mfa.{what}", weak=False)


def locked(name: str, request: HttpRequest | None) -> None:
    """Somebody tried once more although account or address are shut for a while."""
    _tell_failure(EventKind.LOGIN_LOCKED, name, request)


def address(request: HttpRequest | None) -> str:
    """Whence, as the server sees it."""
    return str(request.META.get("REMOTE_ADDR", "")) if request is not None else ""


def _came(request: HttpRequest, user: User, **_more: Any) -> None:
    record(EventKind.LOGIN_SUCCEEDED, user, actor=Actor.of(user), address=address(request))


def _went(request: HttpRequest, user: User | None, **_more: Any) -> None:
    if user is not None:
        record(EventKind.LOGOUT, user, actor=Actor.of(user), address=address(request))


def _failed(credentials: dict[str, Any], request: HttpRequest | None = None, **_more: Any) -> None:
    _tell_failure(EventKind.LOGIN_FAILED, str(credentials.get("username", "")), request)


def _wrong_code(request: HttpRequest, user: User, **_more: Any) -> None:
    words: dict[str, Any] = {"address": address(request), "factor": "second"}
    record(EventKind.LOGIN_FAILED, user, actor=Actor.of(user), **words)


def _password(request: HttpRequest, user: User, **_more: Any) -> None:
    record(EventKind.PASSWORD_CHANGED, user, actor=Actor.of(user), address=address(request))


def _factor(what: str) -> Any:
    def told(request: HttpRequest, user: User, authenticator: Authenticator, **_m: Any) -> None:
        words: dict[str, Any] = {"what": what, "factor": str(authenticator.type)}
        record(EventKind.MFA_CHANGED, user, actor=Actor.of(user), **words)

    return told


def _tell_failure(kind: EventKind, name: str, request: HttpRequest | None) -> None:
    """About the person where there is one, else about the installation; never the password."""
    known = User.objects.filter(username__iexact=name[:150]).first() if name else None
    subject = known or Installation.objects.get(pk=1)
    actor = Actor("system", STRANGER, STRANGER)
    record(kind, subject, actor=actor, username=name[:150], address=address(request))

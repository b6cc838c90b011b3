"""Single sign-on: whom a provider's word logs in as, and the roles that its groups bring."""

from typing import Any

import structlog
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.signals import social_account_added, social_account_updated
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest
from django.shortcuts import redirect
from django.utils.text import slugify
from django.utils.translation import gettext as _

from pool.errors import Invalid
from pool.events import SYSTEM, Actor
from pool.models.users import User
from pool.services.people.groups import person_groups_read
from pool.services.users import user_create
from portal.access.joining import account_joined

log = structlog.get_logger(__name__)
SOURCE = "oidc"


class SingleSignOnAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """A known person comes in by an address that the provider has verified; others only if the
    site lets the provider make accounts."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Whether the provider's word alone makes an account."""
        return bool(settings.OIDC_CREATES)

    def is_auto_signup_allowed(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Never a form: name and address are the provider's."""
        return True

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Before anybody is logged in: find the person, read the groups."""
        if not sociallogin.is_existing:
            known = self._known(sociallogin)
            if known is not None:
                self._join(request, sociallogin, known)
        if sociallogin.is_existing:
            groups_of(sociallogin.user, sociallogin.account.extra_data)
        elif not settings.OIDC_CREATES:
            messages.error(request, _("Nobody here has this account. Ask for an invitation."))
            raise ImmediateHttpResponse(redirect("account_login"))

    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: Any = None) -> User:
        """A new person, made as everybody is: with an event and no password."""
        told = sociallogin.account.extra_data
        row = _made(
            username=free_name(said(told, "preferred_username") or said(told, "sub")),
            display_name=said(told, "name")[:120],
            email=said(told, "email") if verified(told) else "",
        )
        sociallogin.user = row
        sociallogin.save(request)
        groups_of(row, told)
        return row

    @transaction.atomic
    def _join(self, request: HttpRequest, sociallogin: SocialLogin, known: User) -> None:
        row = account_joined(
            user=known,
            address=said(sociallogin.account.extra_data, "email"),
            session_key=request.session.session_key or "",
            actor=SYSTEM,
        )
        sociallogin.connect(request, row)

    def _known(self, sociallogin: SocialLogin) -> User | None:
        """The one living person with an address that the provider says it has verified."""
        told = sociallogin.account.extra_data
        address = said(told, "email")
        if not address or not verified(told):
            return None
        living = User.objects.filter(is_active=True, service_account=False)
        found = list(living.filter(email__iexact=address)[:2])
        return found[0] if len(found) == 1 else None


def _made(*, username: str, display_name: str, email: str) -> User:
    """The account; an odd display name or address is left out rather than the person."""
    actor = Actor("system", SOURCE, SOURCE)
    try:
        return user_create(
            username=username,
            display_name=display_name,
            email=email,
            source=SOURCE,
            actor=actor,
        )
    except Invalid as odd:
        log.warning("sso.odd_words", username=username, reason=str(odd))
        return user_create(username=username, actor=actor, source=SOURCE)


def claims(told: dict[str, Any]) -> dict[str, Any]:
    """What the provider says of the person, wherever it says it."""
    found = {**(told.get("id_token") or {}), **(told.get("userinfo") or {})}
    return found or told


def said(told: dict[str, Any], name: str) -> str:
    """One claim as text."""
    value = claims(told).get(name)
    return value if isinstance(value, str) else ""


def verified(told: dict[str, Any]) -> bool:
    """Whether the provider vouches for the address."""
    return claims(told).get("email_verified") in (True, "true")


def groups_of(user: User, told: dict[str, Any]) -> None:
    """Make the roles that single sign-on brings what the groups claim says now.

    A provider that says nothing of groups brings and takes no role.
    """
    named = claims(told).get(settings.OIDC_GROUPS_CLAIM)
    if isinstance(named, list):
        names = [one for one in named if isinstance(one, str)]
        person_groups_read(
            user=user, source=SOURCE, groups=names, actor=Actor("system", SOURCE, SOURCE)
        )


def free_name(wanted: str) -> str:
    """A user name like the wanted one that nobody has.

    Where a directory logs people in too, it begins with a mark: people choose their names at a
    provider, and none shall keep somebody of the directory from theirs.
    """
    mark = "sso-" if settings.LDAP_URL else ""
    kept = "".join(c for c in wanted if c.isalnum() or c in "@.+-_")[:130]
    plain, number = mark + (kept or slugify(wanted) or "person"), 1
    name = plain
    while User.objects.filter(Q(username__iexact=name) | Q(unix_account__iexact=name)).exists():
        number += 1
        name = f"{plain}-{number}"
    return name


def _again(sender: Any, sociallogin: SocialLogin, **_more: Any) -> None:
    """A later log-in: the groups of today."""
    groups_of(sociallogin.user, sociallogin.account.extra_data)


def listen() -> None:
    """Read groups at each log-in of an account that is linked already."""
    social_account_updated.connect(_again, dispatch_uid="sso.updated")
    social_account_added.connect(_again, dispatch_uid="sso.added")

"""People: made, changed by themselves, let go and taken back."""

import re
from collections.abc import Callable
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from pool.errors import Invalid
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.roles import Role
from pool.models.users import User
from pool.rules.problems import Problem
from pool.rules.tenants import title_problem, username_problem
from pool.services.memberships import keep_an_admin
from pool.services.refusals import refuse, said

_ACCOUNT = re.compile(r"[a-z_][a-z0-9_-]{0,31}\Z")
CHOSEN = ("display_name", "language", "zone")
"""What a person may change about themselves."""

KEPT = (*CHOSEN, "email", "unix_account")
"""What an administrator may change about a person."""


@transaction.atomic
def user_edit(*, user: User, actor: Actor, allowed: tuple[str, ...] = CHOSEN, **words: str) -> User:
    """Change what is given and allowed; the same again changes nothing and is not recorded.

    Raises:
        Invalid: an unknown setting, language or time zone, or a name over 120 characters.
    """
    wrong = {
        name: text_of for name, text in words.items() if (text_of := _wrong(name, text, allowed))
    }
    if wrong:
        raise Invalid(**wrong)
    locked = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if locked.service_account and words.get("email"):
        raise Invalid(email=_("A service account has no address: nobody logs in as it."))
    account = words.get("unix_account", "")
    if account and User.objects.filter(username__iexact=account).exclude(pk=locked.pk).exists():
        raise Invalid(unix_account=_("Somebody else has this user name."))
    changed = {name: text for name, text in words.items() if getattr(locked, name) != text}
    if changed:
        for name, text in changed.items():
            setattr(locked, name, text)
            setattr(user, name, text)
        locked.save(update_fields=list(changed))
        record(EventKind.USER_CHANGED, locked, actor=actor, changed=sorted(changed))
    return locked


@transaction.atomic
def user_create(
    *,
    username: str,
    actor: Actor,
    password: str | None = None,
    display_name: str = "",
    email: str = "",
    service_account: bool = False,
    example: bool = False,
    source: str = "",
) -> User:
    """A new person or service account; without a password nobody can log in as it.

    `source` says who chose the name: a directory, single sign-on, a file; empty for people here.

    Raises:
        Invalid: a field is wrong, the password is too weak, or the name is taken, in any case, also
            as somebody's Unix account: folders are named by either.
    """
    taken = Problem(_("%(name)s is taken."), {"name": username})
    wrong = username_problem(username)
    same = Q(username__iexact=username) | Q(unix_account__iexact=username)
    if wrong is None and User.objects.filter(same).exists():
        wrong = taken
    shown = title_problem(display_name) if display_name else None
    address = _email_problem(email)
    if service_account and email:
        address = Problem(_("A service account has no address: nobody logs in as it."))
    refuse({"username": wrong, "display_name": shown, "email": address})
    user = User(
        username=username,
        display_name=display_name.strip(),
        email=email,
        service_account=service_account,
        example=example,
        source=source,
    )
    _with_password(user, password)
    user.save()
    record(EventKind.USER_CREATED, user, actor=actor, username=username)
    return user


@transaction.atomic
def user_disable(*, user: User, actor: Actor) -> User:
    """Let a person go: no login, no token works any more; their work and its records stay.

    Raises:
        Invalid: nobody would be left to administer the platform.
    """
    locked = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if not locked.is_active:
        return locked
    if locked.memberships.filter(role=Role.PLATFORM_ADMIN).exists():
        keep_an_admin(leaving=locked)
    locked.is_active = False
    locked.save(update_fields=["is_active"])
    record(EventKind.USER_DISABLED, locked, actor=actor, username=locked.username)
    return locked


@transaction.atomic
def user_enable(*, user: User, actor: Actor) -> User:
    """Take a person back; twice changes nothing.

    Who was only disabled has the roles and tokens they had; who left comes back with neither.

    Raises:
        Invalid: it is the service account of a project that is archived.
    """
    rows = User.objects.select_for_update(no_key=True, of=("self",))
    locked = rows.select_related("service_project").get(pk=user.pk)
    home = locked.service_project
    if home is not None and home.archived_at is not None:
        raise Invalid(project=_("Its project is archived."))
    if not locked.is_active:
        locked.is_active = True
        locked.left_at = locked.winds_down_at = locked.heir = None
        locked.save(update_fields=["is_active", "left_at", "winds_down_at", "heir"])
        record(EventKind.USER_CHANGED, locked, actor=actor, changed=["is_active"])
    return locked


def _with_password(user: User, password: str | None) -> None:
    if password is None:
        user.set_unusable_password()
        return
    try:
        validate_password(password, user)
    except ValidationError as weak:
        raise Invalid(password=list(weak.messages)) from weak
    user.set_password(password)


def _email_problem(email: str) -> Problem | None:
    if not email:
        return None
    try:
        validate_email(email)
    except ValidationError:
        return Problem(_("This is not an e-mail address."))
    return None


def _wrong(name: str, text: str, allowed: tuple[str, ...]) -> str:
    """What is wrong with one setting; empty when nothing is."""
    if name not in allowed:
        return _("This is not yours to set.")
    judge = _KEPT_BY.get(name)
    if judge is not None:
        return judge(text)
    if name == "display_name" and len(text) > 120:
        return _("At most 120 characters.")
    if name == "language" and text and text not in dict(settings.LANGUAGES):
        return _("This language is not there.")
    return _("There is no such time zone.") if name == "zone" and not _zone(text) else ""


def _email(text: str) -> str:
    problem = _email_problem(text)
    return said(problem) if problem is not None else ""


def _account(text: str) -> str:
    """A Unix account is empty or a plain name that no root account has."""
    if not text or (_ACCOUNT.match(text) and text not in {"root", "nobody"}):
        return ""
    return _("A Unix account of small letters, digits, - and _ is needed; never root.")


_KEPT_BY: dict[str, Callable[[str], str]] = {"email": _email, "unix_account": _account}


def _zone(text: str) -> bool:
    try:
        return not text or bool(ZoneInfo(text))
    except (ZoneInfoNotFoundError, ValueError):
        return False

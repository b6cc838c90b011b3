"""An account that single sign-on joins to a verified person: every other way into it ends."""

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import transaction

from pool import clock
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models.users import User
from portal.access.tokens import token_revoke
from portal.models import ApiToken, GatewayPass


@transaction.atomic
def account_joined(*, user: User, address: str, session_key: str, actor: Actor) -> User:
    """The account, ready to be linked to the person whose address the provider has verified.

    Whoever sent or took an invitation may have written that address into an account of their own,
    so password, second factors, other links, tokens and sessions end, unless the pool itself has
    verified the address. The session of `session_key` stays: it is the one that is logging in.
    """
    row = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    changed = ["single sign-on"]
    if not _verified_here(row, address):
        row.set_unusable_password()
        row.save(update_fields=["password"])
        Authenticator.objects.filter(user=row).delete()
        SocialAccount.objects.filter(user=row).delete()
        for token in ApiToken.objects.filter(user=row, revoked_at=None).order_by("pk"):
            token_revoke(token=token, actor=actor)
        GatewayPass.objects.filter(user=row).delete()
        _log_out(row, session_key)
        changed += ["password", "second factors", "sessions", "tokens"]
    record(EventKind.USER_CHANGED, row, actor=actor, changed=changed)
    return row


def _verified_here(row: User, address: str) -> bool:
    known = EmailAddress.objects.filter(user=row, email__iexact=address, verified=True)
    return bool(known.exists())


def _log_out(row: User, but: str) -> None:
    """Sessions do not tell in the table whose they are: each living one is opened."""
    living = Session.objects.filter(expire_date__gt=clock.now()).exclude(session_key=but)
    for session in living.iterator():
        if session.get_decoded().get(SESSION_KEY) == str(row.pk):
            session.delete()

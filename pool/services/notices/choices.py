"""What a person wants to hear, what they have read, and the receiver that is theirs."""

from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from django.db import transaction
from django.utils.translation import gettext

from pool.announce import announce_bells
from pool.clock import now
from pool.errors import Invalid
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models.approvals.notices import Notice, NoticeChoice, NoticeHook
from pool.models.users import User
from pool.rules.notices import Channel, How, NoticeKind


@transaction.atomic
def notice_choose(
    *, user: User, choices: Mapping[tuple[NoticeKind, Channel], How], actor: Actor
) -> int:
    """Set how the person hears each kind by each channel; returns how many were named."""
    for (kind, channel), how in choices.items():
        NoticeChoice.objects.update_or_create(
            user=user, kind=kind, channel=channel, defaults={"how": how}
        )
    said = {f"{kind}.{channel}": str(how) for (kind, channel), how in choices.items()}
    record(EventKind.USER_CHANGED, user, actor=actor, notices=said)
    return len(choices)


def notice_read(*, user: User, uids: Iterable[str] | None = None) -> int:
    """Mark these of the person's notices as read, or (None) all; doing it twice changes nothing."""
    rows = Notice.objects.filter(user=user, read_at=None)
    if uids is not None:
        rows = rows.filter(uid__in=list(uids))
    changed = rows.update(read_at=now())
    if changed:
        announce_bells([user.uid])
    return changed


@transaction.atomic
def notice_hook_set(*, user: User, url: str, secret: str, actor: Actor) -> NoticeHook | None:
    """Send the person's notices to this address too; an empty address ends it.

    `secret` comes encrypted from the door. Whether the address may be dialled is judged when it is.

    Raises:
        Invalid: it is no http address.
    """
    url = url.strip()
    if not url:
        NoticeHook.objects.filter(user=user).delete()
        record(EventKind.USER_CHANGED, user, actor=actor, hook="")
        return None
    host = _host(url)
    if not host:
        raise Invalid(url=gettext("An address that begins with https:// is needed."))
    made, _ = NoticeHook.objects.update_or_create(
        user=user, defaults={"url": url, "secret": secret}
    )
    record(EventKind.USER_CHANGED, user, actor=actor, hook=host)
    return made


def _host(url: str) -> str:
    """The host of an address that could be dialled; empty for any other text.

    The log names no more than it: paths of receivers carry secrets.
    """
    if len(url) > 500 or not url.startswith(("http://", "https://")) or not url.isprintable():
        return ""
    try:
        parts = urlsplit(url)
        return (parts.hostname or "") if parts.port != 0 else ""
    except ValueError:
        return ""

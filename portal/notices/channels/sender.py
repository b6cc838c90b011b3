"""Send the words of alerts: claimed first, bundled by channel, tried again, given up at last.

Channels are served one by one, a few words in one message, under a budget of time: a receiver that
is slow or dead delays its own words alone. A claim is renewed by whoever holds it and settled only
by the one who made it.
"""

import smtplib
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

import structlog
from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from pool.clock import now
from pool.errors import PoolError
from pool.events import Actor
from pool.models.alerting.ways import AlertChannel, AlertDelivery
from pool.rules.alerting.terms import ChannelKind, Family, Severity, Word
from pool.sealing import CannotOpen
from pool.services.alerting.people import people_tell
from pool.services.alerting.ways import channel_address, channel_tested
from portal.notices.channels.dial import NotDialled, post
from portal.notices.channels.formats import Item, call_for
from portal.notices.channels.words import item_of

log = structlog.get_logger(__name__)

TOGETHER = 20
"""So many words go in one message."""

LOST = timedelta(minutes=10)
"""After this a claim is anybody's again: its sender died."""

MOST_TRIES = 6
"""Then it is a dead letter: after half a minute, one, two … sixteen minutes between them."""

BUDGET_S = 120.0
"""One run sends no longer than this; beat comes again."""

MAIL_S = 10
"""So long a mail server may take for one step."""


def alerts_send() -> int:
    """Send all that is due, channel by channel; how many words left the house."""
    sent, until = 0, time.monotonic() + BUDGET_S
    tired: set[int] = set()
    while time.monotonic() < until:
        channel = _next(tired)
        if channel is None:
            break
        claimed, at = _claim(channel)
        if not claimed:
            tired.add(channel.pk)
            continue
        went = _send(channel, claimed, at)
        sent += went
        if not went:
            tired.add(channel.pk)
    return sent


def channel_test(*, channel: AlertChannel, actor: Actor) -> str:
    """Send a word that says it is a test; what was wrong, empty when it was taken."""
    at = now()
    item = Item(
        uid="al-test",
        word=Word.FIRED,
        family=Family.HARDWARE,
        severity=Severity.INFO,
        rule="test",
        subject="pool:test",
        title=_("Test"),
        text=_("This is a test of the channel “%(name)s”.") % {"name": channel.name},
        url=_home(),
        started_at=at,
    )
    error = ""
    if channel.kind != ChannelKind.PORTAL:
        error = _tried(channel, lambda: [item], f"test-{at.timestamp():.0f}")
    channel_tested(channel=channel, error=error, actor=actor)
    return error


def _home() -> str:
    return settings.PUBLIC_URL.rstrip("/") + "/alerts/"


def _waiting(at: datetime) -> QuerySet[AlertDelivery]:
    free = Q(claimed_at=None) | Q(claimed_at__lt=at - LOST)
    return AlertDelivery.objects.filter(
        free, due_at__lte=at, sent_at=None, given_up_at=None, dropped_at=None
    )


def _next(tired: set[int]) -> AlertChannel | None:
    """A channel with something due that has not just refused."""
    due = _waiting(now()).filter(channel=OuterRef("pk"))
    rows = AlertChannel.objects.filter(Exists(due), enabled=True).exclude(pk__in=tired)
    return rows.order_by("pk").first()


def _claim(channel: AlertChannel) -> tuple[list[AlertDelivery], datetime]:
    """Its oldest words; an end waits for its beginning to be settled."""
    at = now()
    began = AlertDelivery.objects.filter(
        alert=OuterRef("alert"),
        channel=OuterRef("channel"),
        word=Word.FIRED,
        sent_at=None,
        given_up_at=None,
        dropped_at=None,
    )
    due = _waiting(at).filter(channel=channel).exclude(Exists(began), word=Word.RESOLVED)
    with transaction.atomic():
        rows = due.order_by("pk").select_for_update(skip_locked=True, of=("self",))
        keys = list(rows.values_list("pk", flat=True)[:TOGETHER])
        AlertDelivery.objects.filter(pk__in=keys).update(claimed_at=at)
    found = AlertDelivery.objects.filter(pk__in=keys)
    named = found.select_related("alert__rule", "alert__project", "channel")
    return list(named.order_by("pk")), at


def _send(channel: AlertChannel, rows: Sequence[AlertDelivery], claim: datetime) -> int:
    if channel.kind == ChannelKind.PORTAL:
        return sum(_inbox(row, claim) for row in rows)
    error = _tried(channel, lambda: [item_of(row.alert, row.word) for row in rows], _key(rows))
    if not error:
        return _settle(rows, claim, sent_at=now(), error="")
    _again(rows, claim, error)
    return 0


def _inbox(row: AlertDelivery, claim: datetime) -> int:
    """One word into the inbox of its people; what goes wrong with it keeps no other back."""
    try:
        people_tell(alert=row.alert, word=row.word)
    except Exception as odd:
        log.exception("alert.inbox_failed", row=row.uid)
        _again([row], claim, type(odd).__name__)
        return 0
    return _settle([row], claim, sent_at=now(), error="")


def _tried(channel: AlertChannel, items: Callable[[], Sequence[Item]], key: str) -> str:
    """One try; what was wrong in words that the books can keep, empty when it was taken.

    Whatever is odd about one channel, its address, key or answer, is never another's matter.
    """
    try:
        wrong = _posted(channel, items(), key)
    except NotDialled as refused:
        wrong = str(refused)
    except CannotOpen:
        wrong = "its address was sealed with another key; set it anew"
    except PoolError as refused:
        wrong = str(refused)
    except (OSError, smtplib.SMTPException) as away:
        wrong = f"{type(away).__name__}: {away}"
    except Exception as odd:
        wrong = type(odd).__name__
    return wrong.replace("\0", "").encode(errors="replace").decode()


def _posted(channel: AlertChannel, items: Sequence[Item], key: str) -> str:
    """Hand them over; what its receiver found wrong, empty for nothing."""
    where = channel_address(channel)
    if channel.kind == ChannelKind.MAIL:
        _mail(where["to"].split(", "), items, key)
        return ""
    at = timezone.now()
    call = call_for(channel.kind, items, url=where["url"], secret=where["secret"], at=at, key=key)
    said = post(call.url, body=call.body, headers=call.headers)
    return call.yes(said.body)


def _mail(to: Sequence[str], items: Sequence[Item], key: str) -> None:
    """One letter for all of them."""
    subject = items[0].text if len(items) == 1 else _("%(n)d alerts") % {"n": len(items)}
    body = "\n\n".join(f"{i.text}\n{i.severity} · {i.family}\n{i.url}" for i in items)
    EmailMessage(
        subject=f"[{settings.SITE_NAME}] {' '.join(subject.split())[:150]}",
        body=f"{body}\n",
        to=list(to),
        headers={"Message-ID": f"<{key}@gpupool>", "Auto-Submitted": "auto-generated"},
        connection=get_connection(timeout=MAIL_S),
    ).send()


def _again(rows: Sequence[AlertDelivery], claim: datetime, why: str) -> None:
    """Once more, later each time; after the last time it is a dead letter."""
    log.warning("alert.not_sent", rows=[row.uid for row in rows], reason=why)
    for row in rows:
        tries, at = row.tries + 1, now()
        over: dict[str, Any] = {"given_up_at": at} if tries >= MOST_TRIES else {}
        later = at + timedelta(seconds=30 * 2 ** (tries - 1))
        AlertDelivery.objects.filter(pk=row.pk, claimed_at=claim).update(
            tries=tries, error=why[:200], claimed_at=None, due_at=later, waits_for="retry", **over
        )


def _settle(rows: Sequence[AlertDelivery], claim: datetime, **how: Any) -> int:
    keys = [row.pk for row in rows]
    mine = AlertDelivery.objects.filter(pk__in=keys, claimed_at=claim)
    return mine.update(claimed_at=None, waits_for="", **how)


def _key(rows: Sequence[AlertDelivery]) -> str:
    """The same for the same words, so that a message sent twice is one to its receiver."""
    return sha256(",".join(row.uid for row in rows).encode()).hexdigest()[:32]

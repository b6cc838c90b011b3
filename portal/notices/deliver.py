"""Send what is due: claimed first, so that two senders never send the same; bundled, so that
nobody is flooded."""

import smtplib
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import structlog
from django.db import transaction
from django.db.models import Q

from pool.clock import now
from pool.models.approvals.notices import NoticeDelivery, NoticeHook
from pool.rules.notices import MOST_AT_ONCE, Channel
from portal.notices.hooks import NotDialled, hook_send
from portal.notices.letters import letter_send

log = structlog.get_logger(__name__)

TOGETHER = 200
"""So many are claimed at once."""

LOST = timedelta(minutes=10)
"""After this a claim is anybody's again: its sender died."""

MOST_TRIES = 6
"""Then it is given up: after half a minute, one, two … sixteen minutes of waiting between them."""

FLOOD = timedelta(hours=1)
"""Who had many letters within this time gets the next ones in one."""


def deliver() -> int:
    """Send all that is due now; returns how many notices left the house."""
    sent = 0
    while claimed := _claim():
        groups: dict[tuple[int, str], list[NoticeDelivery]] = defaultdict(list)
        for row in claimed:
            groups[row.notice.user_id, row.channel].append(row)
        for (_user, channel), rows in groups.items():
            sent += _letters(rows) if channel == Channel.MAIL else sum(map(_hook, rows))
    return sent


def _claim() -> list[NoticeDelivery]:
    at = now()
    free = Q(claimed_at=None) | Q(claimed_at__lt=at - LOST)
    due = NoticeDelivery.objects.filter(free, due_at__lte=at, sent_at=None, given_up_at=None)
    with transaction.atomic():
        keys = due.order_by("pk").select_for_update(skip_locked=True).values_list("pk", flat=True)
        rows = list(keys[:TOGETHER])
        NoticeDelivery.objects.filter(pk__in=rows).update(claimed_at=at)
    found = NoticeDelivery.objects.filter(pk__in=rows).select_related("notice__user")
    return list(found.order_by("pk"))


def _letters(rows: Sequence[NoticeDelivery]) -> int:
    """One letter each, or one for all when there are many, or were within the hour."""
    reader = rows[0].notice.user
    if not reader.is_active or not reader.email:
        return _settle(rows, given_up_at=now(), error="no address")
    daily = [row for row in rows if row.due_at - row.notice.at > timedelta(minutes=1)]
    single = [row for row in rows if row not in daily]
    recent = NoticeDelivery.objects.filter(
        notice__user=reader, channel=Channel.MAIL, sent_at__gte=now() - FLOOD
    )
    first_of_hour = [at for at in recent.values_list("sent_at", flat=True) if at is not None]
    room = MOST_AT_ONCE - len(first_of_hour)
    parts: list[list[NoticeDelivery]] = [daily] if daily else []
    if len(single) <= 3 and len(single) <= room:
        parts += [[row] for row in single]
    elif room > 0:
        parts += [single]
    elif single:
        NoticeDelivery.objects.filter(pk__in=[row.pk for row in single]).update(
            claimed_at=None, due_at=min(first_of_hour) + FLOOD
        )
    return sum(_letter(part) for part in parts)


def _letter(rows: list[NoticeDelivery]) -> int:
    try:
        letter_send(reader=rows[0].notice.user, notices=[row.notice for row in rows])
    except (OSError, smtplib.SMTPException) as away:
        _again(rows, f"{type(away).__name__}: {away}")
        return 0
    return _settle(rows, sent_at=now(), error="")


def _hook(row: NoticeDelivery) -> int:
    hook = NoticeHook.objects.filter(user=row.notice.user_id).first()
    if hook is None:
        _settle([row], given_up_at=now(), error="no receiver any more")
        return 0
    try:
        hook_send(hook=hook, notice=row.notice)
    except NotDialled as refused:
        _again([row], str(refused))
        return 0
    return _settle([row], sent_at=now(), error="")


def _again(rows: Sequence[NoticeDelivery], why: str) -> None:
    """Once more, later each time; after the last time it is given up and logged."""
    log.warning("notice.not_sent", rows=[row.pk for row in rows], reason=why)
    for row in rows:
        tries, at = row.tries + 1, now()
        over: dict[str, Any] = {"given_up_at": at} if tries >= MOST_TRIES else {}
        later = at + timedelta(seconds=30 * 2 ** (tries - 1))
        NoticeDelivery.objects.filter(pk=row.pk).update(
            tries=tries, error=why[:200], claimed_at=None, due_at=later, **over
        )


def _settle(rows: Sequence[NoticeDelivery], **how: Any) -> int:
    keys = [row.pk for row in rows]
    NoticeDelivery.objects.filter(pk__in=keys).update(claimed_at=None, **how)
    return len(keys) if how.get("sent_at") else 0

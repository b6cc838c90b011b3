"""Tell people something once: a row in their inbox, and letters by the ways they chose."""

from collections.abc import Iterable
from datetime import datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db import models, transaction

from pool.announce import announce_bells
from pool.clock import now
from pool.models.approvals.notices import Notice, NoticeChoice, NoticeDelivery, NoticeHook
from pool.models.users import User
from pool.rules.notices import Channel, How, NoticeKind, default_how
from pool.wake import Wake, wake

LETTER_HOUR = time(8)
"""When the letter of the day goes, in its reader's zone."""


@transaction.atomic
def notice_send(
    *,
    kind: NoticeKind,
    to: Iterable[User],
    about: models.Model,
    text: str,
    key: str,
    **values: Any,
) -> int:
    """Tell each of them; returns how many had not been told under this key before.

    `text` is an English sentence of the catalogue (mark it with `pool.rules.problems.marked`),
    `values` fill its holes; a value whose name ends in `_at` is an ISO time, shown in the reader's
    zone. The same `key` never reaches a person twice. Call it in the transaction that makes it
    true. People who have left and service accounts are told nothing.
    """
    readers = {one.pk: one for one in to if one.is_active and not one.service_account}
    noun = f"{about._meta.model_name}:{getattr(about, 'uid', about.pk)}"
    rows = [
        Notice(user=one, kind=kind, about=noun, key=key[:200], text=text, values=values)
        for one in sorted(readers.values(), key=lambda one: one.pk)
    ]
    Notice.objects.bulk_create(rows, ignore_conflicts=True)
    fresh = list(Notice.objects.filter(uid__in=[row.uid for row in rows]).order_by("pk"))
    if fresh:
        _letters(kind, fresh, readers)
        announce_bells(sorted({readers[one.user_id].uid for one in fresh}))
    return len(fresh)


def _letters(kind: NoticeKind, fresh: list[Notice], readers: dict[int, User]) -> None:
    """What leaves the house, each by its time; the sender is woken after the commit."""
    chosen = {
        (row.user_id, row.channel): How(row.how)
        for row in NoticeChoice.objects.filter(user__in=list(readers), kind=kind)
    }
    hooked = set(NoticeHook.objects.filter(user__in=list(readers)).values_list("user", flat=True))
    found = []
    for notice in fresh:
        reader = readers[notice.user_id]
        ways = [Channel.MAIL] * bool(reader.email) + [Channel.HOOK] * (reader.pk in hooked)
        for channel in ways:
            how = chosen.get((reader.pk, channel), default_how(kind, channel))
            if how is not How.OFF:
                due = _next_letter(reader) if how is How.DAILY else now()
                found.append(NoticeDelivery(notice=notice, channel=channel, due_at=due))
    NoticeDelivery.objects.bulk_create(found, ignore_conflicts=True)
    if found:
        wake(Wake.NOTICES)


def _next_letter(reader: User) -> datetime:
    """The next time its reader's letter of the day goes."""
    here = now().astimezone(ZoneInfo(reader.zone or "UTC"))
    today = here.replace(hour=LETTER_HOUR.hour, minute=0, second=0, microsecond=0)
    return today if here < today else today + timedelta(days=1)

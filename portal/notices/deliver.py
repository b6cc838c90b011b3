"""Send what is due: claimed first, so that two senders never send the same; bundled, so that
nobody is flooded."""

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
from portal.notices.channels.dial import NotDialled
from portal.notices.hooks import Call, call_of, calls_send
from portal.notices.letters import letter_send

log = structlog.get_logger(__name__)

TOGETHER = 200
"""So many are claimed at once."""

MOST_OF_A_RECEIVER = 5
"""So many go to one receiver in one turn: a slow one keeps letters no longer than that."""

LOST = timedelta(minutes=10)
"""After this a claim is anybody's again: its sender died."""

MOST_TRIES = 6
"""Then it is given up: after half a minute, one, two … sixteen minutes of waiting between them."""

FLOOD = timedelta(hours=1)
"""Who had many letters within this time gets the next ones in one."""

Rows = list[NoticeDelivery]


def deliver() -> int:
    """Send all that is due now, letters before receivers; how many notices left the house."""
    sent = 0
    while True:
        letters = _by_reader(_claim(Channel.MAIL))
        sent += sum(_letters(rows) for rows in letters)
        calls = [] if letters else _by_reader(_claim(Channel.HOOK))
        sent += _hooks(calls)
        if not letters and not calls:
            return sent


def _by_reader(rows: Sequence[NoticeDelivery]) -> list[Rows]:
    groups: dict[int, Rows] = defaultdict(list)
    for row in rows:
        groups[row.notice.user_id].append(row)
    return list(groups.values())


def _claim(channel: Channel) -> Rows:
    at = now()
    free = Q(claimed_at=None) | Q(claimed_at__lt=at - LOST)
    due = NoticeDelivery.objects.filter(
        free, channel=channel, due_at__lte=at, sent_at=None, given_up_at=None
    )
    with transaction.atomic():
        keys = due.order_by("pk").select_for_update(skip_locked=True).values_list("pk", flat=True)
        rows = list(keys[:TOGETHER])
        NoticeDelivery.objects.filter(pk__in=rows).update(claimed_at=at)
    found = NoticeDelivery.objects.filter(pk__in=rows).select_related("notice__user")
    return list(found.order_by("pk"))


def _still_ours(rows: Rows) -> Rows:
    """Those that no other sender has taken meanwhile, claimed anew from now on."""
    ours, at = [], now()
    for row in rows:
        mine = NoticeDelivery.objects.filter(pk=row.pk, claimed_at=row.claimed_at, sent_at=None)
        if mine.update(claimed_at=at):
            row.claimed_at = at
            ours.append(row)
    return ours


def _letters(rows: Rows) -> int:
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
    parts: list[Rows] = [daily] if daily else []
    if len(single) <= 3 and len(single) <= room:
        parts += [[row] for row in single]
    elif room > 0:
        parts += [single]
    elif single:
        _settle(single, due_at=min(first_of_hour) + FLOOD)
    return sum(_letter(part) for part in parts)


def _letter(part: Rows) -> int:
    rows = _still_ours(part)
    if not rows:
        return 0
    try:
        letter_send(reader=rows[0].notice.user, notices=[row.notice for row in rows])
    except Exception as away:
        _again(rows, f"{type(away).__name__}: {away}")
        return 0
    return _settle(rows, sent_at=now(), error="")


def _hooks(groups: Sequence[Rows]) -> int:
    """Each reader's receiver gets some of what is due; the rest is free for the next turn."""
    queues: list[tuple[Rows, list[Call]]] = []
    for group in groups:
        _settle(group[MOST_OF_A_RECEIVER:])
        rows = _still_ours(group[:MOST_OF_A_RECEIVER])
        hook = NoticeHook.objects.filter(user=group[0].notice.user_id).first()
        if hook is None:
            _settle(rows, given_up_at=now(), error="no receiver any more")
            continue
        queues.append(_called(hook, rows))
    answers = calls_send([calls for _rows, calls in queues]) if queues else []
    sent = 0
    for (rows, _calls), said in zip(queues, answers, strict=True):
        for row, why in zip(rows, said, strict=True):
            if why:
                _again([row], why)
            else:
                sent += _settle([row], sent_at=now(), error="")
    return sent


def _called(hook: NoticeHook, rows: Rows) -> tuple[Rows, list[Call]]:
    """The calls of those that can be put into words; another is tried later, and holds up none."""
    ready: Rows = []
    calls: list[Call] = []
    for row in rows:
        try:
            calls.append(call_of(hook=hook, notice=row.notice))
        except NotDialled as refused:
            _again([row], str(refused))
        except Exception as odd:
            _again([row], type(odd).__name__)
        else:
            ready.append(row)
    return ready, calls


def _again(rows: Rows, why: str) -> None:
    """Once more, later each time; after the last time it is given up and logged."""
    log.warning("notice.not_sent", rows=[row.pk for row in rows], reason=why)
    for row in rows:
        tries, at = row.tries + 1, now()
        over: dict[str, Any] = {"given_up_at": at} if tries >= MOST_TRIES else {}
        later = at + timedelta(seconds=30 * 2 ** (tries - 1))
        _settle([row], tries=tries, error=why[:200], due_at=later, **over)


def _settle(rows: Sequence[NoticeDelivery], **how: Any) -> int:
    """Write how it went and give the claims back, of those that are still ours; how many left."""
    done = sum(
        NoticeDelivery.objects.filter(pk=row.pk, claimed_at=row.claimed_at).update(
            claimed_at=None, **how
        )
        for row in rows
    )
    return done if how.get("sent_at") else 0

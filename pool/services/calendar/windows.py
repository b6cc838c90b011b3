"""Maintenance windows: planned, changed, called off, ended early."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.utils.translation import gettext

from pool.clock import now
from pool.errors import IllegalMove, Invalid, NotYours
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.windows import WINDOW, WindowState, WithRunning
from pool.models.cards import Card
from pool.models.nodes import Node
from pool.models.partitions import Partition
from pool.models.users import User
from pool.models.windows import Window
from pool.rules.windows import window_problems
from pool.selectors.calendar.windows import window_reach
from pool.services.calendar.service import (
    lease_times,
    service_return,
    windows_one_at_a_time,
)
from pool.services.moves import locked, move
from pool.services.refusals import refuse
from pool.wake import round_wanted

NOTICE_S = 300
PLACES = ("cards", "nodes", "partitions")
WORDS = frozenset({"reason", "starts_at", "ends_at", "with_running", "notice_seconds", *PLACES})
"""What may be said of a window."""


@transaction.atomic
def window_create(
    *,
    reason: str,
    starts_at: datetime,
    ends_at: datetime,
    actor: Actor,
    user: User | None = None,
    cards: Iterable[Card] = (),
    nodes: Iterable[Node] = (),
    partitions: Iterable[Partition] = (),
    with_running: str = WithRunning.WAIT,
    notice_seconds: int = NOTICE_S,
) -> Window:
    """Plan maintenance. From now on nothing starts there that is forecast to overlap it.

    A start in the past means now. What is covered is locked while this is written, so that a start
    decided meanwhile sees it.

    Raises:
        Invalid: a word is wrong, or nothing is named.
    """
    at = now()
    starts_at = max(at, starts_at) if _zoned(starts_at) else starts_at
    _check(reason, starts_at, ends_at, at, with_running, notice_seconds)
    named = {"cards": list(cards), "nodes": list(nodes), "partitions": list(partitions)}
    if not any(named.values()):
        raise Invalid(nodes=gettext("Name at least one card, node or partition."))
    row = Window.objects.create(
        reason=reason.strip(),
        span=DateTimeTZRange(starts_at, ends_at),
        with_running=with_running,
        notice_seconds=notice_seconds,
        created_by=user,
    )
    for name, rows in named.items():
        getattr(row, name).set(rows)
    _covered_locked(row)
    record(EventKind.WINDOW_CHANGED, row, actor=actor, created=True, **_told(row))
    round_wanted()
    return row


@transaction.atomic
def window_change(*, window: Window, actor: Actor, **words: Any) -> Window:
    """Change a window that is not over; the same again changes nothing.

    Once it has begun only its reason, its end and what it does with running work can change.

    Raises:
        NotYours: it does not exist any more.
        IllegalMove: it is over.
        Invalid: a word is wrong, or can no longer change.
    """
    row = window_locked(window=window)
    begun = _changeable(row, words)
    before = _told(row)
    _write(row, words, begun)
    after = _told(row)
    if after == before:
        return row
    _covered_locked(row)
    if begun:
        lease_times(window=row, until=row.span.upper, actor=actor)
    record(EventKind.WINDOW_CHANGED, row, actor=actor, before=before, **after)
    round_wanted()
    return row


def _changeable(row: Window, words: dict[str, Any]) -> bool:
    """Whether it has begun; refuses strange words, and those that can no longer change."""
    strange = set(words) - WORDS
    if strange:
        raise Invalid(**dict.fromkeys(sorted(strange), gettext("This is not a part of a window.")))
    if row.state not in (WindowState.PLANNED, WindowState.ACTIVE):
        raise IllegalMove(noun=WINDOW.name, state=row.state, then="changed")
    begun = row.state == WindowState.ACTIVE
    _fixed(begun, {name for name in words if _differs(row, name, words[name])})
    return begun


def _write(row: Window, words: dict[str, Any], begun: bool) -> None:
    starts_at = words.get("starts_at", row.span.lower)
    if not begun and _zoned(starts_at) and starts_at != row.span.lower:
        starts_at = max(now(), starts_at)
    ends_at = words.get("ends_at", row.span.upper)
    plain = {
        name: words.get(name, getattr(row, name))
        for name in ("reason", "with_running", "notice_seconds")
    }
    _check(plain["reason"], starts_at, ends_at, now(), begun=begun, **_rest(plain))
    for name, value in plain.items():
        setattr(row, name, value)
    row.span = DateTimeTZRange(starts_at, ends_at)
    row.noticed = row.noticed and begun
    row.save()
    for name in PLACES:
        if name in words:
            getattr(row, name).set(words[name])
    if not any(getattr(row, name).exists() for name in PLACES):
        raise Invalid(nodes=gettext("Name at least one card, node or partition."))


@transaction.atomic
def window_cancel(*, window: Window, actor: Actor, reason: str = "") -> Window:
    """Call a window off, or end one under way: what it took comes back. Twice changes nothing.

    Raises:
        NotYours: it does not exist any more.
    """
    row = window_locked(window=window)
    if row.state == WindowState.PLANNED:
        move(row, WindowState.CANCELLED, actor=actor, reason=reason)
        round_wanted()
    elif row.state == WindowState.ACTIVE:
        window_end(row=row, actor=actor, reason=reason or "ended early", early=True)
    return row


def window_end(*, row: Window, actor: Actor, reason: str, early: bool = False) -> None:
    """A locked window under way is over: service again, leases longer by what it really took."""
    at = now()
    if early and at < row.span.upper:
        row.span = DateTimeTZRange(row.span.lower, max(at, row.span.lower + timedelta(seconds=1)))
        row.save(update_fields=["span"])
        lease_times(window=row, until=row.span.upper, actor=actor)
    move(row, WindowState.ENDED, actor=actor, reason=reason)
    service_return(window=row, actor=actor)
    round_wanted()


def window_locked(*, window: Window) -> Window:
    """The window as it is now, its row locked.

    Raises:
        NotYours: it does not exist any more.
    """
    windows_one_at_a_time()
    found = locked(Window.objects.filter(pk=window.pk))
    if not found:
        raise NotYours
    return found[0]


def _covered_locked(row: Window) -> None:
    """Starts lock cards and nodes: who is first is seen by the other. In the one order."""
    reach = window_reach(row)
    locked(Card.objects.filter(pk__in=reach.cards))
    locked(Node.objects.filter(pk__in=reach.nodes))


def _check(
    reason: Any,
    starts_at: Any,
    ends_at: Any,
    at: datetime,
    with_running: Any,
    notice_seconds: Any,
    begun: bool = False,
) -> None:
    refuse(
        window_problems(
            reason=reason,
            starts_at=starts_at,
            ends_at=ends_at,
            now=at,
            with_running=with_running,
            notice_seconds=notice_seconds,
            begun=begun,
        )
    )


def _rest(plain: dict[str, Any]) -> dict[str, Any]:
    return {name: plain[name] for name in ("with_running", "notice_seconds")}


def _fixed(begun: bool, changed: set[str]) -> None:
    late = changed & {"starts_at", *PLACES} if begun else set()
    if late:
        said = gettext("It has begun: this can no longer change.")
        raise Invalid(**dict.fromkeys(sorted(late), said))


def _differs(row: Window, name: str, value: Any) -> bool:
    if name in PLACES:
        return {one.pk for one in value} != set(getattr(row, name).values_list("pk", flat=True))
    if name in ("starts_at", "ends_at"):
        return bool((row.span.lower if name == "starts_at" else row.span.upper) != value)
    return bool(getattr(row, name) != value)


def _told(row: Window) -> dict[str, Any]:
    """The window in an event's words."""
    return {
        "reason": row.reason,
        "starts_at": row.span.lower.isoformat(timespec="seconds"),
        "ends_at": row.span.upper.isoformat(timespec="seconds"),
        "with_running": str(row.with_running),
        "notice_seconds": row.notice_seconds,
        **{name: sorted(one.uid for one in getattr(row, name).all()) for name in PLACES},
    }


def _zoned(at: Any) -> bool:
    return isinstance(at, datetime) and at.tzinfo is not None

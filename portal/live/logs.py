"""A workload's log as a stream of text: outside the REST framework, behind the same guard."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

from asgiref.sync import sync_to_async
from channels.db import database_sync_to_async
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.translation import gettext as _
from rest_framework.exceptions import MethodNotAllowed

from pool.errors import Invalid, NotYours
from pool.models import Attempt, Rank
from pool.selectors.memberships import standing
from pool.selectors.workloads import workload_list
from portal.api.authentication import admitted
from portal.api.errors import as_json
from portal.live import reading
from portal.live.hub import hub

SLOWEST_S = 2.0
LAST_WORDS_S = 10.0
"""How long a finished run's last log text is waited for."""

RIGHTS_S = 30.0
"""So often a stream asks whether its reader may still read."""

_still_reads = database_sync_to_async(reading.still_reads)
_log_news = database_sync_to_async(reading.log_news)


@dataclass(frozen=True, slots=True)
class Wish:
    """Who reads, where to begin, and whether to go on while the workload lives."""

    user: int
    token: int | None
    session: str
    uid: str
    attempt: int
    offset: int
    follow: bool
    rank: int = 0


class Rights:
    """Asks now and then whether a stream's reader may still read."""

    def __init__(self, wish: Wish) -> None:
        self._wish = wish
        self._asked_at = time.monotonic()

    async def hold(self) -> bool:
        """Whether the stream may go on."""
        if time.monotonic() - self._asked_at < RIGHTS_S:
            return True
        self._asked_at = time.monotonic()
        wish = self._wish
        return bool(await _still_reads(wish.user, wish.token, wish.session, wish.uid))


async def workload_logs(request: HttpRequest, uid: str) -> HttpResponseBase:
    """`GET …/logs?follow=1&attempt=n&rank=n&offset=bytes`: text/plain, UTF-8."""
    try:
        wish = await sync_to_async(_admit)(request, uid)
    except Exception as refused:
        return as_json(refused, request)
    if request.method == "HEAD":
        return HttpResponse(content_type="text/plain; charset=utf-8")
    response = StreamingHttpResponse(_told(wish), content_type="text/plain; charset=utf-8")
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"
    return response


def _admit(request: HttpRequest, uid: str) -> Wish:
    """What the caller wants to read.

    Raises:
        APIException: no login, or too often.
        NotYours: no such workload or run, or not the caller's to know.
        Invalid: a parameter that is not understood.
    """
    if request.method not in {"GET", "HEAD"}:
        raise MethodNotAllowed(str(request.method))
    user, token = admitted(request)
    given = request.GET.dict()
    found = workload_list(standing=standing(user=user)).filter(uid=uid).first()
    if found is None:
        raise NotYours
    unknown = set(given) - {"follow", "attempt", "offset", "rank"}
    if unknown:
        raise Invalid(**{name[:80]: _("Unknown parameter.") for name in unknown})
    wish = Wish(
        user=user.pk,
        token=token.pk if token is not None else None,
        session=str(request.session.session_key),
        uid=uid,
        attempt=_number(given, "attempt"),
        offset=_number(given, "offset"),
        follow=_number(given, "follow") == 1,
        rank=_number(given, "rank"),
    )
    if wish.rank and not Rank.objects.filter(attempt__workload=found, rank=wish.rank).exists():
        raise NotYours
    if wish.attempt and not Attempt.objects.filter(workload=found, number=wish.attempt).exists():
        raise NotYours
    return wish


def _number(given: dict[str, str], name: str) -> int:
    text = given.get(name, "0")
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise Invalid(**{name: _("A whole number of at most nine digits.")})
    return int(text)


async def _told(wish: Wish) -> AsyncIterator[bytes]:
    """The text, piece by piece. Without `follow` it ends with what there is now."""
    waiter = hub().listen(wish.uid) if wish.follow else None
    attempt, offset, patience = wish.attempt, wish.offset, LAST_WORDS_S
    rights = Rights(wish)
    try:
        while patience > 0 and await rights.hold():
            found = await _log_news(wish.uid, attempt, offset, wish.rank)
            if found is not None and wish.attempt not in (0, found.attempt):
                return
            if found is not None:
                for text in _pieces(found, attempt, offset):
                    yield text.encode("utf-8", "replace")
                attempt, offset = found.attempt, found.part.end
            if found is not None and found.more:
                continue
            if waiter is None or (found is not None and found.end):
                return
            patience = await _paused(waiter, wish.uid, patience)
    finally:
        if waiter is not None:
            await hub().unlisten(wish.uid, waiter)


def _pieces(found: reading.LogNews, attempt: int, offset: int) -> list[str]:
    """The text, with a line in brackets where the middle of a long log was left out."""
    start = offset if attempt in (0, found.attempt) else 0
    gap = found.part.start - start
    if found.part.text and gap > 0:
        return [f"[… {gap} bytes left out …]\n", found.part.text]
    return [found.part.text] if found.part.text else []


async def _paused(waiter: asyncio.Event, uid: str, patience: float) -> float:
    """Wait for news; how much longer a finished workload's last words are waited for."""
    try:
        await asyncio.wait_for(waiter.wait(), SLOWEST_S)
        waiter.clear()
    except TimeoutError:
        if await database_sync_to_async(reading.ended)(uid):
            return patience - SLOWEST_S
    return patience

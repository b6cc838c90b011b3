"""Same key, same answer: a call that is sent twice is done once.

The answer is stored in the transaction that does the work: either both are there or neither.
"""

import json
from collections.abc import Callable, Collection
from datetime import timedelta
from typing import Any

from django.db import connection, transaction
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import ValidationError
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from pool import clock
from pool.errors import PoolError
from portal.api.authentication import caller
from portal.models import ApiToken, IdempotentCall

HEADER = "Idempotency-Key"
KEPT = timedelta(hours=24)
LONGEST = 200
SWEEP = 100
"""Every so many remembered calls, those that are over are removed."""

_LOCK = "SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 7))"


class KeyReused(PoolError):
    """The key was used for another call; detail: key."""

    code = "idempotency_key_reused"
    status = 422
    text = gettext_lazy("This Idempotency-Key was used for another call.")


class StillRunning(PoolError):
    """The first call with this key is not answered yet."""

    code = "idempotency_in_progress"
    status = 409
    retry_after = 1
    text = gettext_lazy("The first call with this Idempotency-Key is still running.")


class _Undone(Exception):
    """Rolls back what an answer that is not kept may have written."""


def once(
    request: Request, answer: Callable[[], Response], *, told_once: Collection[str] = ()
) -> Response:
    """The answer, or the remembered one of an earlier call with the same key.

    Fields `told_once` are secrets: they are remembered as null. 409, 429 and 5xx are not kept at
    all: the same call may succeed later.

    Raises:
        ValidationError: a key that is no printable text of 1 to 200 characters.
        KeyReused: the same key came with another address or body.
        StillRunning: the first call has not ended.
    """
    key = request.headers.get(HEADER)
    if request.method != "POST" or key is None:
        return answer()
    if not (0 < len(key) <= LONGEST and key.isascii() and key.isprintable()):
        raise ValidationError({HEADER: [_("1 to 200 printable ASCII characters.")]})
    kept: list[Response] = []
    try:
        with transaction.atomic():
            return _locked(request, key, answer, kept, told_once)
    except _Undone:
        return kept[0]


def _locked(
    request: Request,
    key: str,
    answer: Callable[[], Response],
    kept: list[Response],
    told_once: Collection[str],
) -> Response:
    token = request.auth if isinstance(request.auth, ApiToken) else None
    asked = _fingerprint(request)
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, [f"{caller(request).pk}:{token.pk if token else 0}:{key}"])
        if not cursor.fetchone()[0]:
            raise StillRunning
    calls = IdempotentCall.objects.filter(user=caller(request), token=token, key=key)
    found = calls.filter(created_at__gt=clock.now() - KEPT).first()
    if found is not None:
        if found.body_hash != asked:
            raise KeyReused(key=key)
        return Response(found.response, status=found.status, headers={"Idempotent-Replay": "true"})
    response = answer()
    if response.status_code in {409, 429} or response.status_code >= 500:
        kept.append(response)
        raise _Undone
    calls.delete()
    made = calls.create(
        user=caller(request),
        token=token,
        key=key,
        body_hash=asked,
        status=response.status_code,
        response=_plain(response.data, told_once),
    )
    if made.pk % SWEEP == 0:
        IdempotentCall.objects.filter(created_at__lt=clock.now() - KEPT).delete()
    return response


def _fingerprint(request: Request) -> str:
    """Address and body, so that a key cannot answer for another call.

    Keyed, as a body may hold a password, which a plain hash would let one guess.
    """
    body = json.dumps(request.data, sort_keys=True, default=str)
    call = f"{request.get_full_path()}\n{body}"
    return salted_hmac("idempotent call", call, algorithm="sha256").hexdigest()


def _plain(data: Any, told_once: Collection[str]) -> Any:
    """What the renderer will say, as plain JSON values, without what is told only once."""
    if data is None:
        return None
    said = json.loads(JSONRenderer().render(data))
    for name in told_once:
        if name in said:
            said[name] = None
    return said

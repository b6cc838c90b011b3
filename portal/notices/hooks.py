"""A person's own receiver: what is sent there, how it is signed, and where it may never go."""

import hashlib
import hmac
import json
import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils import translation

from pool.models.approvals.notices import Notice, NoticeHook
from pool.sealing import CannotOpen, NoKey, seal, unseal
from portal.notices.channels.dial import NotDialled, post
from portal.notices.words import address_of, words_of

TIMEOUT_S = 5.0
"""For one call as a whole."""

MOST_TOGETHER = 20
"""So many receivers are called at the same time."""


@dataclass(frozen=True, slots=True)
class Call:
    """One notice for one receiver, ready to be sent without the database."""

    url: str
    body: bytes
    headers: dict[str, str]


def secret_new() -> tuple[str, str]:
    """A fresh secret: as it is shown once, and as it is kept.

    Raises:
        NoKey: the site has no key for secrets.
    """
    plain = secrets.token_urlsafe(24)
    return plain, seal(plain)


def call_of(*, hook: NoticeHook, notice: Notice) -> Call:
    """The notice as JSON in its reader's language, signed with HMAC-SHA256 over the body.

    Raises:
        NotDialled: its secret cannot be opened any more.
    """
    with translation.override(notice.user.language or settings.LANGUAGE_CODE):
        told = _told(notice)
    body = json.dumps(told, ensure_ascii=False, sort_keys=True).encode()
    try:
        key = unseal(hook.secret).encode()
    except (CannotOpen, NoKey) as lost:
        raise NotDialled("its secret was made with another key; set the receiver anew") from lost
    headers = {
        "Content-Type": "application/json",
        "Idempotency-Key": notice.uid,
        "X-Signature-256": "sha256=" + hmac.new(key, body, hashlib.sha256).hexdigest(),
    }
    return Call(hook.url, body, headers)


def calls_send(queues: list[list[Call]]) -> list[list[str]]:
    """Send the calls of each queue in their order, the queues beside each other.

    For each call why it was not taken, empty when it was. After the first one that was not, the
    rest of its queue is not tried: each receiver costs one time-out, however much waits for it.
    """
    with ThreadPoolExecutor(MOST_TOGETHER, thread_name_prefix="receivers") as pool:
        return list(pool.map(_queue, queues))


def _queue(calls: list[Call]) -> list[str]:
    said: list[str] = []
    for call in calls:
        said.append(said[-1] if said and said[-1] else _tried(call))
    return said


def _tried(call: Call) -> str:
    """Why it was not taken; a receiver's own oddness is never anybody else's matter."""
    try:
        post(call.url, body=call.body, headers=call.headers, deadline_s=TIMEOUT_S)
    except NotDialled as refused:
        return str(refused)
    except Exception as odd:
        return type(odd).__name__
    return ""


def _told(notice: Notice) -> dict[str, Any]:
    return {
        "uid": notice.uid,
        "kind": notice.kind,
        "about": notice.about,
        "text": words_of(notice, notice.user.zone),
        "url": address_of(notice),
        "at": notice.at.isoformat(),
    }

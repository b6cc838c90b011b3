"""A person's own receiver: what is sent there, how it is signed, and where it may never go."""

import asyncio
import hashlib
import hmac
import ipaddress
import json
import secrets
import socket
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx
from django.conf import settings
from django.utils import translation

from pool.models.approvals.notices import Notice, NoticeHook
from pool.sealing import CannotOpen, NoKey, seal, unseal
from portal.notices.words import address_of, words_of

TIMEOUT_S = 5.0
"""For one call as a whole: looking up the host, connecting, and waiting for its status."""

MOST_TOGETHER = 20
"""So many receivers are called at the same time."""


class NotDialled(Exception):
    """The address may not be dialled, or its receiver did not take it; the text says why."""


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
        "Host": urlsplit(hook.url).netloc.rpartition("@")[2],
    }
    return Call(hook.url, body, headers)


def calls_send(queues: list[list[Call]]) -> list[list[str]]:
    """Send the calls of each queue in their order, the queues beside each other.

    For each call why it was not taken, empty when it was. After the first one that was not, the
    rest of its queue is not tried: each receiver costs one time-out, however much waits for it.
    """
    return asyncio.run(_queues(queues))


async def _queues(queues: list[list[Call]]) -> list[list[str]]:
    turn = asyncio.Semaphore(MOST_TOGETHER)

    async def one(calls: list[Call]) -> list[str]:
        said: list[str] = []
        async with turn:
            for call in calls:
                said.append(said[-1] if said and said[-1] else await _tried(call))
        return said

    return await asyncio.gather(*(one(calls) for calls in queues))


async def _tried(call: Call) -> str:
    """Why it was not taken; a receiver's own oddness is never anybody else's matter."""
    try:
        async with asyncio.timeout(TIMEOUT_S):
            await _send(call)
    except NotDialled as refused:
        return str(refused)
    except TimeoutError:
        return "no answer in time"
    except Exception as odd:
        return type(odd).__name__
    return ""


async def _send(call: Call) -> None:
    """No redirect is followed, and of the answer no more than the status is read.

    Raises:
        NotDialled: the address is private, or it answered with anything but 2xx.
    """
    dialled = await public_address(call.url)
    named = {"sni_hostname": urlsplit(call.url).hostname or ""}
    options = {"timeout": TIMEOUT_S, "follow_redirects": False, "trust_env": False}
    async with (
        httpx.AsyncClient(**options) as client,  # type: ignore[arg-type]
        client.stream(
            "POST", dialled, content=call.body, headers=call.headers, extensions=named
        ) as said,
    ):
        if not said.is_success:
            raise NotDialled(f"answered {said.status_code}")


def _told(notice: Notice) -> dict[str, Any]:
    return {
        "uid": notice.uid,
        "kind": notice.kind,
        "about": notice.about,
        "text": words_of(notice, notice.user.zone),
        "url": address_of(notice),
        "at": notice.at.isoformat(),
    }


async def public_address(url: str) -> str:
    """The address with its host resolved, so that it cannot turn elsewhere after the look.

    Raises:
        NotDialled: it is none, has no host, or leads to a private one.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as odd:
        raise NotDialled("no http address") from odd
    if parts.scheme not in {"http", "https"} or not host:
        raise NotDialled("no http address")
    try:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as unknown:
        raise NotDialled("the host has no address") from unknown
    ip = str(found[0][4][0])
    if not ipaddress.ip_address(ip).is_global and host not in settings.HOOK_HOSTS:
        raise NotDialled("a private address; an administrator may allow its host")
    inside = f"[{ip}]" if ":" in ip else ip
    return parts._replace(netloc=f"{inside}:{port}").geturl()

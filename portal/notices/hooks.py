"""A person's own receiver: what is sent there, how it is signed, and where it may never go."""

import base64
import hashlib
import hmac
import ipaddress
import json
import secrets
import socket
from typing import Any
from urllib.parse import urlsplit

import httpx
from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.utils import translation

from pool.models.approvals.notices import Notice, NoticeHook
from portal.notices.words import address_of, words_of

TIMEOUT_S = 5.0


class NotDialled(Exception):
    """The address may not be dialled, or its receiver did not take it; the text says why."""


def secret_new() -> tuple[str, str]:
    """A fresh secret: as it is shown once, and as it is kept."""
    plain = secrets.token_urlsafe(24)
    return plain, _box().encrypt(plain.encode()).decode()


def hook_send(*, hook: NoticeHook, notice: Notice) -> None:
    """POST the notice as JSON, signed with HMAC-SHA256 over the body; no redirect is followed.

    Raises:
        NotDialled: the address is private, or it answered with anything but 2xx, or not in 5 s.
    """
    dialled = _public(hook.url)
    with translation.override(notice.user.language or settings.LANGUAGE_CODE):
        told = _told(notice)
    body = json.dumps(told, ensure_ascii=False, sort_keys=True).encode()
    try:
        key = _box().decrypt(hook.secret.encode())
    except InvalidToken as other:
        raise NotDialled("its secret was made with another key; set the receiver anew") from other
    headers = {
        "Content-Type": "application/json",
        "Idempotency-Key": notice.uid,
        "X-Signature-256": "sha256=" + hmac.new(key, body, hashlib.sha256).hexdigest(),
        "Host": urlsplit(hook.url).netloc.rpartition("@")[2],
    }
    named = {"sni_hostname": urlsplit(hook.url).hostname or ""}
    try:
        with httpx.Client(timeout=TIMEOUT_S, follow_redirects=False, trust_env=False) as client:
            said = client.post(dialled, content=body, headers=headers, extensions=named)
    except (httpx.HTTPError, httpx.InvalidURL) as away:
        raise NotDialled(type(away).__name__) from away
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


def _public(url: str) -> str:
    """The address with its host resolved, so that it cannot turn elsewhere after the look."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as odd:
        raise NotDialled("no http address") from odd
    if parts.scheme not in {"http", "https"} or not host:
        raise NotDialled("no http address")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as unknown:
        raise NotDialled("the host has no address") from unknown
    ip = str(found[0][4][0])
    if not ipaddress.ip_address(ip).is_global and host not in settings.HOOK_HOSTS:
        raise NotDialled("a private address; an administrator may allow its host")
    inside = f"[{ip}]" if ":" in ip else ip
    return parts._replace(netloc=f"{inside}:{port}").geturl()


def _box() -> Fernet:
    """The box in which secrets lie, from the installation's own key."""
    digest = hashlib.sha256(b"notice hooks " + settings.SECRET_KEY.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))

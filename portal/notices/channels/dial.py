"""One call to somebody else's receiver: never to a private address, never longer than a deadline.

The host is resolved once and the very address that was looked at is dialled, so that a name cannot
turn elsewhere after the look. The deadline is of the whole call, not of one read, and of the answer
only a little is kept: a receiver that drips or never ends holds nobody up.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx
from django.conf import settings

DEADLINE_S = 5.0
"""The whole call: connecting, sending, the answer."""

MOST_ANSWER = 16_384
"""So many bytes of an answer are looked at."""


WAYS_ON = tuple(ipaddress.IPv6Network(one) for one in ("::/96", "64:ff9b::/96"))
"""IPv6 that leads on to the IPv4 address in its last four bytes: old compatible ones, and NAT64."""

NAT64_OF_ITS_OWN = ipaddress.IPv6Network("64:ff9b:1::/48")
"""A network's own NAT64: where it leads to is not told by the address."""


class NotDialled(Exception):
    """The address may not be dialled, or its receiver did not take it; the text says why."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the receiver said."""

    status: int
    body: bytes


def post(
    url: str,
    *,
    body: bytes,
    headers: Mapping[str, str] | None = None,
    deadline_s: float = DEADLINE_S,
) -> Answer:
    """POST the body; no redirect is followed, no proxy of the environment is used.

    Raises:
        NotDialled: the address is private, nobody answered in time, or not with 2xx.
    """
    dialled, host = public(url), _ascii(urlsplit(url).hostname or "")
    port = urlsplit(url).port
    inside = f"[{host}]" if ":" in host else host
    named = {"Host": inside if port is None else f"{inside}:{port}", **dict(headers or {})}
    try:
        said = asyncio.run(_posted(dialled, host, body, named, deadline_s))
    except TimeoutError as late:
        raise NotDialled(f"no answer in {deadline_s:g} s") from late
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as away:
        raise NotDialled(type(away).__name__) from away
    if not 200 <= said.status < 300:
        raise NotDialled(f"answered {said.status}")
    return said


async def _posted(
    url: str, host: str, body: bytes, headers: Mapping[str, str], deadline_s: float
) -> Answer:
    """The call under its deadline."""
    async with (
        asyncio.timeout(deadline_s),
        httpx.AsyncClient(timeout=deadline_s, follow_redirects=False, trust_env=False) as client,
        client.stream(
            "POST", url, content=body, headers=dict(headers), extensions={"sni_hostname": host}
        ) as said,
    ):
        kept = b""
        if said.is_success:
            async for part in said.aiter_raw():
                kept += part
                if len(kept) >= MOST_ANSWER:
                    break
        return Answer(said.status_code, kept[:MOST_ANSWER])


def public(url: str) -> str:
    """The address with its host resolved.

    Raises:
        NotDialled: no http address, an unknown host, or a private one that nobody allowed
            (GPUPOOL_HOOK_HOSTS).
    """
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
    if not _anybodys(ip) and host not in settings.HOOK_HOSTS:
        raise NotDialled("a private address; an administrator may allow its host")
    inside = f"[{ip}]" if ":" in ip else ip
    return parts._replace(netloc=f"{inside}:{port}").geturl()


def _anybodys(ip: str) -> bool:
    """Whether it is an address of the open internet, and leads on to no private one."""
    at = ipaddress.ip_address(ip)
    if isinstance(at, ipaddress.IPv6Address):
        if at in NAT64_OF_ITS_OWN:
            return False
        inside = at.ipv4_mapped or at.sixtofour
        if inside is None and any(at in one for one in WAYS_ON):
            inside = ipaddress.IPv4Address(int(at) & 0xFFFFFFFF)
        at = inside or at
    return at.is_global and not at.is_multicast


def _ascii(host: str) -> str:
    """A host's name as headers and certificates have it."""
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode()
    except UnicodeError as odd:
        raise NotDialled("the host has no address") from odd

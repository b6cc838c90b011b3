"""What of a request reaches a notebook, and what of its answer a browser: nothing of the portal."""

from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie

Pairs = list[tuple[bytes, bytes]]

HOP = frozenset(
    {
        *(b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"te"),
        *(b"trailer", b"transfer-encoding", b"upgrade", b"proxy-connection"),
    }
)
NEVER_IN = HOP | {b"authorization", b"cookie", b"forwarded", b"expect"}
NEVER_OUT = HOP | {b"content-security-policy", b"set-cookie", b"server", b"date"}
KEPT_COOKIE = "_xsrf"
"""The one cookie between a notebook's page and its own server."""

COOKIE = "gpn"
"""The gateway's own; its path binds it to one notebook."""

POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob: https:; "
    "font-src 'self' data:; media-src 'self' data: blob:; worker-src 'self' blob:; "
    "connect-src 'self' {socket}; frame-src 'self' blob: data:; frame-ancestors 'self'; "
    "form-action 'self'; base-uri 'self'; object-src 'none'"
)
"""JupyterLab compiles its schemas and styles in the page. Nothing may be sent anywhere else."""


def first(pairs: Iterable[tuple[bytes, bytes]], name: bytes) -> str:
    """The first header of that name; empty when there is none."""
    return next((value.decode("latin-1") for key, value in pairs if key == name), "")


def cookie_of(pairs: Pairs, name: str) -> str:
    """One cookie of the request; empty when it is not there."""
    found = SimpleCookie()
    try:
        found.load(first(pairs, b"cookie"))
    except CookieError:
        return ""
    return found[name].value if name in found else ""


def inward(pairs: Pairs, token: str, *, plain: bool) -> Pairs:
    """The request's headers for the notebook: its own token instead of anything of the person's.

    `plain` asks for an answer that is not compressed, so that it can be read on the way.
    """
    kept = [(k, v) for k, v in pairs if k not in NEVER_IN and not k.startswith(b"x-forwarded")]
    if plain:
        kept = [(k, v) for k, v in kept if k not in (b"accept-encoding", b"if-none-match")]
        kept.append((b"accept-encoding", b"identity"))
    own = cookie_of(pairs, KEPT_COOKIE)
    if own:
        kept.append((b"cookie", f"{KEPT_COOKIE}={own}".encode("latin-1")))
    return [*kept, (b"authorization", f"token {token}".encode())]


def outward(pairs: Iterable[tuple[bytes, bytes]], host: str, secure: bool) -> Pairs:
    """The notebook's headers for the browser, with the gateway's own rules."""
    found = [(k.lower(), v) for k, v in pairs]
    kept = [(k, v) for k, v in found if k not in NEVER_OUT]
    kept += [(k, v) for k, v in found if k == b"set-cookie" and v.startswith(b"_xsrf=")]
    return [*kept, *rules(host, secure)]


def rules(host: str, secure: bool) -> Pairs:
    """What every answer of the gateway says."""
    policy = POLICY.format(socket=f"{'wss' if secure else 'ws'}://{host}")
    return [
        (b"content-security-policy", policy.encode("latin-1")),
        (b"referrer-policy", b"same-origin"),
        (b"x-content-type-options", b"nosniff"),
        (b"cross-origin-opener-policy", b"same-origin"),
    ]

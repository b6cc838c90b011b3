"""Short answers of the gateway's own."""

import json
from typing import Any

from portal.gateway import headers
from portal.gateway.tunnels import Send


async def said(
    scope: Any, send: Send, status: int, text: str, more: headers.Pairs | None = None
) -> None:
    """A short answer of the gateway's own."""
    body = text.encode()
    host = headers.first(scope["headers"], b"host")
    pairs = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        *headers.rules(host, scope["scheme"] == "https"),
        *(more or []),
    ]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})


async def told(send: Send, status: int, found: Any) -> None:
    """An answer for the banner's script."""
    body = json.dumps(found).encode()
    pairs = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})

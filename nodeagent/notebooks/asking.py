"""Asks a notebook's own server how it does, over its socket and with its own token."""

from pathlib import Path
from typing import Any

import httpx

from nodeagent.notebooks.door import way_in
from nodeagent.protocol.notebooks import base_path

ANSWER_S = 5.0
QUESTIONS = ("kernels", "terminals")
LARGEST = 1024 * 1024


class NoAnswer(Exception):
    """The server is not there yet, or does not answer in time."""


async def ask(home: Path, workload: str, token: str) -> dict[str, list[dict[str, Any]]]:
    """Its kernels and terminals as it lists them.

    Raises:
        NoAnswer
    """
    try:
        with way_in(home) as path:
            wire = httpx.AsyncHTTPTransport(uds=path)
            headers = {"Authorization": f"token {token}"}
            base = f"http://notebook{base_path(workload)}api/"
            async with httpx.AsyncClient(
                transport=wire, headers=headers, base_url=base, timeout=ANSWER_S, trust_env=False
            ) as client:
                return {name: await _list(client, name) for name in QUESTIONS}
    except (OSError, httpx.HTTPError, ValueError) as failure:
        raise NoAnswer(repr(failure)) from failure


async def _list(client: httpx.AsyncClient, name: str) -> list[dict[str, Any]]:
    """One of its lists; what is not a list of objects is no answer.

    Raises:
        ValueError, httpx.HTTPError
    """
    async with client.stream("GET", name) as answer:
        answer.raise_for_status()
        body = b""
        async for part in answer.aiter_bytes():
            body += part
            if len(body) > LARGEST:
                raise ValueError(f"{name}: the answer is too long")
    found = httpx.Response(200, content=body).json()
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise ValueError(f"{name}: no list")
    return found

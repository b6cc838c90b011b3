"""People's scripts: whoever calls the REST door with a token."""

import json
from typing import Any

from asgiref.sync import async_to_sync
from django.test import Client

from pool.events import SYSTEM
from portal.access.tokens import token_issue


class Caller:
    """One person's script: every call carries the token, bodies are JSON."""

    def __init__(self, user: Any, token: str) -> None:
        self.user = user
        self.token = token
        self.client = Client(raise_request_exception=False)

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        given = body if isinstance(body, str | bytes) or body is None else json.dumps(body)
        address = path if path.startswith("/") else f"/api/v1/{path}"
        return self.client.generic(
            method,
            address,
            given if given is not None else "",
            content_type="application/json" if given is not None else "",
            headers={"Authorization": f"Bearer {self.token}", **headers},
        )

    def get(self, path: str, **headers: str) -> Any:
        return self("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self("POST", path, {} if body is None else body, **headers)


def text_of(answer: Any) -> str:
    """A streamed body, as one text."""

    async def whole() -> bytes:
        return b"".join([part async for part in answer.streaming_content])

    return async_to_sync(whole)().decode()


def caller(user: Any) -> Caller:
    """A person with a fresh token."""
    return Caller(user, token_issue(user=user, name="test", actor=SYSTEM)[1])

"""Somebody at a browser, without the browser."""

import pytest
from django.test import Client


class Visitor:
    """One logged-in person; `part` asks as htmx does."""

    def __init__(self, user) -> None:
        self.user = user
        self.client = Client()
        self.client.force_login(user)

    def open(self, path, **headers):
        return self.client.get(path, headers=headers)

    def part(self, path, **headers):
        return self.client.get(path, headers={"HX-Request": "true", **headers})

    def send(self, path, data=None, *, htmx=False, **headers):
        asked = {"HX-Request": "true"} if htmx else {}
        return self.client.post(path, data or {}, headers=asked | headers)


@pytest.fixture
def visit(world):
    """The person of that role at a browser."""
    return lambda role: Visitor(world.by(role).user)

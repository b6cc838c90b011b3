"""Round every page and call: its request id, and the language of the person who asks."""

import re
from collections.abc import Callable
from uuid import uuid4

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation

from pool.events import request_id

HEADER = "X-Request-ID"
_GIVEN = re.compile(r"[A-Za-z0-9._:-]{1,64}")
_SCRIPTED = ("/api/", "/gate/", "/static/", "/healthz")

Next = Callable[[HttpRequest], HttpResponse]


class RequestId:
    """Takes the id that the caller gives, or makes one; events, logs and the answer carry it."""

    def __init__(self, get_response: Next) -> None:
        self._next = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get(HEADER, "")
        name = given if _GIVEN.fullmatch(given) else uuid4().hex
        token = request_id.set(name)
        try:
            response = self._next(request)
        finally:
            request_id.reset(token)
        response[HEADER] = name
        return response


class UserLanguage:
    """The language that a person chose wins over the browser's; scripts keep Accept-Language."""

    def __init__(self, get_response: Next) -> None:
        self._next = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        chosen = "" if request.path.startswith(_SCRIPTED) else self._chosen(request)
        if chosen not in dict(settings.LANGUAGES):
            return self._next(request)
        with translation.override(chosen):
            request.LANGUAGE_CODE = chosen
            response = self._next(request)
        response.headers.setdefault("Content-Language", chosen)
        return response

    def _chosen(self, request: HttpRequest) -> str:
        if settings.SESSION_COOKIE_NAME not in request.COOKIES:
            return ""
        return str(getattr(request.user, "language", ""))

"""One envelope for every refusal: code, message, detail; the same words at every door."""

import logging
import math
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.core.exceptions import ValidationError as ModelInvalid
from django.db import DataError, IntegrityError, OperationalError
from django.http import Http404, HttpRequest, JsonResponse
from django.utils.translation import gettext as _
from psycopg.errors import UniqueViolation
from rest_framework import exceptions
from rest_framework.response import Response

from pool.errors import PoolError, Stale
from pool.events import request_id

log = logging.getLogger("portal.api")

CODES = {
    400: "invalid",
    401: "not_authenticated",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    413: "too_large",
    415: "unsupported_media_type",
    429: "throttled",
}


class TooLarge(exceptions.APIException):
    """A body over the limit of the door."""

    status_code = 413
    default_code = "too_large"

    def __init__(self, most: int) -> None:
        super().__init__(_("The body is over the limit of %(most)s bytes.") % {"most": most})


def told(code: str, message: str, detail: Any = None) -> dict[str, Any]:
    """The envelope itself."""
    return {"code": code, "message": message, "detail": detail if detail is not None else {}}


def plain(refused: PoolError) -> JsonResponse:
    """A refusal at a door that is not made of REST views."""
    body = told(refused.code, str(refused), refused.detail)
    response = JsonResponse(body, status=refused.status)
    if refused.status == 401:
        response["WWW-Authenticate"] = "Bearer"
    return response


def as_json(exc: Exception, request: HttpRequest) -> JsonResponse:
    """What `envelope` says, for a view that is not made by the REST framework."""
    said = envelope(exc, {"request": request})
    headers = {k: v for k, v in said.headers.items() if k != "Content-Type"}
    return JsonResponse(said.data, status=said.status_code, headers=headers)


def envelope(exc: Exception, context: dict[str, Any]) -> Response:
    """Turn what was raised into the envelope; a bug becomes a bare 500 and a line in the log."""
    known = _known(exc)
    if isinstance(known, PoolError):
        wait = getattr(known, "retry_after", None)
        headers = {"Retry-After": str(wait)} if wait else {}
        body = told(known.code, str(known), known.detail)
        return Response(body, status=known.status, headers=headers)
    if isinstance(known, exceptions.APIException):
        return _refusal(known)
    if isinstance(exc, OperationalError):
        log.warning("database away: %s", exc, extra={"request_id": request_id.get()})
        body = told("unavailable", _("The database does not answer; try again."))
        return Response(body, status=503, headers={"Retry-After": "2"})
    log.error("unexpected error in %s", _where(context), exc_info=exc)
    body = told("internal_error", _("An error on our side."), {"request_id": request_id.get()})
    return Response(body, status=500)


def _known(exc: Exception) -> Exception:
    """The exception of ours that says the same."""
    if isinstance(exc, Http404):
        return exceptions.NotFound()
    if isinstance(exc, PermissionDenied):
        return exceptions.PermissionDenied()
    if isinstance(exc, ModelInvalid):
        said = exc.message_dict if hasattr(exc, "error_dict") else {"detail": exc.messages}
        return exceptions.ValidationError(said)
    if isinstance(exc, RequestDataTooBig):
        return TooLarge(0)
    if isinstance(exc, IntegrityError) and isinstance(exc.__cause__, UniqueViolation):
        # Two callers made the same thing at once; this one came second, and nothing was written.
        return Stale()
    if isinstance(exc, DataError):
        return exceptions.ValidationError({"detail": [_("A value is out of range.")]})
    return exc


def _refusal(exc: exceptions.APIException) -> Response:
    headers: dict[str, str] = {}
    if getattr(exc, "auth_header", None):
        headers["WWW-Authenticate"] = str(getattr(exc, "auth_header"))  # noqa: B009
    wait = getattr(exc, "wait", None)
    if wait:
        headers["Retry-After"] = str(math.ceil(wait))
    code = CODES.get(exc.status_code, exc.default_code)
    if isinstance(exc, exceptions.ValidationError):
        said = exc.detail if isinstance(exc.detail, dict) else {"detail": exc.detail}
        body = told(code, _("Some values are not valid."), said)
    else:
        body = told(code, str(exc.detail))
    return Response(body, status=exc.status_code, headers=headers)


def _where(context: dict[str, Any]) -> str:
    request = context.get("request")
    return f"{request.method} {request.path}" if request is not None else "a view"

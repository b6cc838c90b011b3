"""The request as htmx sends it: who may enter a page, fragment or whole, refusals as fragments."""

import json
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_http_methods
from django_htmx.middleware import HtmxDetails

from pool.errors import Forbidden, NotYours, PoolError
from pool.models.users import User
from pool.selectors.memberships import Standing, standing


class HtmxRequest(HttpRequest):
    """A request that has passed `page`: somebody is logged in and their standing is known."""

    htmx: HtmxDetails
    user: User
    standing: Standing


View = Callable[..., HttpResponseBase]


def page(*methods: str) -> Callable[[View], View]:
    """A view for people who are logged in; answers are never kept by caches.

    What is not theirs to know is a missing page; what their role may not do, a forbidden one; so
    is an address that no row could have.

    A lost login sends the whole browser to the login page, also when htmx asked for a part.
    """

    def around(view: View) -> View:
        @wraps(view)
        def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return _to_login(request)
            if _unsayable(request):
                raise Http404
            request.standing = standing_of(request)  # type: ignore[attr-defined]
            try:
                response = view(request, *args, **kwargs)
            except NotYours as hidden:
                raise Http404 from hidden
            except Forbidden as barred:
                raise PermissionDenied from barred
            patch_vary_headers(response, ["HX-Request", "Cookie"])
            response.headers.setdefault("Cache-Control", "no-store")
            return response

        return require_http_methods(list(methods or ("GET",)))(inner)

    return around


def standing_of(request: HttpRequest) -> Standing:
    """The visitor's standing, asked once per request."""
    found = getattr(request, "_standing", None)
    if found is None:
        user = request.user
        found = standing(user=user) if isinstance(user, User) else Standing()
        request._standing = found  # type: ignore[attr-defined]
    return found


def fragment(
    request: HtmxRequest, whole: str, part: str, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    """The whole page, or its own part when htmx asks (history restores get the whole page)."""
    asked = request.htmx and not request.htmx.boosted and not request.htmx.history_restore_request
    return render(request, part if asked else whole, context, status=status)


def toast(response: HttpResponse, level: str, text: str, url: str = "") -> HttpResponse:
    """Let the browser show a short word; kept beside events already named."""
    known = json.loads(response.headers.get("HX-Trigger", "{}"))
    known["toast"] = {"level": level, "text": str(text), "url": url}
    response.headers["HX-Trigger"] = json.dumps(known)
    return response


def go(request: HttpRequest, url: str) -> HttpResponse:
    """Send the browser elsewhere: a plain redirect, or htmx's own."""
    if getattr(request, "htmx", False):
        return HttpResponse(status=204, headers={"HX-Redirect": url})
    return HttpResponse(status=303, headers={"Location": url})


def _unsayable(request: HttpRequest) -> bool:
    """A zero byte in the address or in a filter: no row could ever match it."""
    said = (request.path, *(text for texts in request.GET.lists() for text in texts[1]))
    return any("\0" in text for text in said)


def _to_login(request: HttpRequest) -> HttpResponse:
    if getattr(request, "htmx", False):
        back = request.htmx.current_url_abs_path or "/"  # type: ignore[attr-defined]
        target = f"{reverse('account_login')}?{urlencode({'next': back})}"
        return HttpResponse(status=401, headers={"HX-Redirect": target})
    return redirect_to_login(request.get_full_path())


def refusal_as_toast(view: View) -> View:
    """A refusal of the pool becomes a short word beside the page, with its own status."""

    @wraps(view)
    def inner(request: HtmxRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except PoolError as refused:
            if refused.status == HTTPStatus.NOT_FOUND:
                raise
            if refused.status == HTTPStatus.FORBIDDEN and not request.htmx:
                raise
            if request.htmx:
                response = HttpResponse(status=refused.status, headers={"HX-Reswap": "none"})
                return toast(response, "warning", str(refused))
            messages.warning(request, str(refused))
            return go(request, request.headers.get("Referer", "/"))

    return inner


def refuse_unless(allowed: bool) -> None:
    """Seen, but not allowed.

    Raises:
        PermissionDenied: Django answers with the page for 403.
    """
    if not allowed:
        raise PermissionDenied

"""The language switch: kept with the account when there is one, and in this browser."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from pool.events import Actor
from pool.models.users import User
from pool.services.users import user_edit

YEAR = 365 * 86400


@require_POST
def choose(request: HttpRequest) -> HttpResponse:
    """Take the language and go back to where one was."""
    chosen = request.POST.get("language", "")
    back = request.POST.get("next", "/")
    if not url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()}):
        back = "/"
    response = HttpResponse(status=303, headers={"Location": back})
    if chosen in dict(settings.LANGUAGES):
        user = request.user
        if isinstance(user, User) and user.language != chosen:
            user_edit(user=user, actor=Actor.of(user), language=chosen)
        response.set_cookie(
            settings.LANGUAGE_COOKIE_NAME, chosen, max_age=YEAR, samesite="Lax", httponly=True
        )
    return response

"""Every address of the portal."""

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern, URLResolver, include, path, re_path

from portal.health import healthz
from portal.metrics.views import metrics

SHUT = (
    r"^accounts/(?:signup|email|confirm-email|password/set|password/reset|login/code|"
    r"reauthenticate/code|3rdparty/signup|social)/"
)
"""Pages of the library that are not offered: an address is set by an administrator, since single
sign-on goes by it, and a directory's people have no password here."""


def shut(request: HttpRequest, *_named: str) -> HttpResponse:
    """There is nothing here.

    Raises:
        Http404: always.
    """
    raise Http404


urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", healthz, name="healthz"),
    path("metrics", metrics, name="metrics"),
    path("api/", include("portal.api.urls")),
    path("gate/v1/", include("portal.gate.urls")),
    re_path(SHUT, shut),
    re_path(r"^accounts/3rdparty/$", shut),
    path("accounts/", include("allauth.urls")),
    path("", include("portal.pages.urls")),
]
handler403 = "portal.pages.errors.forbidden"
handler404 = "portal.pages.errors.missing"
handler500 = "portal.pages.errors.broken"

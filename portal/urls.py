"""Every address of the portal."""

from django.urls import URLPattern, URLResolver, include, path

from portal.health import healthz
from portal.metrics.views import metrics

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", healthz, name="healthz"),
    path("metrics", metrics, name="metrics"),
    path("api/", include("portal.api.urls")),
    path("gate/v1/", include("portal.gate.urls")),
    path("accounts/", include("allauth.urls")),
    path("", include("portal.pages.urls")),
]
handler403 = "portal.pages.errors.forbidden"
handler404 = "portal.pages.errors.missing"
handler500 = "portal.pages.errors.broken"

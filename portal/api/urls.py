"""Addresses under /api/."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import include, path, re_path
from django.utils.translation import gettext as _

from portal.api.document import DocsPage, schema
from portal.api.errors import told
from portal.api.router import router
from portal.live.logs import workload_logs


def unknown(request: HttpRequest) -> HttpResponse:
    """No such address: the envelope, not a page."""
    return JsonResponse(told("not_found", _("Not found.")), status=404)


urlpatterns = [
    path("schema/", schema, name="schema"),
    path("docs/", DocsPage.as_view(), name="docs"),
    re_path(r"^v1/workloads/(?P<uid>wl-[0-9a-f-]{36})/logs/?$", workload_logs, name="logs"),
    path("v1/", include(router.urls)),
    re_path(r"^", unknown),
]

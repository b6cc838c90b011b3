"""`/metrics` for Prometheus: to the machine itself, or to whoever has the token."""

from django.http import HttpRequest, HttpResponse, HttpResponseNotFound
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from portal.access.watching import may_watch
from portal.metrics.collector import Rounds
from portal.metrics.pool import Pool
from portal.metrics.portal import Portal
from portal.metrics.work import Work

REGISTRY = CollectorRegistry(auto_describe=False)
REGISTRY.register(Rounds())
REGISTRY.register(Pool())
REGISTRY.register(Work())
REGISTRY.register(Portal())


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The numbers as they are now; strangers are told that there is nothing here."""
    if not may_watch(request):
        return HttpResponseNotFound()
    return HttpResponse(
        generate_latest(REGISTRY),
        content_type=CONTENT_TYPE_LATEST,
        headers={"Cache-Control": "no-store"},
    )

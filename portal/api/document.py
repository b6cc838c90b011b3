"""The OpenAPI file at its address, and the page that shows it without the internet."""

import json
from functools import lru_cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import translation
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import JSONRenderer, TemplateHTMLRenderer


def _asked(name: str, text: str, most: int) -> dict[str, Any]:
    number = {"type": "integer", "minimum": 0, "maximum": most, "default": 0}
    return {"in": "query", "name": name, "description": text, "schema": number}


LOGS: dict[str, Any] = {
    "operationId": "workloads_logs_retrieve",
    "description": "The log as text; with `follow=1` until the workload ends.",
    "tags": ["workloads"],
    "parameters": [
        {"in": "path", "name": "uid", "required": True, "schema": {"type": "string"}},
        _asked("follow", "1: go on until the workload ends.", 1),
        _asked("attempt", "A run; 0: the newest, and when following the ones after it.", 99999),
        _asked("offset", "Bytes of the run's log to pass over.", 999999999),
    ],
    "security": [{"token": []}, {"cookieAuth": []}],
    "responses": {
        "200": {
            "description": "Text.",
            "content": {"text/plain": {"schema": {"type": "string"}}},
        },
        **{
            str(code): {
                "description": "Refused.",
                "content": {
                    "application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}
                },
            }
            for code in (400, 401, 403, 404, 429)
        },
    },
}
"""The one address that is not made by the REST framework."""


@lru_cache(maxsize=1)
def document() -> bytes:
    """The OpenAPI file, made once a process; the same bytes as the committed one."""
    with translation.override("en"):
        generator: Any = SchemaGenerator
        made = generator().get_schema(request=None, public=True)
    made["paths"]["/api/v1/workloads/{uid}/logs/"] = {"get": LOGS}
    made["paths"] = dict(sorted(made["paths"].items()))
    plain = json.loads(JSONRenderer().render(made))
    return (json.dumps(plain, indent=1, ensure_ascii=False) + "\n").encode()


def schema(request: HttpRequest) -> HttpResponse:
    """`GET /api/schema/`: it names no tenant's things and needs no login."""
    return HttpResponse(document(), content_type="application/json")


class DocsPage(SpectacularSwaggerSplitView):
    """The offline page: its own files only, no script or style inside the document."""

    url_name = "schema"
    template_name = "api/docs.html"
    renderer_classes = [TemplateHTMLRenderer]
    content_negotiation_class = DefaultContentNegotiation
    permission_classes: list[Any] = []
    authentication_classes: list[Any] = []
    throttle_classes: list[Any] = []

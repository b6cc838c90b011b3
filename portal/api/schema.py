"""OpenAPI: what the doors say of themselves."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiExample, OpenApiParameter

from portal.api.door import Door, Listing
from portal.api.examples import example_of
from portal.api.fields import Filters, Nothing, Refusal
from portal.api.idempotency import HEADER
from portal.api.shown import shown_parameters

REFUSED = {
    "GET": (400, 401, 403, 404, 429),
    "POST": (400, 401, 403, 404, 409, 413, 415, 422, 429),
    "PATCH": (400, 401, 403, 404, 409, 413, 415, 422, 429),
    "PUT": (400, 401, 403, 404, 409, 413, 415, 422, 429),
    "DELETE": (401, 403, 404, 409, 429),
}
KEY = OpenApiParameter(
    HEADER,
    str,
    OpenApiParameter.HEADER,
    description="The same key with the same call is answered once, for 24 hours.",
    required=False,
)


def shown_as(told: dict[str, Any]) -> OpenApiParameter:
    """A parameter that is written as OpenAPI has it."""
    schema = dict(told["schema"])
    return OpenApiParameter(
        told["name"], schema, OpenApiParameter.QUERY, description=told["description"]
    )


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How a token is shown."""

    target_class = "portal.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        """`Authorization: Bearer <token>`."""
        return {"type": "http", "scheme": "bearer"}


class DoorSchema(AutoSchema):
    """Reads `takes`, `gives` and `filters` of a door: the file cannot say other than the code."""

    def get_tags(self) -> list[str]:
        """One tag a noun."""
        return [self.path.removeprefix("/api/v1/").split("/", 1)[0]]

    def get_override_parameters(self) -> list[Any]:
        """The filters of a list; the key of a POST."""
        found: list[Any] = []
        if isinstance(self.view, Door):
            if self.view.action == "list" and self.view.filters is not Filters:
                found.append(self.view.filters)
            if self._many():
                assert isinstance(self.view, Listing)
                found += [shown_as(one) for one in shown_parameters(type(self.view))]
            if self.view.action in self.view.asks:
                found.append(self.view.asks[self.view.action])
            if self.view.action in self.view.paged:
                assert self.view.paginator is not None
                pages = self.view.paginator.get_schema_operation_parameters(self.view)
                found += [shown_as(one) for one in pages]
            if self.method == "POST":
                found.append(KEY)
        return found

    def get_request_serializer(self) -> Any:
        """What the action reads."""
        if isinstance(self.view, Door):
            return (
                self.view.takes.get(self.view.action, Nothing)
                if self.method in {"POST", "PUT", "PATCH"}
                else None
            )
        return super().get_request_serializer()

    def get_examples(self) -> list[Any]:
        """A body that may be sent, for everything that reads one; a serializer's own come first."""
        view = self.view
        if not isinstance(view, Door) or self.method not in {"POST", "PUT", "PATCH"}:
            return []
        shape = view.takes.get(view.action, Nothing)
        own = getattr(shape, "_spectacular_annotation", {}).get("examples")
        if own or not shape().fields:
            return []
        return [OpenApiExample("Example", value=example_of(shape()), request_only=True)]

    def get_response_serializers(self) -> Any:
        """What the action answers, and how it refuses."""
        view = self.view
        if not isinstance(view, Door):
            return super().get_response_serializers()
        code, shape = view.gives.get(view.action, (200, view.serializer_class))
        answer = shape(many=self._many()) if shape is not None else None
        return {code: answer, **dict.fromkeys(REFUSED[self.method], Refusal)}

    def _many(self) -> bool:
        return isinstance(self.view, Listing) and self.view.action == "list"

    def _is_list_view(self, serializer: Any = None) -> bool:
        return self._many() if isinstance(self.view, Door) else super()._is_list_view(serializer)

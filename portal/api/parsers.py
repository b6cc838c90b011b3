"""Bodies in: JSON only, bounded, and never a 500 whatever is inside."""

from collections.abc import Mapping
from io import BytesIO
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import JSONParser
from rest_framework.renderers import BaseRenderer

from portal.api.errors import TooLarge

MOST_BYTES = 10 * 1024 * 1024


class BoundedJSON(JSONParser):
    """JSON up to 10 MiB and of a depth that Python can read."""

    def parse(
        self,
        stream: Any,
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The values.

        Raises:
            TooLarge: over the limit.
            ParseError: no JSON, or nested too deeply.
        """
        body = stream.read(MOST_BYTES + 1)
        if len(body) > MOST_BYTES:
            raise TooLarge(MOST_BYTES)
        try:
            return super().parse(BytesIO(body), media_type, parser_context)
        except RecursionError as deep:
            raise ParseError(_("The body is nested too deeply.")) from deep


class AlwaysJSON(BaseContentNegotiation):
    """Answers are JSON whatever Accept says: an error must be readable for every script."""

    def select_parser(self, request: Any, parsers: Any) -> Any:
        content_type = (request.content_type or "").partition(";")[0].strip().lower()
        return next((p for p in parsers if p.media_type == content_type), None)

    def select_renderer(
        self, request: Any, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        return renderers[0], renderers[0].media_type

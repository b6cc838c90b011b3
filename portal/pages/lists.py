"""Long lists page by page: a cursor is the last row seen, so that rows may come and go."""

from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import urlencode

from django.db.models import Model, QuerySet
from django.http import HttpRequest

Row = TypeVar("Row", bound=Model)
SIZE = 30


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """One page of rows; addresses are queries relative to the same path, empty at the ends."""

    rows: list[Row]
    older: str
    newest: str


def newest_first(request: HttpRequest, rows: QuerySet[Row], size: int = SIZE) -> Page[Row]:
    """The page after the row named by `?before=`, in the order of descending keys."""
    before = request.GET.get("before", "")
    chosen = rows.order_by("-pk")
    if before.isascii() and before.isdigit() and len(before) < 19:
        chosen = chosen.filter(pk__lt=int(before))
    found = list(chosen[: size + 1])
    kept = {name: value for name, value in request.GET.items() if name != "before" and value}
    older = "?" + urlencode({**kept, "before": found[size - 1].pk}) if len(found) > size else ""
    newest = "?" + urlencode(kept) if before else ""
    return Page(found[:size], older, newest)

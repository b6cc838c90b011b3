"""Long lists page by page: a place is the last row seen, so that rows may come and go."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from django.db.models import Model, QuerySet
from django.http import HttpRequest

from portal.keyset import Order, beyond, order_of, place_of, place_read, place_text, sorted_rows

Row = TypeVar("Row", bound=Model)
SIZE = 30
MOST_PLACE = 1024
MOST_TEXT = 80


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """One page of rows; addresses are queries relative to the same path, empty at the ends.

    `sort` is the order as the address says it, empty where nobody chose one; `kept` what else the
    address says.
    """

    rows: list[Row]
    older: str
    newest: str
    sort: str = ""
    kept: Mapping[str, str] = field(default_factory=dict)

    def turned(self, name: str) -> str:
        """The address of the list by that column; a second time the other way round."""
        said = f"-{name}" if self.sort == name else name
        return "?" + urlencode({**self.kept, "sort": said})


def newest_first(request: HttpRequest, rows: QuerySet[Row], size: int = SIZE) -> Page[Row]:
    """The page after the row named by `?before=`, in the order of descending keys."""
    before = request.GET.get("before", "")
    chosen = rows.order_by("-pk")
    if before.isascii() and before.isdigit() and len(before) < 19:
        chosen = chosen.filter(pk__lt=int(before))
    found = list(chosen[: size + 1])
    kept = _kept(request)
    older = "?" + urlencode({**kept, "before": found[size - 1].pk}) if len(found) > size else ""
    newest = "?" + urlencode(kept) if before else ""
    return Page(found[:size], older, newest, kept=kept)


def in_order(
    request: HttpRequest,
    rows: QuerySet[Row],
    orders: Mapping[str, str],
    size: int = SIZE,
    usual: str = "",
) -> Page[Row]:
    """The page in the order of `orders` that `?sort=` names, else the usual; else newest first."""
    order = order_of(request.GET.get("sort", ""), orders) or order_of(usual, orders)
    if order is None:
        return newest_first(request, rows, size)
    chosen = sorted_rows(rows, order)
    before = request.GET.get("before", "")
    try:
        chosen = beyond(chosen, order, place_read(before[:MOST_PLACE], rows, order))
    except ValueError:
        before = ""
    found = list(chosen[: size + 1])
    kept = _kept(request)
    older = _after(kept, found[size - 1], order) if len(found) > size else ""
    plain = {name: value for name, value in kept.items() if name != "sort"}
    return Page(found[:size], older, "?" + urlencode(kept) if before else "", order.said, plain)


def list_address(noun: str, request: HttpRequest, sorts: Mapping[str, str], **asked: Any) -> str:
    """The list of this page as a CSV file of REST: the same filters, search and order."""
    sort = request.GET.get("sort", "")
    name = sorts.get(sort.removeprefix("-"), "")
    words = {"format": "csv", **{k: str(v) for k, v in asked.items() if v not in (None, "")}}
    if name:
        words["ordering"] = f"-{name}" if sort.startswith("-") else name
    return f"/api/v1/{noun}?{urlencode(words)}"


def text_asked(request: HttpRequest) -> str:
    """The words that are searched for; what no row can have counts as none."""
    text = request.GET.get("q", "").strip()[:MOST_TEXT]
    return text if text.isprintable() else ""


def _kept(request: HttpRequest) -> dict[str, str]:
    said = ((name, str(value)) for name, value in request.GET.items())
    return {name: value for name, value in said if name != "before" and value}


def _after(kept: Mapping[str, str], row: Model, order: Order) -> str:
    return "?" + urlencode({**kept, "before": place_text(place_of(row, order))})

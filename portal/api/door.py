"""What every REST view shares: who asks, what they may say, one transaction for a keyed call."""

from collections.abc import Iterable, Mapping
from functools import cached_property, reduce
from operator import or_
from typing import Any, ClassVar

from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from rest_framework import status, viewsets
from rest_framework.exceptions import Throttled
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from pool.cycle.waiting import Look
from pool.errors import Forbidden, NotYours
from pool.events import Actor
from pool.models import User
from pool.selectors.memberships import Standing, standing
from portal.access.guards import may
from portal.access.roles import Verb
from portal.api.authentication import actor_of, caller
from portal.api.fields import Filters, Given, Nothing
from portal.api.idempotency import once
from portal.api.listfile import list_file
from portal.api.pagination import PLACED
from portal.api.shown import SHOWN, ShownIn
from portal.explained import AskedTooOften, looked_by
from portal.keyset import Order, order_of

UID = r"[a-z]{2,3}-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def with_text(rows: QuerySet[Any], columns: Iterable[str], text: str) -> QuerySet[Any]:
    """The rows that have the text in one of the columns: of a list over REST and of its page."""
    return rows.filter(reduce(or_, (Q(**{f"{one}__icontains": text}) for one in columns)))


class Door(viewsets.GenericViewSet[Any]):
    """Reads through selectors, writes through services, decides nothing itself.

    `takes` and `gives` name what each action reads and answers, `asks` the parameters of those
    that are no list, `paged` those of them that answer by pages; the OpenAPI file comes from them.
    """

    http_method_names = ["get", "post", "patch", "delete", "head"]
    lookup_field = "uid"
    lookup_value_regex = UID
    filters: ClassVar[type[Filters]] = Filters
    takes: ClassVar[dict[str, type[Given]]] = {}
    gives: ClassVar[dict[str, tuple[int, type[BaseSerializer[Any]] | None]]] = {}
    asks: ClassVar[dict[str, type[Filters]]] = {}
    paged: ClassVar[tuple[str, ...]] = ()
    told_once: ClassVar[tuple[str, ...]] = ()
    oldest_first: ClassVar[bool] = False

    def rows(self) -> QuerySet[Any]:
        """Everything of this noun that the caller may see."""
        raise LookupError(f"{type(self).__name__} lists nothing")

    @cached_property
    def standing(self) -> Standing:
        """The caller's roles; one query a call."""
        return standing(user=self.user)

    @property
    def user(self) -> User:
        """The caller; the permission class has let nobody else in."""
        return caller(self.request)

    @property
    def actor(self) -> Actor:
        """The caller, as events name them."""
        return actor_of(self.request)

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """As the framework does, but a POST with an Idempotency-Key is answered once."""
        self.args = args
        self.kwargs = kwargs
        self.headers = self.default_response_headers
        asked = self.initialize_request(request, *args, **kwargs)
        self.request = asked
        try:
            self.initial(asked, *args, **kwargs)
            response = once(asked, self._answer, told_once=self.told_once)
        except Exception as refused:
            response = self.handle_exception(refused)
        self.response = self.finalize_response(asked, response, *args, **kwargs)
        return self.response

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """After login and limits: an unknown parameter in the address is refused everywhere."""
        super().initial(request, *args, **kwargs)
        if self.action is not None:
            self.asked = self._asked(request)

    def one(self) -> Any:
        """The row of this address.

        Raises:
            NotYours: there is none, or it is not the caller's to know.
        """
        uid = self.kwargs[self.lookup_url_kwarg or self.lookup_field]
        found = self.rows().filter(**{self.lookup_field: uid}).first()
        if found is None:
            raise NotYours
        return found

    def allow(self, verb: Verb, place: Any = None) -> None:
        """Pass, or refuse what the caller's role at a place that they know of does not allow.

        Raises:
            Forbidden: it does not; without a place a role on the platform is needed.
        """
        if not may(self.standing, verb, place):
            raise Forbidden

    def looked(self) -> Look:
        """The pool for one trial of this caller, who may have so many planned in a minute.

        Raises:
            Throttled: that was too many.
        """
        try:
            return looked_by(who=self.user.uid)
        except AskedTooOften as often:
            raise Throttled(wait=often.wait_s) from often

    def taken(self) -> dict[str, Any]:
        """What the caller says in the body, checked by the serializer of this action."""
        given = self.takes.get(self.action, Nothing)(
            data=self.request.data, context=self.get_serializer_context()
        )
        given.is_valid(raise_exception=True)
        return dict(given.validated_data)

    def said(self, row: Model | Any) -> Response:
        """One row as this action answers it."""
        code, shape = self.gives.get(self.action, (status.HTTP_200_OK, self.serializer_class))
        if shape is None:
            return Response(status=code)
        return Response(shape(row, context=self.get_serializer_context()).data, status=code)

    def _answer(self) -> Response:
        """The action's answer; a refusal is an answer too, so that a key remembers it."""
        name = (self.request.method or "").lower()
        handler = getattr(self, name, self.http_method_not_allowed)
        try:
            response: Response = handler(self.request, *self.args, **self.kwargs)
        except Exception as refused:
            return self.handle_exception(refused)
        return response

    def _asked(self, request: Request) -> dict[str, Any]:
        given = request.query_params.dict()
        listed = isinstance(self, Listing) and self.action == "list"
        shape = self.filters if listed else self.asks.get(self.action, Filters)
        if isinstance(self, Listing) and listed:
            given = self.shown(given)
        if self.action in self.paged:
            given = {name: text for name, text in given.items() if name not in PLACED}
        asked = shape(data=given, context=self.get_serializer_context())
        asked.is_valid(raise_exception=True)
        return dict(asked.validated_data)


class Listing(Door):
    """A noun with a list.

    `sorts` names the columns that it may be sorted by (`created`, the order of its keys, is one
    everywhere), `searched` those that `search` looks into: a part of one is enough.
    """

    sortable: ClassVar[bool] = True
    sorts: ClassVar[Mapping[str, str]] = {}
    searched: ClassVar[tuple[str, ...]] = ()
    order: Order | None = None
    text = ""
    as_file = False

    def shown(self, given: dict[str, str]) -> dict[str, str]:
        """What is asked besides how the list is shown, which is kept.

        Raises:
            ValidationError: an order or a form that there is not, or a search where there is none.
        """
        if not self.sortable:
            return {name: text for name, text in given.items() if name not in PLACED}
        asked = ShownIn(data={name: given[name] for name in SHOWN if name in given}, of=type(self))
        asked.is_valid(raise_exception=True)
        said = asked.validated_data
        self.text, self.as_file = said.get("search", ""), said.get("format") == "csv"
        ways = {"created": "pk", **self.sorts}
        self.order = order_of(said["ordering"], ways) if said.get("ordering") else None
        return {name: text for name, text in given.items() if name not in (*PLACED, *SHOWN)}

    def found(self, rows: QuerySet[Any], text: str) -> QuerySet[Any]:
        """The rows that have the text in one of the columns that are searched."""
        return with_text(rows, self.searched, text)

    def completed(self, rows: list[Any]) -> list[Any]:
        """Some rows of the list with what they are told with besides their columns."""
        return rows

    def narrowed(self, rows: QuerySet[Any], **asked: Any) -> QuerySet[Any]:
        """The rows that the filters leave; by default each filter names a column."""
        return rows.filter(**{k: v for k, v in asked.items() if v not in (None, "", [])})

    def list(self, request: Request) -> Response | StreamingHttpResponse:
        """One page; with `format=csv` the whole list as a file."""
        found = self.narrowed(self.rows(), **self.asked)
        found = self.found(found, self.text) if self.text else found
        _code, shape = self.gives.get("list", (200, self.get_serializer_class()))
        assert shape is not None
        if self.as_file:
            return list_file(self, found, shape)
        page = self.completed(self.paginate_queryset(found) or [])
        rows = shape(page, many=True, context=self.get_serializer_context())
        return self.get_paginated_response(rows.data)


class Listed(Listing):
    """A noun with a list and single rows."""

    def retrieve(self, request: Request, uid: str) -> Response:
        """One row."""
        return self.said(self.one())

"""What nodes say and ask: decode, one service, encode. Nothing is decided here."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

import msgspec
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from nodeagent.protocol.codec import BadMessage, decode, encode
from nodeagent.protocol.inventory import Hello, Join
from nodeagent.protocol.report import Report
from nodeagent.protocol.samples import Heard, LogBatch, SampleBatch
from nodeagent.protocol.version import MAX_BODY_BYTES, SPOKEN
from pool.errors import NodeRefused, OldProtocol, PoolError
from pool.selectors.desired import desired_of
from pool.services.logs import logs_take
from pool.services.nodes import node_hello, node_join
from pool.services.observed import epoch_for, report_take
from pool.services.samples import samples_take
from portal.api.errors import plain, told
from portal.gate.auth import knocking, refuse_often

T = TypeVar("T")
View = Callable[[HttpRequest], HttpResponse]


class Spoken(msgspec.Struct):
    """As much of a hello as every protocol has: the number of the protocol it speaks."""

    protocol: int


class SpokenJoin(msgspec.Struct):
    """As much of a join as every protocol has."""

    hello: Spoken


def knock(method: str) -> Callable[[View], View]:
    """A door for one method; refusals and unreadable messages leave as envelopes."""

    def door(view: View) -> View:
        @csrf_exempt
        @wraps(view)
        def opened(request: HttpRequest) -> HttpResponse:
            if request.method != method:
                said = told("method_not_allowed", f"Only {method} is answered here.")
                return JsonResponse(said, status=405, headers={"Allow": method})
            try:
                return view(request)
            except PoolError as refused:
                return plain(refused)
            except BadMessage as bad:
                return JsonResponse(told("bad_message", str(bad)), status=400)

        return opened

    return door


@knock("POST")
def join(request: HttpRequest) -> HttpResponse:
    """A node that holds a join token asks in, and is told its credential once."""
    body = _body(request)
    _spoken(decode(body, SpokenJoin).hello)
    try:
        joined = node_join(join=decode(body, Join))
    except NodeRefused:
        refuse_often(request)
        raise
    return _said(joined, status=201)


@knock("POST")
def hello(request: HttpRequest) -> HttpResponse:
    """An agent has started, or its hardware has changed."""
    node = knocking(request)
    body = _body(request)
    _spoken(decode(body, Spoken))
    return _said(node_hello(node=node, hello=decode(body, Hello)))


@knock("GET")
def desired(request: HttpRequest) -> HttpResponse:
    """What the portal wants of the node; 204 when the agent has the newest. One query then."""
    node = knocking(request)
    epoch, since = _number(request, "epoch"), _number(request, "since")
    if epoch == getattr(node, "epoch", None) and since is not None and since >= node.generation:
        return HttpResponse(status=204)
    return _said(desired_of(node=node))


@knock("POST")
def report(request: HttpRequest) -> HttpResponse:
    """What the node found, and how its steps went."""
    node = knocking(request)
    return _said(report_take(node=node, report=decode(_body(request), Report)))


@knock("POST")
def samples(request: HttpRequest) -> HttpResponse:
    """Measured values; also the heartbeat. Its answer saves the node from asking for news."""
    node = knocking(request)
    samples_take(node=node, batch=decode(_body(request), SampleBatch))
    return _said(Heard(epoch=epoch_for(node), generation=node.generation))


@knock("POST")
def logs(request: HttpRequest) -> HttpResponse:
    """Log text of attempts on the node."""
    node = knocking(request)
    logs_take(node=node, batch=decode(_body(request), LogBatch))
    return HttpResponse(status=204)


def _body(request: HttpRequest) -> bytes:
    """The body, read by our own limit.

    Raises:
        BadMessage: it is larger than the protocol allows.
    """
    return request.read(MAX_BODY_BYTES + 1)


def _spoken(said: Spoken) -> None:
    if said.protocol not in SPOKEN:
        raise OldProtocol(offered=said.protocol, spoken=sorted(SPOKEN))


def _number(request: HttpRequest, name: str) -> int | None:
    text = request.GET.get(name, "")
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise BadMessage(f"{name} must be a whole number of at most 18 digits")
    return int(text)


def _said(message: msgspec.Struct, status: int = 200) -> HttpResponse:
    return HttpResponse(encode(message), content_type="application/json", status=status)

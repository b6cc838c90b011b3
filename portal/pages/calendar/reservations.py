"""Reservations: what is kept for one's projects, and letting it go."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse

from pool.events import Actor
from pool.lifecycle.reservations import ReservationState
from pool.models.reservations import Reservation
from pool.selectors.calendar.reservations import reservation_list
from pool.services.leases import lease_give_back
from pool.services.requests import request_withdraw
from portal.access.guards import found, guard, may
from portal.access.roles import Verb
from portal.pages.htmx import HtmxRequest, go, page, refusal_as_toast
from portal.pages.lists import newest_first

OPEN = (ReservationState.ASKED, ReservationState.CONFIRMED, ReservationState.ACTIVE)


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """Those of the reader's projects, newest first."""
    rows = reservation_list(standing=request.standing)
    context = {"page": newest_first(request, rows), "standing": request.standing}
    return render(request, "pages/reservations/index.html", context)


@page("GET")
def detail(request: HtmxRequest, uid: str) -> HttpResponse:
    """One reservation: which cards, for whom, what runs on them."""
    row = found(reservation_list(standing=request.standing), uid)
    context = {
        "one": row,
        "kept": [one.card for one in row.kept.all() if one.live],
        "workloads": row.lease.workloads.order_by("-pk")[:10] if row.lease else [],
        "may_cancel": row.state in OPEN and may(request.standing, _verb(request, row), row.project),
    }
    return render(request, "pages/reservations/detail.html", context)


@page("POST")
@refusal_as_toast
def cancel(request: HtmxRequest, uid: str) -> HttpResponse:
    """Take it back: the request, or the lease with its cards."""
    row = found(reservation_list(standing=request.standing), uid)
    guard(request.standing, _verb(request, row), row.project)
    actor = Actor.of(request.user)
    if row.lease is not None:
        lease_give_back(lease=row.lease, actor=actor)
    else:
        request_withdraw(request=row.request, user=request.user, actor=actor)
    return go(request, reverse("reservation", args=[uid]))


def _verb(request: HtmxRequest, row: Reservation) -> Verb:
    mine = row.request.requester_id == request.user.pk
    return Verb.REQUEST_MAKE if mine else Verb.LEASE_GIVE_BACK

"""The first page: what needs one's word, one's work, what could start now, limits, spend."""

from datetime import timedelta
from typing import Any

from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import render

from pool.clock import now
from pool.lifecycle.requests import RequestState
from pool.lifecycle.roles import QuotaUnit
from pool.lifecycle.workloads import WorkloadState
from pool.models.users import User
from pool.models.workloads import Workload
from pool.selectors.calendar.windows import windows_ahead
from pool.selectors.capacity import fits_now
from pool.selectors.leases import active_leases
from pool.selectors.memberships import Standing
from pool.selectors.nodes import node_map
from pool.selectors.notebooks.standing import known_of, left_s, notebook_list
from pool.selectors.quotas import quota_list
from pool.selectors.requests import approval_list, request_list
from pool.selectors.series.arrays import told
from pool.selectors.workloads import workload_list, workload_tops
from portal.access.showback import money_hidden
from portal.pages.gauges import Gauge, gauges
from portal.pages.htmx import HtmxRequest, page
from portal.pages.usage import months_shown

RECENT = timedelta(hours=24)
ENDS_SOON, LONG_LEASE_S = timedelta(days=3), 7 * 86400
ENDS_NOW = timedelta(minutes=15)
SHOWN = 8
LIMITS = 6


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """The whole page; its live part is `_live.html`."""
    context = live_context(user=request.user, standing=request.standing)
    return render(request, "pages/home/index.html", context)


def live_context(*, user: User, standing: Standing) -> dict[str, Any]:
    """What changes while one looks; a constant number of queries."""
    mine = workload_tops(workload_list(standing=standing).filter(owner=user))
    fresh = Q(ended_at=None) | Q(ended_at__gte=now() - RECENT)
    return {
        "standing": standing,
        "maintenance": windows_ahead(at=now()),
        "needs": _needs_you(user=user, standing=standing),
        "workloads": told(mine.filter(fresh)[:SHOWN]),
        "ever": mine.exists(),
        "fits": fits_now(nodes=node_map()),
        "gauges": _gauges(standing),
        "months": months_shown(standing, money_hidden(standing)),
    }


def _needs_you(*, user: User, standing: Standing) -> dict[str, Any]:
    """Everything that waits for this person, each with a page where it can be answered."""
    requests = request_list(standing=standing)
    mine = workload_tops(workload_list(standing=standing).filter(owner=user))
    own = active_leases(standing=standing).filter(request__requester=user)
    soon = own.filter(valid__endswith__lte=now() + ENDS_NOW) | own.filter(
        valid__endswith__lte=now() + ENDS_SOON, request__duration_seconds__gte=LONG_LEASE_S
    )
    found: dict[str, Any] = {
        "approvals": [],
        "returned": list(requests.filter(requester=user, state=RequestState.RETURNED)[:5]),
        "failed": list(mine.filter(state=WorkloadState.FAILED, ended_at__gte=now() - RECENT)[:5]),
        "leases": list(soon[:5]),
        "idle": _reclaimed_soon(user=user, standing=standing),
    }
    if standing.decides:
        found["approvals"] = list(approval_list(standing=standing).exclude(requester=user)[:5])
    found["any"] = any(found.values())
    return found


def _reclaimed_soon(*, user: User, standing: Standing) -> list[tuple[Workload, float]]:
    """One's notebooks that were warned of, each with the seconds left."""
    rows = notebook_list(standing=standing).filter(
        owner=user, state=WorkloadState.RUNNING, notebook__warned__isnull=False
    )
    told = ((row, known_of(row)) for row in rows[:5])
    left = ((row, left_s(known)) for row, known in told if known is not None)
    return [(row, seconds) for row, seconds in left if seconds is not None]


def _gauges(standing: Standing) -> list[Gauge]:
    """Project inside organization, one a project and kind of card, most held first."""
    rows = quota_list(standing=standing).filter(unit=QuotaUnit.CARDS_MICRO, user=None)
    return gauges(rows)[:LIMITS]

"""The page of an array: its pieces as a compact grid, and as a list by state; what it waits for."""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _

from billing.selectors.usage import array_cost
from pool.errors import Invalid
from pool.events import Actor
from pool.lifecycle.workloads import ENDED, HOLDING, WAITING, WorkloadState
from pool.models.dependencies import Dependency
from pool.models.workloads import Workload
from pool.rules.arrays import tally
from pool.selectors.memberships import Standing
from pool.selectors.series.arrays import pieces_of, states_of, told
from pool.selectors.workloads import workload_list
from pool.services.series.arrays import array_throttle
from pool.services.workloads import workload_hold, workload_release, workload_retry
from portal.access.guards import guard, may
from portal.access.roles import Verb
from portal.access.showback import cost_shown, money_hidden
from portal.pages.htmx import HtmxRequest, go, page, refusal_as_toast

MOST_CELLS = 1000
"""A grid has at most so many cells; of a larger array a cell stands for several pieces."""

COLUMNS, STEP = 50, 10
SIZE = 50
ORDER = ("failed", "running", "waiting", "gone", "done")
"""Of several pieces in one cell the first of these that one of them is."""

FAILED = (WorkloadState.FAILED, WorkloadState.EXPIRED, WorkloadState.DEPENDENCY_FAILED)
KINDS = {"failed": FAILED, "running": HOLDING, "waiting": WAITING, "ended": ENDED}
GIVEN_UP = {WorkloadState.FAILED}
"""What may be tried again."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One square of the grid: where it lies in the picture, and which pieces it stands for."""

    left: int
    top: int
    kind: str
    first: int
    last: int
    count: int


def array_page(request: HttpRequest, array: Workload) -> HttpResponse:
    """The whole page of an array; its live part is `_array.html`."""
    standing: Standing = request.standing  # type: ignore[attr-defined]
    context = array_context(array, standing=standing)
    context |= pieces_context(request, array) | {
        "piece_kinds": _piece_kinds(),
        "standing": standing,
        "command": shlex.join(array.command),
        "ended": array.state in ENDED,
    }
    return render(request, "pages/series/array.html", context)


def array_context(array: Workload, *, standing: Standing) -> dict[str, Any]:
    """What changes while one looks at an array; a constant number of queries."""
    told([array])
    failed = GIVEN_UP & states_of(arrays=[array.pk]).get(array.pk, {}).keys()
    mine = may(standing, Verb.WORK_STOP, array)
    open_state = array.state not in ENDED
    grid = cells(pieces_of(array=array).values_list("array_index", "state"))
    return {
        "workload": array,
        "cells": grid,
        "grid_height": STEP * max(1, -(-len(grid) // COLUMNS)),
        "cost": cost_shown(array_cost(array=array), array.project, money_hidden(standing)),
        "may_stop": mine and open_state and not array.stop_reason,
        "may_throttle": mine and open_state and not array.stop_reason,
        **series_context(array, standing=standing),
        "may_retry": mine and bool(failed) and not array.stop_reason,
    }


def series_context(workload: Workload, *, standing: Standing) -> dict[str, Any]:
    """What some work waits for, what waits for it, and whether it may be held or released."""
    root = workload.parent_id or workload.pk
    ahead = Dependency.objects.filter(workload=root).select_related("on__project")
    behind = Dependency.objects.filter(on=workload.pk).select_related("workload__project")
    links = list(ahead), list(behind[:SIZE])
    ids = {one.on_id for one in links[0]} | {one.workload_id for one in links[1]}
    seen = workload_list(standing=standing).filter(pk__in=ids) if ids else Workload.objects.none()
    known = set(seen.values_list("pk", flat=True)) if ids else set()
    mine = may(standing, Verb.WORK_STOP, workload)
    leads = may(standing, Verb.WORK_STOP_ANY, workload)
    held = workload.state == WorkloadState.ON_HOLD
    holdable = workload.state in (WorkloadState.QUEUED, WorkloadState.ACTIVE)
    return {
        "ahead": [(one, one.on_id in known) for one in links[0]],
        "behind": [one for one in links[1] if one.workload_id in known],
        "may_hold": mine and holdable and not workload.stop_reason,
        "may_release": mine and held and (leads or not workload.hold_strict),
        "may_retry": mine and workload.state == WorkloadState.FAILED,
    }


def cells(pieces: Iterable[tuple[int | None, str]]) -> list[Cell]:
    """The grid of the pieces in the order of their indices."""
    found = [(index or 0, _kind(state)) for index, state in pieces]
    each = max(1, -(-len(found) // MOST_CELLS))
    made = []
    for number, start in enumerate(range(0, len(found), each)):
        part = found[start : start + each]
        kinds = {kind for _, kind in part}
        kind = next(one for one in ORDER if one in kinds)
        y, x = divmod(number, COLUMNS)
        made.append(Cell(x * STEP, y * STEP, kind, part[0][0], part[-1][0], len(part)))
    return made


def _kind(state: str) -> str:
    found = tally({state: 1})
    return next(kind for kind in ORDER if getattr(found, kind))


def pieces_context(request: HttpRequest, array: Workload) -> dict[str, Any]:
    """One page of the list of pieces, of all or of those in one group of states."""
    kind = request.GET.get("pieces", "")
    after = request.GET.get("after", "")
    rows = pieces_of(array=array).select_related("parent")
    if kind in KINDS:
        rows = rows.filter(state__in=sorted(KINDS[kind]))
    if after.isascii() and after.isdigit() and len(after) < 9:
        rows = rows.filter(array_index__gt=int(after))
    found = list(rows.defer("command", "env", "files")[: SIZE + 1])
    more = found[SIZE - 1].array_index if len(found) > SIZE else None
    return {
        "pieces": found[:SIZE],
        "kind": kind,
        "after": after if after.isdigit() else "",
        "more": more,
        "array": array,
        "ended": array.state in ENDED,
    }


def _piece_kinds() -> list[tuple[str, str]]:
    return [
        ("", _("All")),
        ("waiting", _("Waiting")),
        ("running", _("Running")),
        ("failed", _("Failed")),
        ("ended", _("Ended")),
    ]


@page("GET")
def pieces(request: HtmxRequest, uid: str) -> HttpResponse:
    """The list of pieces alone, for its filter and its next page."""
    array = _array(request, uid)
    return render(request, "pages/series/_pieces.html", pieces_context(request, array))


@page("POST")
@refusal_as_toast
def throttle(request: HtmxRequest, uid: str) -> HttpResponse:
    """Let more or fewer pieces hold something at a time; an empty field lets all."""
    array = _mine(request, uid)
    said = request.POST.get("throttle", "").strip()
    whole = said.isascii() and said.isdigit() and 0 < len(said) < 6 and int(said) > 0
    if said and not whole:
        raise Invalid(throttle=_("A number from 1 to 10000, or nothing."))
    array_throttle(array=array, throttle=int(said) if said else None, actor=Actor.of(request.user))
    return go(request, reverse("workload", args=[array.uid]))


@page("POST")
@refusal_as_toast
def retry(request: HtmxRequest, uid: str) -> HttpResponse:
    """Queue failed work, or the failed pieces of an array, again."""
    work = _mine(request, uid)
    workload_retry(workload=work, actor=Actor.of(request.user))
    return go(request, reverse("workload", args=[work.uid]))


@page("POST")
@refusal_as_toast
def hold(request: HtmxRequest, uid: str, verb: str) -> HttpResponse:
    """Keep it from starting, with a reason, or let it start again."""
    work = _mine(request, uid)
    who = Actor.of(request.user)
    if verb == "hold":
        reason = request.POST.get("reason", "").replace("\0", "")
        strict = work.owner_id != request.user.pk
        workload_hold(workload=work, actor=who, reason=reason, strict=strict)
    else:
        leads = may(request.standing, Verb.WORK_STOP_ANY, work)
        workload_release(workload=work, actor=who, strict=leads)
    return go(request, reverse("workload", args=[work.uid]))


def _array(request: HtmxRequest, uid: str) -> Workload:
    rows = workload_list(standing=request.standing).filter(array_size__isnull=False)
    return get_object_or_404(rows, uid=uid)


def _mine(request: HtmxRequest, uid: str) -> Workload:
    work = get_object_or_404(workload_list(standing=request.standing), uid=uid)
    guard(request.standing, Verb.WORK_STOP, work)
    return work

"""The roll-out board: per partition the steps in their order, what each did, and its way back."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pool.clock import now
from pool.errors import Invalid
from pool.events import Actor
from pool.models import Partition
from pool.rules.planning.rollout import BASELINE_DAYS, SWITCHED, Step
from pool.selectors.memberships import Standing
from pool.selectors.partitions import partition_list
from pool.selectors.planning.rollout import Board, StepNow, board_of
from pool.services.planning.rollouts import rollout_switch
from portal.access.guards import found, may
from portal.access.roles import Verb
from portal.pages.htmx import HtmxRequest, go, page, refusal_as_toast, refuse_unless
from portal.pages.planning.figures import sees_capacity

STEPS: Mapping[Step, tuple[str | Promise, str | Promise]] = {
    Step.BASELINE: (
        gettext_lazy("Measure a week"),
        gettext_lazy("Seven days of readings before anything changes. It comes by itself."),
    ),
    Step.LABELS: (
        gettext_lazy("Say what work needs"),
        gettext_lazy("Templates name memory and compute; somebody has looked that they are right."),
    ),
    Step.SHARED: (
        gettext_lazy("Share cards for development and tests"),
        gettext_lazy("Work of one trust group takes turns on a card."),
    ),
    Step.SLICES: (
        gettext_lazy("Cut cards for inference"),
        gettext_lazy("Small work gets slices with walls between them instead of whole cards."),
    ),
    Step.BATCH: (
        gettext_lazy("Fill idle cards with batch work"),
        gettext_lazy("What is kept for a reserved lease and idle is lent until it is wanted."),
    ),
    Step.MIXING: (
        gettext_lazy("Mix small training with the rest"),
        gettext_lazy("Work is placed so that what stays free is of use to those who come next."),
    ),
    Step.PREEMPTION: (
        gettext_lazy("Let urgent work push away what gives way"),
        gettext_lazy("The last step: people lose time when it is used."),
    ),
}
"""What each step is called, and what it does."""


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """One partition's board; `?partition=` chooses another."""
    refuse_unless(sees_capacity(request.standing))
    rows = list(readable(request.standing))
    asked = request.GET.get("partition", "")
    chosen = next((one for one in rows if one.uid == asked), rows[0] if rows else None)
    board = board_of(chosen, at=now()) if chosen is not None else None
    context = {
        "partitions": rows,
        "board": board,
        "lines": _lines(board) if board is not None else [],
        "least": BASELINE_DAYS,
        "switches": may(request.standing, Verb.PARTITION_MANAGE),
    }
    return render(request, "pages/planning/rollout.html", context)


@page("POST")
@refusal_as_toast
def switch(request: HtmxRequest, uid: str) -> HttpResponse:
    """Switch one step on, or back."""
    refuse_unless(may(request.standing, Verb.PARTITION_MANAGE))
    row = found(partition_list(standing=request.standing), uid)
    step = request.POST.get("step", "")
    if step not in SWITCHED:
        raise Invalid(step=_("There is no such switch."))
    on = request.POST.get("on") == "1"
    rollout_switch(
        partition=row,
        step=step,
        on=on,
        reason=request.POST.get("reason", ""),
        skip=request.POST.get("skip") == "1",
        actor=Actor.of(request.user),
        user=request.user,
    )
    messages.success(request, _("It is on.") if on else _("It is taken back."))
    return go(request, f"{reverse('rollout')}?partition={row.uid}")


def readable(standing: Standing) -> Any:
    """The partitions whose board somebody may read: those that they may use."""
    mine = partition_list(standing=standing)
    return Partition.objects.filter(pk__in=mine.values("pk")).order_by("rank", "slug")


def _lines(board: Board) -> list[dict[str, Any]]:
    return [
        {
            "now": one,
            "number": number,
            "title": STEPS[one.step][0],
            "help": STEPS[one.step][1],
            "missing": [STEPS[step][0] for step in one.missing],
            "switch": one.step in SWITCHED,
            "rows": _figures(one),
        }
        for number, one in enumerate(board.steps, start=1)
    ]


def _figures(one: StepNow) -> list[tuple[str, Any, Any, str]]:
    """Words, before, after and the shape of the number; none for a step that was not measured."""
    if one.before is None or one.after is None:
        return []
    names = (
        ("use_milli", _("Use"), "percent"),
        ("mean_cards", _("Cards held"), "number"),
        ("started", _("Started"), "count"),
        ("p50_wait_s", _("Half wait up to"), "duration"),
        ("p95_wait_s", _("95 % wait up to"), "duration"),
    )
    return [
        (words, getattr(one.before, name), getattr(one.after, name), shape)
        for name, words, shape in names
    ]

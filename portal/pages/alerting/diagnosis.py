"""Hints on workload and card pages, and the Diagnose walk: curves, processes, events, log."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from pool.models import Card
from pool.rules.alerting.diagnosis import LABELS, UNITS, Finding, diagnose
from pool.selectors.alerting.figures import Looked, figures_of_card, figures_of_work
from pool.selectors.workloads import workload_list
from portal.access.guards import found, may
from portal.access.roles import Verb
from portal.pages.htmx import HtmxRequest, page, refuse_unless

CURVES = (
    *("util", "sm", "occupancy", "memory", "bandwidth", "util_low", "util_high", "swings"),
    *("dips", "jitter"),
)
PROCESSES = ("cpu", "rank_high", "rank_low", "neighbours", "peak_mib", "asked_mib")
EVENTS = ("preempted", "resets", "struck", "temperature", "throttle", "power")
LOG = ("quiet", "cuda_missing", "oom")


@page("GET")
def hints(request: HtmxRequest, uid: str) -> HttpResponse:
    """A few hints beside a workload; the walk is one click away."""
    work = found(workload_list(standing=request.standing), uid)
    looked = figures_of_work(workload=work)
    context = {"workload": work, "looked": looked, "findings": _findings(looked)}
    return render(request, "pages/diagnosis/_hints.html", context)


@page("GET")
def walk(request: HtmxRequest, uid: str) -> HttpResponse:
    """The whole walk for one workload."""
    work = found(workload_list(standing=request.standing), uid)
    looked = figures_of_work(workload=work)
    context = {
        "workload": work,
        "looked": looked,
        "findings": _findings(looked),
        "steps": _steps(looked) if looked else [],
        "step_log": looked.lines if looked else [],
        "step_events": looked.events[:15] if looked else [],
        "neighbours": looked.neighbours if looked else [],
    }
    return render(request, "pages/diagnosis/walk.html", context)


@page("GET")
def card_hints(request: HtmxRequest, uid: str) -> HttpResponse:
    """Hints about a whole card, for those who run the pool."""
    refuse_unless(may(request.standing, Verb.NODE_SEE))
    card = found(Card.objects.all(), uid)
    looked = figures_of_card(card=card)
    context = {"looked": looked, "findings": _findings(looked)}
    return render(request, "pages/diagnosis/_hints.html", context)


def figure_words(name: str, value: float) -> str:
    """A figure with its unit."""
    unit = UNITS.get(name, "")
    shown = f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.1f}"
    return f"{shown} {unit}".strip()


def _findings(looked: Looked | None) -> list[dict[str, Any]]:
    return [_finding(one) for one in diagnose(looked.figures)] if looked is not None else []


def _finding(one: Finding) -> dict[str, Any]:
    return {
        "key": one.hint.key,
        "title": _(one.hint.title),
        "why": _(one.hint.why),
        "do": _(one.hint.do),
        "numbers": [
            (_(LABELS[name]), figure_words(name, value), against)
            for name, value, against in one.numbers
        ],
    }


def _steps(looked: Looked) -> list[dict[str, Any]]:
    """The steps in their order, each with its figures."""
    return [
        _step("curves", _("1. Curves"), CURVES, looked),
        _step("processes", _("2. Processes and neighbours"), PROCESSES, looked),
        _step("events", _("3. What scheduler and card told"), EVENTS, looked),
        _step("log", _("4. Log"), LOG, looked),
    ]


def _step(key: str, title: str, names: tuple[str, ...], looked: Looked) -> dict[str, Any]:
    rows = []
    for name in names:
        value = looked.figures.get(name)
        rows.append((_(LABELS[name]), None if value is None else figure_words(name, value)))
    return {"key": key, "title": title, "rows": rows}

"""Maintenance: what is out of service when, and planning it with a look at who is hit."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pool.clock import now
from pool.errors import PoolError
from pool.events import Actor
from pool.lifecycle.windows import WindowState, WithRunning
from pool.models.cards import Card
from pool.models.nodes import Node
from pool.models.partitions import Partition
from pool.models.windows import Window
from pool.rules.windows import MOST_NOTICE_S, MOST_REASON
from pool.selectors.calendar.windows import Impact, impact_of, reach_of, window_list, window_reach
from pool.selectors.partitions import partition_list
from pool.services.calendar.windows import window_cancel, window_change, window_create
from portal.access.guards import found, may
from portal.access.roles import Verb
from portal.pages.calendar.durations import DurationField
from portal.pages.calendar.moments import MomentField, in_zone
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page, refusal_as_toast, refuse_unless
from portal.pages.lists import newest_first

CHOICES = [
    (WithRunning.WAIT.value, gettext_lazy("Wait: it ends by itself")),
    (WithRunning.PREEMPT.value, gettext_lazy("Send it back to the queue, after a notice")),
    (WithRunning.STOP.value, gettext_lazy("Stop it at the start; its owner can resume it")),
]
PLACES = ("nodes", "cards", "partitions")
OPEN = (WindowState.PLANNED, WindowState.ACTIVE)


class CardChoice(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    """Cards by node and place."""

    def label_from_instance(self, obj: Any) -> str:
        return f"{obj.node.name} · {obj.index} · {obj.label}"


def _many(label: Any, rows: Any, **given: Any) -> forms.Field:
    shape = forms.SelectMultiple(attrs={"size": 5, "class": "form-select"})
    return forms.ModelMultipleChoiceField(
        label=label, queryset=rows, to_field_name="uid", required=False, widget=shape, **given
    )


class WindowForm(forms.Form):
    """What one says of maintenance."""

    reason = forms.CharField(
        label=gettext_lazy("Why"),
        max_length=MOST_REASON,
        help_text=gettext_lazy("Shown to everybody whose work it touches."),
    )
    starts_at = MomentField(label=gettext_lazy("From"))
    ends_at = MomentField(label=gettext_lazy("Until"))
    nodes = _many(gettext_lazy("Nodes"), Node.objects.none())
    partitions = _many(gettext_lazy("Partitions"), Partition.objects.none())
    cards = CardChoice(
        label=gettext_lazy("Single cards"),
        queryset=Card.objects.none(),
        to_field_name="uid",
        required=False,
        widget=forms.SelectMultiple(attrs={"size": 5, "class": "form-select"}),
    )
    with_running = forms.ChoiceField(
        label=gettext_lazy("Work that still runs there then"), choices=CHOICES, initial="wait"
    )
    notice_seconds = DurationField(
        label=gettext_lazy("Notice"),
        least=0,
        most=MOST_NOTICE_S,
        initial=300,
        help_text=gettext_lazy("How long before the start work is told to save and leave."),
    )

    def __init__(self, *args: Any, request: HtmxRequest, **given: Any) -> None:
        super().__init__(*args, **given)
        in_zone(self, request.user)
        rows = {
            "nodes": Node.objects.exclude(state="retired"),
            "partitions": Partition.objects.all(),
            "cards": Card.objects.exclude(state="retired").select_related("node"),
        }
        for name, chosen in rows.items():
            self.fields[name].queryset = chosen  # type: ignore[attr-defined]

    @property
    def words(self) -> dict[str, Any]:
        """As the service takes them."""
        data = dict(self.cleaned_data)
        return data | {name: list(data[name]) for name in PLACES}


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """What is under way and to come, then what was."""
    ahead = sorted(window_list().filter(state__in=OPEN), key=lambda one: (one.span.lower, one.pk))
    context = {
        "ahead": ahead,
        "page": newest_first(request, window_list().exclude(state__in=OPEN)),
        "manages": _manages(request),
        "visible": _visible(request),
    }
    return render(request, "pages/windows/index.html", context)


@page("GET", "POST")
def new(request: HtmxRequest) -> HttpResponse:
    """Plan maintenance; a POST plans it."""
    refuse_unless(_manages(request))
    bound = request.method == "POST"
    form = WindowForm(request.POST or None, initial=_start(request), request=request)
    if bound and form.is_valid():
        try:
            actor = Actor.of(request.user)
            row = window_create(actor=actor, user=request.user, **form.words)
        except PoolError as refused:
            take_refusal(form, refused)
        else:
            messages.success(request, _("The maintenance is planned."))
            return go(request, reverse("window", args=[row.uid]))
    context = {"form": form, "impact": _judged(form)}
    return render(request, "pages/windows/new.html", context, status=422 if bound else 200)


@page("POST")
def judged(request: HtmxRequest) -> HttpResponse:
    """Only who would be hit, while one fills in the form; nothing is written."""
    refuse_unless(_manages(request))
    form = WindowForm(request.POST, request=request)
    return render(request, "pages/windows/_impact.html", {"impact": _judged(form), "form": form})


@page("GET", "POST")
def detail(request: HtmxRequest, uid: str) -> HttpResponse:
    """One window; those who manage it see who is hit and change it here."""
    row = found(window_list(), uid)
    manages = _manages(request)
    form = None
    status = 200
    if manages and row.state in OPEN:
        form = WindowForm(request.POST or None, initial=_words(row), request=request)
        if request.method == "POST":
            status = _change(row, form, request)
            if status == 200:
                return go(request, reverse("window", args=[uid]))
    elif request.method == "POST":
        refuse_unless(manages)
        messages.warning(request, str(PoolError()))
        return go(request, reverse("window", args=[uid]))
    context = {
        "one": row,
        "form": form,
        "manages": manages,
        "visible": _visible(request),
        "impact": _impact(row) if manages and row.state in OPEN else None,
    }
    return render(request, "pages/windows/detail.html", context, status=status)


@page("POST")
@refusal_as_toast
def cancel(request: HtmxRequest, uid: str) -> HttpResponse:
    """Call it off, or end it now."""
    row = found(window_list(), uid)
    refuse_unless(_manages(request))
    reason = request.POST.get("reason", "").replace("\0", "").strip()[:200]
    window_cancel(window=row, actor=Actor.of(request.user), reason=reason)
    return go(request, reverse("window", args=[uid]))


def _change(row: Window, form: WindowForm, request: HtmxRequest) -> int:
    if not form.is_valid():
        return 422
    try:
        window_change(window=row, actor=Actor.of(request.user), **form.words)
    except PoolError as refused:
        take_refusal(form, refused)
        return 422
    return 200


def _manages(request: HtmxRequest) -> bool:
    return may(request.standing, Verb.WINDOW_MANAGE)


def _visible(request: HtmxRequest) -> set[int]:
    """Partitions that the reader may know of."""
    return set(partition_list(standing=request.standing).values_list("pk", flat=True))


def _impact(row: Window) -> Impact:
    return impact_of(
        reach=window_reach(row), starts_at=row.span.lower, ends_at=row.span.upper, now=now()
    )


def _judged(form: WindowForm) -> Impact | None:
    """Who would be hit, as soon as time and place are there."""
    if not form.is_bound:
        return None
    form.is_valid()
    data = form.cleaned_data
    start, end = data.get("starts_at"), data.get("ends_at")
    named = {name: data.get(name) or [] for name in PLACES}
    if not start or not end or end <= start or not any(named.values()):
        return None
    return impact_of(reach=reach_of(**named), starts_at=start, ends_at=end, now=now())


def _start(request: HtmxRequest) -> dict[str, Any]:
    """Prefilled from where one came: a node, or a partition."""
    at = now().replace(second=0, microsecond=0) + timedelta(hours=1)
    return {
        "starts_at": at,
        "ends_at": at + timedelta(hours=2),
        "nodes": request.GET.getlist("node"),
        "partitions": request.GET.getlist("partition"),
        "cards": request.GET.getlist("card"),
        "with_running": "wait",
        "notice_seconds": 300,
    }


def _words(row: Window) -> dict[str, Any]:
    return {
        "reason": row.reason,
        "starts_at": row.span.lower,
        "ends_at": row.span.upper,
        **{name: [one.uid for one in getattr(row, name).all()] for name in PLACES},
        "with_running": row.with_running,
        "notice_seconds": row.notice_seconds,
    }

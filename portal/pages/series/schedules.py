"""Schedules: their list, one of them with its next times and history, a form for a new one."""

import shlex
from datetime import datetime
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pool.clock import now
from pool.cron import LONGEST, cron_problem, times_after
from pool.errors import PoolError
from pool.events import Actor
from pool.models.schedules import Schedule
from pool.rules.schedules import Missed, Overlap
from pool.selectors.series.schedules import (
    PREVIEWED,
    next_times,
    schedule_list,
    schedule_runs,
)
from pool.services.refusals import said
from pool.services.series.firing import schedule_run_now
from pool.services.series.schedules import (
    LEASE_SECONDS,
    schedule_create,
    schedule_end,
    schedule_pause,
    schedule_resume,
)
from portal.access.guards import guard, may
from portal.access.roles import Verb
from portal.access.weights import weights_for
from portal.pages.catalogue.fields import given_named
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, fragment, go, page, refusal_as_toast
from portal.pages.jobs import RENAMED, JobForm, job_answer, job_start
from portal.pages.lists import newest_first

OVERLAPS = [
    (Overlap.SKIP.value, gettext_lazy("skip the new run")),
    (Overlap.QUEUE.value, gettext_lazy("let the new run wait for it")),
    (Overlap.REPLACE.value, gettext_lazy("stop it, and start the new run")),
]
MISSES = [
    (Missed.SKIP.value, gettext_lazy("let it pass")),
    (Missed.ONCE.value, gettext_lazy("run once, as soon as possible")),
]
SHOWN = 50


class ScheduleForm(JobForm):
    """What a job form asks, and when it runs."""

    cron = forms.CharField(
        label=gettext_lazy("When"),
        max_length=LONGEST,
        widget=forms.TextInput(attrs={"class": "gp-mono", "spellcheck": "false"}),
        help_text=gettext_lazy(
            "Minute, hour, day, month, weekday, in the organization's zone: 30 2 * * 1-5 is "
            "half past two on workdays."
        ),
    )
    overlap = forms.ChoiceField(
        label=gettext_lazy("When the run before still goes on"), choices=OVERLAPS
    )
    missed = forms.ChoiceField(
        label=gettext_lazy("When a time passes while the pool is away"), choices=MISSES
    )

    def clean_cron(self) -> str:
        """The line, if it has a next time."""
        line = str(self.cleaned_data["cron"])
        if wrong := cron_problem(line):
            raise forms.ValidationError(said(wrong))
        return line


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """All that the person may read, newest first."""
    state = request.GET.get("state", "")
    rows = schedule_list(standing=request.standing)
    if state in ("active", "paused"):
        rows = rows.filter(state=state)
    states = [("", _("All")), ("active", _("Active")), ("paused", _("Paused"))]
    context = {
        "page": newest_first(request, rows),
        "standing": request.standing,
        "state": state,
        "states": states,
    }
    return fragment(request, "pages/schedules/index.html", "pages/schedules/_rows.html", context)


@page("GET", "POST")
def new(request: HtmxRequest) -> HttpResponse:
    """The form; what was typed is never lost."""
    bound = request.method == "POST"
    start = {"cron": "0 2 * * *"} | job_start(request)
    form = ScheduleForm(request.POST or None, initial=start, standing=request.standing)
    if bound and form.is_valid():
        made = _submit(request, form)
        if made is not None:
            return go(request, reverse("schedule", args=[made.uid]))
    context = {
        "form": form,
        "standing": request.standing,
        "answer": job_answer(form),
        "job": True,
        **_times(form),
    }
    return render(request, "pages/schedules/new.html", context, status=422 if bound else 200)


@page("POST")
def times(request: HtmxRequest) -> HttpResponse:
    """Only the next five times of the line that is typed."""
    form = ScheduleForm(request.POST, standing=request.standing)
    form.is_valid()
    return render(request, "pages/schedules/_times.html", {"form": form, **_times(form)})


@page("GET")
def detail(request: HtmxRequest, uid: str) -> HttpResponse:
    """One schedule: when, what, and what became of its times."""
    row = get_object_or_404(schedule_list(standing=request.standing), uid=uid)
    context = {
        "schedule": row,
        "times": _local(next_times(schedule=row), row.project.organization.zone),
        "command": shlex.join(row.command),
        "zone": row.project.organization.zone,
        "history": schedule_runs(schedule=row)[:SHOWN],
        "overlap": dict(OVERLAPS)[row.overlap],
        "missed": dict(MISSES)[row.missed],
        **given_named(row),
        "may_steer": may(request.standing, Verb.WORK_STOP, row),
    }
    return render(request, "pages/schedules/detail.html", context)


@page("POST")
@refusal_as_toast
def act(request: HtmxRequest, uid: str, verb: str) -> HttpResponse:
    """Pause, resume, run now, or end it."""
    row = get_object_or_404(schedule_list(standing=request.standing), uid=uid)
    guard(request.standing, Verb.WORK_STOP, row)
    who = Actor.of(request.user)
    match verb:
        case "pause":
            reason = request.POST.get("reason", "").replace("\0", "")
            schedule_pause(schedule=row, actor=who, reason=reason)
        case "resume":
            guard(request.standing, Verb.WORK_SUBMIT, row.project)
            schedule_resume(schedule=row, user=request.user, actor=who, weights=_weights(row))
        case "run":
            guard(request.standing, Verb.WORK_SUBMIT, row.project)
            schedule_run_now(schedule=row, actor=who)
        case "end":
            schedule_end(schedule=row, actor=who)
            return go(request, reverse("schedules"))
        case _:
            raise Http404
    return go(request, reverse("schedule", args=[row.uid]))


def _weights(row: Schedule) -> Any:
    return partial(
        weights_for,
        project=row.project,
        version=row.template_version,
        overrides=row.need,
        partitions=list(row.partitions.all()),
        seconds=LEASE_SECONDS,
    )


def _times(form: ScheduleForm) -> dict[str, Any]:
    """The next times of the line, where line and project are right."""
    data = getattr(form, "cleaned_data", {})
    line, project = data.get("cron"), data.get("project")
    if not line or project is None:
        return {"times": [], "zone": ""}
    zone = project.organization.zone
    found: list[datetime] = times_after(line, now(), zone=zone, count=PREVIEWED)
    return {"times": _local(found, zone), "zone": zone}


def _local(times: list[datetime], zone: str) -> list[datetime]:
    """As the clocks of the zone show them, whatever zone the reader has."""
    return [one.astimezone(ZoneInfo(zone)).replace(tzinfo=None) for one in times]


def _submit(request: HtmxRequest, form: ScheduleForm) -> Schedule | None:
    data = form.cleaned_data
    places = tuple(data["partitions"])
    try:
        guard(request.standing, Verb.WORK_SUBMIT, data["project"])
        return schedule_create(
            user=request.user,
            project=data["project"],
            template_version=form.chosen,
            name=data["name"],
            command=data["command"],
            env=data["env"],
            files=form.beside,
            need=form.overrides,
            expected_seconds=form.seconds,
            partitions=places,
            runs=data["retries"] or 0,
            comment=data["comment"],
            image=data["image"],
            given=form.given,
            on_rank_death=data["on_rank_death"],
            rendezvous_seconds=data["rendezvous_seconds"],
            array=form.array,
            cron=data["cron"],
            overlap=data["overlap"],
            missed=data["missed"],
            weights=partial(
                weights_for,
                project=data["project"],
                version=form.chosen,
                overrides=form.overrides,
                partitions=places,
                seconds=LEASE_SECONDS,
                copies=form.copies,
            ),
            actor=Actor.of(request.user),
        )
    except PoolError as refused:
        take_refusal(form, refused, RENAMED)
        return None

"""The form for a new job: a command with a share of a card."""

import shlex
from functools import partial
from typing import Any

from django import forms
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pool.errors import PoolError
from pool.events import Actor
from pool.lifecycle.roles import RankDeath
from pool.models.leases import Lease
from pool.models.users import User
from pool.models.workloads import Workload
from pool.rules.arrays import lasting
from pool.rules.gangs import Gang
from pool.selectors.leases import active_leases
from pool.selectors.workloads import workload_list
from pool.services.catalogue.giving import given_again, work_submit
from pool.services.catalogue.judging import given_for, given_from
from portal.access.guards import found, guard
from portal.access.roles import Verb
from portal.access.weights import weights_for
from portal.pages.answers import Answer, answer
from portal.pages.calendar.durations import DurationField
from portal.pages.catalogue.fields import GivenFields, filled_in
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page
from portal.pages.need_forms import NeedForm, as_filled_in
from portal.pages.series.fields import SeriesFields

RENAMED = {
    "expected_seconds": "time_value",
    "compute_milli": "compute_percent",
    "template_version": "template",
    "files": "file_text",
    "runs": "retries",
    "array": "pieces",
    "after": "after_uids",
    "storage": "storage_1",
    "secrets": "secret_1",
}


class JobForm(GivenFields, SeriesFields, NeedForm):
    """A need, and what to run with it: once, or as the pieces of an array."""

    lease = forms.ModelChoiceField(
        label=gettext_lazy("By right of"),
        queryset=Lease.objects.none(),
        to_field_name="uid",
        required=False,
        empty_label=gettext_lazy("the allowance, else a lease that holds it, else a new request"),
    )
    name = forms.CharField(label=gettext_lazy("Name"), max_length=63)
    command = forms.CharField(
        label=gettext_lazy("Command"),
        max_length=32768,
        widget=forms.Textarea(attrs={"rows": 2, "class": "gp-mono", "spellcheck": "false"}),
        help_text=gettext_lazy(
            "Program and arguments; no shell reads it. For example: python3 job.py --epochs 3"
        ),
    )
    file_name = forms.CharField(
        label=gettext_lazy("File beside it"),
        max_length=120,
        required=False,
        help_text=gettext_lazy(
            "For example job.py; it lies in the folder where the command starts."
        ),
    )
    file_text = forms.CharField(
        label=gettext_lazy("Its text"),
        max_length=1048576,
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 6, "class": "gp-mono", "spellcheck": "false"}),
    )
    env = forms.CharField(
        label=gettext_lazy("Variables"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "class": "gp-mono", "spellcheck": "false"}),
        help_text=gettext_lazy(
            "One NAME=value per line. No secrets: everybody in the project reads it."
        ),
    )
    retries = forms.IntegerField(
        label=gettext_lazy("Retries after an error"),
        min_value=0,
        max_value=20,
        initial=0,
        required=False,
    )
    on_rank_death = forms.ChoiceField(
        label=gettext_lazy("If one of its nodes or processes dies"),
        choices=[
            ("fail", gettext_lazy("the whole ends as failed")),
            ("restart", gettext_lazy("all start again, as often as the retries say, else 3 ×")),
        ],
        required=False,
    )
    rendezvous_seconds = DurationField(
        label=gettext_lazy("How long they may wait for each other"),
        most=86_400,
        initial=600,
        required=False,
    )
    comment = forms.CharField(
        label=gettext_lazy("Comment"),
        max_length=4000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["lease"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = active_leases(standing=kwargs["standing"])
        field.label_from_instance = _lease_label  # type: ignore[method-assign, assignment]

    def clean_command(self) -> list[str]:
        try:
            words = shlex.split(self.cleaned_data["command"])
        except ValueError as bad:
            raise forms.ValidationError(_("A quotation mark is not closed.")) from bad
        if not words:
            raise forms.ValidationError(_("Say what to run."))
        return words

    def clean_env(self) -> dict[str, str]:
        found_lines: dict[str, str] = {}
        for line in self.cleaned_data["env"].splitlines():
            name, mark, value = line.partition("=")
            if line.strip() and not (mark and name.strip()):
                raise forms.ValidationError(
                    _("“%(line)s” is not NAME=value."), params={"line": line}
                )
            if line.strip():
                found_lines[name.strip()] = value
        return found_lines

    @property
    def beside(self) -> dict[str, str]:
        """The file beside the command, if one was given."""
        data = self.cleaned_data
        if not data["file_text"]:
            return {}
        text = data["file_text"].replace("\r\n", "\n")
        return {data["file_name"] or "job.py": text}


@page("GET", "POST")
def new(request: HtmxRequest) -> HttpResponse:
    """The form; what was typed is never lost."""
    bound = request.method == "POST"
    form = JobForm(request.POST or None, initial=job_start(request), standing=request.standing)
    if bound and form.is_valid():
        made = _submit(request, form)
        if made is not None:
            return go(request, reverse("workload", args=[made.uid]))
    context = {"form": form, "standing": request.standing, "answer": job_answer(form), "job": True}
    return render(request, "pages/workloads/new.html", context, status=422 if bound else 200)


@page("POST")
def judged(request: HtmxRequest) -> HttpResponse:
    """Only the answer beside the form, while one types: name and command may still be missing."""
    form = JobForm(request.POST, standing=request.standing)
    context = {"form": form, "answer": job_answer(form), "job": True}
    return render(request, "pages/requests/_answer.html", context)


def job_answer(form: JobForm) -> Answer | None:
    """The answer to the need alone; what is not about it may be wrong."""
    if not form.is_bound:
        return None
    form.is_valid()
    data = form.cleaned_data
    about = {"project", "template", "how", "memory_gb", "compute_percent", "profile", "parts"}
    about |= {"topology", "nodes"}
    if form.version is None or about & set(form.errors) or "time_value" not in data:
        return None
    return answer(
        project=data["project"],
        version=form.version,
        overrides=form.overrides,
        partitions=list(data["partitions"]),
        seconds=form.seconds,
        copies=form.copies,
    )


def job_start(request: HtmxRequest) -> dict[str, Any]:
    """Empty, or as a lease or an earlier workload says."""
    start: dict[str, Any] = {"time_value": 3600}
    start |= {n: request.GET[n][:200] for n in ("template", "project") if request.GET.get(n)}
    if uid := request.GET.get("lease"):
        lease = found(active_leases(standing=request.standing), uid)
        start |= {
            "lease": lease.uid,
            "project": lease.project.slug,
            **as_filled_in(lease.need, lease.template_version),
            **_named(lease, request.user),
        }
    if uid := request.GET.get("like"):
        start |= _like(found(workload_list(standing=request.standing), uid))
    return start


def _named(lease: Lease, user: User) -> dict[str, Any]:
    """What the lease's request names for its work, as far as this person may use it."""
    asked = lease.request
    return {**filled_in(given_for(given_from(asked.given), user=user)), "image": asked.image}


def _like(old: Workload) -> dict[str, Any]:
    said = old.parent or old
    name, text = next(iter(said.files.items()), ("", ""))
    return {
        "pieces": old.array_spec,
        "throttle": old.array_throttle,
        "project": old.project.slug,
        **as_filled_in(old.need, old.template_version),
        "name": old.name,
        "command": shlex.join(said.command),
        "file_name": name,
        "file_text": text,
        "env": "\n".join(f"{key}={value}" for key, value in said.env.items()),
        "time_value": old.expected_seconds,
        "comment": old.comment,
        "image": "" if old.environment else old.image,
        **filled_in(given_again(workload=old)),
        "retries": old.runs_asked,
        "on_rank_death": old.on_rank_death,
        "rendezvous_seconds": old.rendezvous_seconds,
    }


def _submit(request: HtmxRequest, form: JobForm) -> Workload | None:
    data = form.cleaned_data
    said = job_answer(form)
    try:
        guard(request.standing, Verb.WORK_SUBMIT, data["project"])
        return work_submit(
            given=form.given,
            user=request.user,
            project=data["project"],
            template_version=form.chosen,
            name=data["name"],
            command=data["command"],
            env=data["env"],
            files=form.beside,
            need=form.overrides,
            expected_seconds=form.seconds,
            partitions=tuple(data["partitions"]),
            lease=data["lease"],
            runs=data["retries"] or 0,
            comment=data["comment"],
            image=data["image"],
            weights=said.weights if said and not form.array else partial(_weights, form),
            array=form.array,
            after=form.after(request.standing),
            gang=Gang(
                on_rank_death=data["on_rank_death"] or RankDeath.FAIL,
                rendezvous_seconds=data["rendezvous_seconds"] or 600,
            ),
            actor=Actor.of(request.user),
        )
    except PoolError as refused:
        take_refusal(form, refused, RENAMED)
        return None


def _weights(form: JobForm) -> dict[str, float]:
    """What all the pieces of an array would weigh, for as long as they take."""
    data = form.cleaned_data
    pieces = len(form.array.indices) if form.array else 1
    return weights_for(
        project=data["project"],
        version=form.chosen,
        overrides=form.overrides,
        partitions=tuple(data["partitions"]),
        seconds=lasting(form.seconds, pieces, form.copies),
        copies=form.copies,
    )


def _lease_label(lease: Lease) -> str:
    words = {"template": str(lease.template_version.template), "project": str(lease.project)}
    return _("lease: %(template)s, %(project)s") % words

"""Going on with a notebook in another size, with the price and who decides beside the form."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from nodeagent.protocol.vocabulary import WorkloadKind
from pool.errors import Forbidden, PoolError
from pool.events import Actor
from pool.models.workloads import Workload
from pool.selectors.notebooks.standing import notebook_list
from pool.selectors.templates import usable_templates
from pool.services.notebooks.resize import notebook_resized
from portal.access.guards import guard
from portal.access.roles import Verb
from portal.pages.answers import Answer, answer
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page
from portal.pages.need_forms import NeedForm, as_filled_in

RENAMED = {
    "expected_seconds": "time_value",
    "compute_milli": "compute_percent",
    "template_version": "template",
}
FIXED = ("project", "parts", "topology", "nodes")
"""A notebook stays in its project and on one slice."""


class SizeForm(NeedForm):
    """Template, size, time and place of a notebook that goes on."""

    def __init__(self, *args: Any, row: Workload, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.row = row
        for name in FIXED:
            del self.fields[name]
        offered = usable_templates(standing=kwargs["standing"], project=row.project)
        self.versions = [one for one in offered if one.kind == WorkloadKind.NOTEBOOK]
        slugs = [(one.template.slug, one.template.name) for one in self.versions]
        self.fields["template"].choices = slugs  # type: ignore[attr-defined]

    @property
    def answer(self) -> Answer | None:
        """What the size becomes; None while the form does not say it."""
        if not self.is_bound or not self.is_valid():
            return None
        return answer(
            project=self.row.project,
            version=self.chosen,
            overrides=self.overrides,
            partitions=list(self.cleaned_data["partitions"]),
            seconds=self.seconds,
        )


@page("GET", "POST")
def resize(request: HtmxRequest, uid: str) -> HttpResponse:
    """The form; a POST queues it."""
    row = _own(request, uid)
    bound = request.method == "POST"
    form = SizeForm(request.POST or None, initial=_start(row), standing=request.standing, row=row)
    said = form.answer
    if bound and form.is_valid():
        made = _resized(request, row, form, said)
        if made is not None:
            return go(request, reverse("notebook", args=[made.uid]))
    context = {"row": row, "form": form, "answer": said, "job": True}
    status = 422 if bound else 200
    return render(request, "pages/notebooks/resize.html", context, status=status)


@page("POST")
def sized(request: HtmxRequest, uid: str) -> HttpResponse:
    """Only the answer, while one chooses."""
    row = _own(request, uid)
    form = SizeForm(request.POST, standing=request.standing, row=row)
    context = {"form": form, "answer": form.answer, "job": True}
    return render(request, "pages/requests/_answer.html", context)


def _own(request: HtmxRequest, uid: str) -> Workload:
    row = get_object_or_404(notebook_list(standing=request.standing), uid=uid)
    guard(request.standing, Verb.WORK_SUBMIT, row.project)
    if row.owner_id != request.user.pk:
        raise Forbidden
    return row


def _start(row: Workload) -> dict[str, Any]:
    return {
        **as_filled_in(row.need, row.template_version),
        "time_value": max(60, row.expected_seconds),
    }


def _resized(
    request: HtmxRequest, row: Workload, form: SizeForm, said: Answer | None
) -> Workload | None:
    try:
        return notebook_resized(
            workload=row,
            user=request.user,
            template_version=form.chosen,
            need=form.overrides,
            partitions=tuple(form.cleaned_data["partitions"]),
            expected_seconds=form.seconds,
            weights=said.weights if said else {},
            actor=Actor.of(request.user),
        )
    except PoolError as refused:
        take_refusal(form, refused, RENAMED)
        return None

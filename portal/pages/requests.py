"""Pages about requests: the list, a new one with its living answer, one of them."""

from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pool.errors import PoolError
from pool.events import Actor
from pool.lifecycle.leases import LeaseKind
from pool.lifecycle.requests import RequestState
from pool.models.partitions import Partition
from pool.models.requests import Request
from pool.selectors.approvals.duplicates import duplicates_of
from pool.selectors.approvals.policies import usually_takes
from pool.selectors.partitions import partitions_of
from pool.selectors.requests import comment_list, request_list, request_search
from pool.services.requests import (
    request_comment,
    request_draft,
    request_send,
    request_submit,
    request_withdraw,
)
from portal.access.guards import found, guard, may
from portal.access.roles import Verb
from portal.pages.advisor.waits import effects_for
from portal.pages.answers import Answer, answer
from portal.pages.approving.astext import as_rest, as_yaml, asked_by, filled_from
from portal.pages.approving.budgets import budgets_of
from portal.pages.calendar.moments import MomentField, in_zone
from portal.pages.catalogue.fields import GivenFields, given_named
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, fragment, go, page, refusal_as_toast, refuse_unless
from portal.pages.lists import in_order, list_address, text_asked
from portal.pages.need_forms import NeedForm

RENAMED = {
    "duration_seconds": "time_value",
    "compute_milli": "compute_percent",
    "template_version": "template",
    "lease_kind": "kind",
    "storage": "storage_1",
    "secrets": "secret_1",
}
OPEN = frozenset({RequestState.DRAFT, RequestState.SUBMITTED, RequestState.RETURNED})


SORTS = {"title": "title", "for": "duration_seconds"}
REST_SORTS = {"title": "title", "for": "duration"}
"""What the list can be sorted by, in the words of the page, of rows and of REST."""

STATES = {
    RequestState.DRAFT: gettext_lazy("drafts"),
    RequestState.SUBMITTED: gettext_lazy("waiting"),
    RequestState.RETURNED: gettext_lazy("asked back"),
    RequestState.APPROVED: gettext_lazy("approved"),
    RequestState.REJECTED: gettext_lazy("rejected"),
    RequestState.WITHDRAWN: gettext_lazy("withdrawn"),
}
KINDS = [
    (LeaseKind.ON_DEMAND.value, gettext_lazy("When there is room (on demand)")),
    (LeaseKind.RESERVED.value, gettext_lazy("At a time: keep whole cards for it (reserved)")),
]


class RequestForm(GivenFields, NeedForm):
    """A need for a time, why, and what its work is to use."""

    copies = forms.IntegerField(
        label=gettext_lazy("How many at the same time"),
        min_value=1,
        max_value=1000,
        initial=1,
        help_text=gettext_lazy("So many jobs of this size may run side by side."),
    )
    kind = forms.ChoiceField(
        label=gettext_lazy("When it must start"),
        choices=KINDS,
        initial=LeaseKind.ON_DEMAND.value,
        required=False,
        help_text=gettext_lazy(
            "Reserved cards count in the project's limits from their begin, used or not."
        ),
    )
    starts_at = MomentField(
        label=gettext_lazy("From"),
        required=False,
        help_text=gettext_lazy("Empty: from the yes."),
    )
    title = forms.CharField(label=gettext_lazy("Title"), max_length=120, required=False)
    purpose = forms.CharField(
        label=gettext_lazy("What it is for"),
        max_length=4000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("Whoever decides reads this."),
    )

    apart = forms.BooleanField(
        label=gettext_lazy("Neighbours must be kept apart by hardware"), required=False
    )
    only = forms.RegexField(
        r"^[\w.-]+:[^:]+:[a-z_]+$", max_length=200, required=False, widget=forms.HiddenInput
    )

    @property
    def overrides(self) -> dict[str, Any]:
        """What differs from the template, one way to meet it and isolation included."""
        return asked_by(self.cleaned_data)

    @property
    def places(self) -> list[Partition]:
        """The partitions that are ticked, or the one of the one way."""
        place = (self.cleaned_data.get("only") or "").partition(":")[0]
        known = self.fields["partitions"].queryset  # type: ignore[attr-defined]
        return list(known.filter(slug=place)) if place else list(self.cleaned_data["partitions"])

    @property
    def reserved(self) -> bool:
        """Whether cards are to be kept."""
        return bool(self.cleaned_data.get("kind") == LeaseKind.RESERVED)


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """Requests one may read; one's own first by the switch."""
    mine = request.GET.get("who") == "mine"
    rows = request_list(standing=request.standing)
    state = request.GET.get("state", "")
    rows = rows.filter(requester=request.user) if mine else rows
    rows = rows.filter(state=state) if state in set(RequestState) else rows
    rows = rows.exclude(~Q(requester=request.user), state=RequestState.DRAFT)
    text = text_asked(request)
    rows = request_search(rows, text) if text else rows
    who = request.user.username if mine else ""
    state = state if state in set(RequestState) else ""
    asked = {"requester": who, "state": state, "search": text}
    context = {
        "page": in_order(request, rows, SORTS),
        "text": text,
        "csv": list_address("requests", request, REST_SORTS, **asked),
        "mine": mine,
        "state": state,
        "states": STATES,
        "standing": request.standing,
    }
    return fragment(request, "pages/requests/index.html", "pages/requests/_rows.html", context)


@page("GET", "POST")
def new(request: HtmxRequest) -> HttpResponse:
    """The form; what was typed is never lost."""
    bound = request.method == "POST"
    form = RequestForm(request.POST or None, initial=_start(request), standing=request.standing)
    in_zone(form, request.user)
    if bound and form.is_valid():
        draft = "draft" in request.POST
        made = _submit(request, form, draft=draft)
        if made is not None:
            said = (
                _("Kept as a draft; nobody decides it yet.")
                if draft
                else _("Your request was sent.")
            )
            messages.success(request, said)
            return go(request, reverse("request", args=[made.uid]))
    context = {"form": form, "standing": request.standing} | answered(request, form)
    return render(request, "pages/requests/new.html", context, status=422 if bound else 200)


@page("POST")
def load(request: HtmxRequest) -> HttpResponse:
    """The form, filled in from a text; nothing is sent."""
    refuse_unless(request.standing.works)
    text, error, start = request.POST.get("text", ""), "", _start(request)
    try:
        start |= filled_from(text, standing=request.standing)
    except PoolError as refused:
        detail = getattr(refused, "detail", {}).get("text", [str(refused)])
        error = " ".join(map(str, detail))
    form = RequestForm(initial=start, standing=request.standing)
    in_zone(form, request.user)
    context = {"form": form, "standing": request.standing, "load_text": text, "load_error": error}
    return render(request, "pages/requests/new.html", context, status=422 if error else 200)


@page("POST")
def judged(request: HtmxRequest) -> HttpResponse:
    """Only the answer beside the form, while one types."""
    form = RequestForm(request.POST, standing=request.standing)
    in_zone(form, request.user)
    context = {"form": form} | answered(request, form)
    return render(request, "pages/requests/_answer.html", context)


@page("GET")
def detail(request: HtmxRequest, uid: str) -> HttpResponse:
    """One request: what was asked, what was said, what came of it."""
    one = found(request_list(standing=request.standing), uid)
    return render(request, "pages/requests/detail.html", live_context(one, request))


@page("POST")
@refusal_as_toast
def withdraw(request: HtmxRequest, uid: str) -> HttpResponse:
    """Take it back before it is decided."""
    one = found(request_list(standing=request.standing), uid)
    guard(request.standing, Verb.REQUEST_MAKE, one)
    request_withdraw(request=one, user=request.user, actor=Actor.of(request.user))
    return go(request, reverse("request", args=[uid]))


@page("POST")
@refusal_as_toast
def comment(request: HtmxRequest, uid: str) -> HttpResponse:
    """A word to the other side; an answer to a question sends the request again."""
    one = found(request_list(standing=request.standing), uid)
    guard(request.standing, Verb.REQUEST_MAKE, one)
    text = request.POST.get("text", "").replace("\0", "").strip()
    own = one.requester_id == request.user.pk
    if text:
        request_comment(request=one, user=request.user, text=text, actor=Actor.of(request.user))
    if own and one.state == RequestState.RETURNED and request.POST.get("again"):
        request_send(request=one, user=request.user, actor=Actor.of(request.user))
    return go(request, reverse("request", args=[uid]))


def live_context(one: Request, request: HtmxRequest) -> dict[str, Any]:
    """What the page of one request shows."""
    own = one.requester_id == request.user.pk
    makes = may(request.standing, Verb.REQUEST_MAKE, one)
    lease = getattr(one, "lease", None)
    return {
        "one": one,
        "own": own,
        "lease": lease or one.alters,
        "comments": comment_list(request=one),
        "workloads": one.workloads.order_by("-pk")[:10],
        **given_named(one),
        "may_change": makes and one.state in OPEN,
        "may_edit": own and makes and one.state in OPEN and not one.pending_decision,
        "may_send": own and makes and one.state in (RequestState.DRAFT, RequestState.RETURNED),
        "may_speak": makes,
        "may_run": lease is not None
        and lease.state == "active"
        and may(request.standing, Verb.WORK_SUBMIT, one.project),
        "may_decide": not own
        and one.state == RequestState.SUBMITTED
        and may(request.standing, Verb.REQUEST_DECIDE, one.project),
    }


FILLED = (
    *("template", "project", "kind", "how", "memory_gb", "compute_percent", "profile", "parts"),
    *("topology", "nodes", "copies", "time_value", "title", "apart", "only"),
)
"""What an address may fill in: the advisor's answer, or an older request asked again."""


def _start(request: HtmxRequest) -> dict[str, Any]:
    said = {name: request.GET[name][:200] for name in FILLED if request.GET.get(name)}
    usual = {"kind": LeaseKind.ON_DEMAND.value, "time_value": 8 * 3600}
    return usual | said


def answered(request: HtmxRequest, form: RequestForm) -> dict[str, Any]:
    """The answer, how long such decisions take, and what is asked for twice."""
    said = _answer(form)
    if said is None or said.best is None:
        return {"answer": said}
    data = form.cleaned_data
    alike = duplicates_of(
        user=request.user,
        project=data["project"],
        template=form.chosen.template_id,
        starts_at=data.get("starts_at"),
        seconds=form.seconds,
    )
    took = usually_takes(project=data["project"], steps=len(said.steps))
    budgets = budgets_of(
        project=data["project"],
        user=request.user,
        standing=request.standing,
        answer=said,
        seconds=form.seconds,
    )
    told = {"answer": said, "took": took, "alike": alike, "judging": True, "budgets": budgets}
    return told | {"as_yaml": as_yaml(form), "as_rest": as_rest(form)}


@page("POST")
def wait(request: HtmxRequest) -> HttpResponse:
    """When it could start, and whom it would keep waiting: planned apart, so that nothing waits."""
    form = RequestForm(request.POST, standing=request.standing)
    in_zone(form, request.user)
    said = _answer(form)
    effects = None
    if said is not None and said.best is not None and said.need is not None:
        effects = effects_for(
            project=form.cleaned_data["project"],
            owner=request.user,
            version=form.chosen,
            need=said.need,
            partitions=form.places or list(partitions_of(project=form.cleaned_data["project"])),
            seconds=form.seconds,
            copies=form.cleaned_data["copies"],
        )
    return render(request, "pages/requests/_wait.html", {"effects": effects})


def _answer(form: RequestForm) -> Answer | None:
    """The answer to what is filled in so far; nothing while project or template is missing."""
    if not form.is_bound or not form.is_valid() or form.version is None:
        return None
    data = form.cleaned_data
    return answer(
        project=data["project"],
        version=form.version,
        overrides=form.overrides,
        partitions=form.places,
        seconds=form.seconds,
        copies=data["copies"],
        reserved=form.reserved,
    )


def _submit(request: HtmxRequest, form: RequestForm, *, draft: bool) -> Request | None:
    data = form.cleaned_data
    said = _answer(form)
    make = request_draft if draft else request_submit
    try:
        guard(request.standing, Verb.REQUEST_MAKE, data["project"])
        return make(
            user=request.user,
            project=data["project"],
            template_version=form.chosen,
            need=form.overrides,
            copies=data["copies"],
            duration_seconds=form.seconds,
            partitions=tuple(form.places),
            lease_kind=LeaseKind.RESERVED if form.reserved else LeaseKind.ON_DEMAND,
            starts_at=data.get("starts_at"),
            title=data["title"],
            purpose=data["purpose"],
            weights=said.weights if said else {},
            given=form.given,
            image=data["image"],
            actor=Actor.of(request.user),
        )
    except PoolError as refused:
        take_refusal(form, refused, RENAMED)
        return None

"""Rules of idleness: which there are, changing them, and who is touched before it is done."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from pool.errors import PoolError
from pool.events import Actor
from pool.lifecycle.idleness import IDLE_SECONDS, KEEPS, WARN_MINUTES
from pool.models.notebooks.notebooks import IdleRule
from pool.selectors.notebooks.preview import Touched, touched_by
from pool.selectors.notebooks.rules import rule_list
from pool.services.notebooks.rules import SCOPES, WORDS, idle_rule_remove, idle_rule_set
from portal.access.guards import anywhere, found, guard, may
from portal.access.roles import Verb
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page, refuse_unless
from portal.pages.notebooks.rule_forms import RuleForm

PAGE = "pages/notebooks/rule.html"


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """The rules that hold for one's projects, the widest first."""
    rows = list(rule_list(standing=request.standing))
    rows.sort(key=lambda one: (sum(bool(getattr(one, f"{n}_id")) for n in SCOPES), one.pk))
    mine = [(one, may(request.standing, Verb.IDLE_SET, one.project)) for one in rows]
    context = {
        "rules": mine,
        "sets": anywhere(request.standing, Verb.IDLE_SET),
        "usual": {"idle": IDLE_SECONDS, "keeps": KEEPS, "warn": ", ".join(map(str, WARN_MINUTES))},
    }
    return render(request, "pages/notebooks/rules.html", context)


@page("GET", "POST")
def new(request: HtmxRequest) -> HttpResponse:
    """A rule for all, or for a project, a template, a partition."""
    refuse_unless(anywhere(request.standing, Verb.IDLE_SET))
    form = RuleForm(request.POST or None, standing=request.standing)
    return _answered(request, form, None)


@page("GET", "POST")
def detail(request: HtmxRequest, uid: str) -> HttpResponse:
    """One rule, changed here."""
    row = found(rule_list(standing=request.standing), uid)
    guard(request.standing, Verb.IDLE_SET, row.project)
    form = RuleForm(request.POST or None, standing=request.standing, rule=row)
    return _answered(request, form, row)


@page("POST")
def remove(request: HtmxRequest, uid: str) -> HttpResponse:
    """Take it away."""
    row = found(rule_list(standing=request.standing), uid)
    guard(request.standing, Verb.IDLE_SET, row.project)
    reason = request.POST.get("reason", "").replace("\0", "")
    idle_rule_remove(rule=row, actor=Actor.of(request.user), reason=reason)
    messages.success(request, _("The rule is gone; the next wider one holds."))
    return go(request, reverse("idle-rules"))


@page("POST")
def judged(request: HtmxRequest) -> HttpResponse:
    """Only who would be touched, while one fills in the form; nothing is written."""
    refuse_unless(anywhere(request.standing, Verb.IDLE_SET))
    uid = request.POST.get("rule", "")
    row = found(rule_list(standing=request.standing), uid) if uid else None
    form = RuleForm(request.POST, standing=request.standing, rule=row)
    return render(
        request, "pages/notebooks/_touched.html", {"touched": _touched(request, form, row)}
    )


def _answered(request: HtmxRequest, form: RuleForm, row: IdleRule | None) -> HttpResponse:
    bound = request.method == "POST"
    if bound and form.is_valid():
        project = row.project if row else form.cleaned_data["project"]
        guard(request.standing, Verb.IDLE_SET, project)
        try:
            idle_rule_set(rule=row, actor=Actor.of(request.user), **form.words)
        except PoolError as refused:
            take_refusal(form, refused, {"idle_seconds": "idle_minutes"})
        else:
            messages.success(request, _("The rule holds from the next look on."))
            return go(request, reverse("idle-rules"))
    context = {"form": form, "rule": row, "touched": _touched(request, form, row)}
    return render(request, PAGE, context, status=422 if bound else 200)


def _touched(request: HtmxRequest, form: RuleForm, row: IdleRule | None) -> list[Touched] | None:
    """None while the form does not say enough."""
    if not form.is_bound or not form.is_valid():
        return None
    words: dict[str, Any] = form.words
    scope = {name: getattr(row, name) if row else words[name] for name in SCOPES}
    rule = IdleRule(**scope, **{name: words[name] for name in WORDS})
    return touched_by(standing=request.standing, rule=rule, instead_of=row.pk if row else None)

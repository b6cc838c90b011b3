"""One template: its versions with what changed and what was used, a new version, on and off."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from billing.selectors.versions import cost_by_version
from pool.cycle.quotatree.fitting import fits
from pool.errors import NotYours, PoolError
from pool.events import Actor
from pool.models import Organization, Template, TemplateVersion
from pool.rules.needs import from_mapping
from pool.selectors.catalogue.lists import environment_list
from pool.selectors.partitions import partition_list
from pool.selectors.reviews.templates import template_steps
from pool.selectors.telemetry.bandwidth import bandwidth_learned
from pool.selectors.templates import template_versions
from pool.selectors.tenants import organization_list, project_list
from pool.services.refusals import refusing
from pool.services.templates import (
    template_change,
    template_create,
    template_switch,
    template_version_add,
)
from portal.access.guards import may
from portal.access.roles import Verb
from portal.explained import AskedTooOften, looked_by
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page, refuse_unless
from portal.pages.scenarios.forms import NewForm, VersionForm


@page("GET")
def detail(request: HtmxRequest, uid: str) -> HttpResponse:
    """What it is; its history and review for those who look after it."""
    version = _found(request, uid)
    manages = _manages(request, version.template)
    context: dict[str, Any] = {"version": version, "manages": manages}
    if version.bandwidth == "measured":
        context["learned"] = bandwidth_learned(version=version)
    if manages:
        context["steps"] = template_steps(template=version.template)
        context["costs"] = cost_by_version(template=version.template)
    return render(request, "pages/scenarios/detail.html", context)


@page("GET", "POST")
def edit(request: HtmxRequest, uid: str) -> HttpResponse:
    """A new version, beside where it would fit."""
    version = _found(request, uid)
    refuse_unless(_manages(request, version.template))
    start = VersionForm.start(version) | _proposed(request)
    form = _form(request, VersionForm, version.template.organization, start)
    if request.method == "POST" and form.is_valid():
        try:
            with refusing():
                words = form.words(version.need)
            made = _changed(version.template, form, words, Actor.of(request.user))
        except PoolError as refused:
            take_refusal(form, refused, {"compute_milli": "compute_percent"})
        else:
            text = _("Version %(n)d is in force; running work keeps its own.")
            messages.success(request, text % {"n": made.number})
            return go(request, reverse("template", args=[version.template.uid]))
    return _page(request, form, version)


def _proposed(request: HtmxRequest) -> dict[str, Any]:
    """A size that capacity planning proposes, filled in for whoever looks; nothing is saved."""
    said = {name: request.GET.get(name, "") for name in ("memory_gb", "compute_percent")}
    return {name: int(text) for name, text in said.items() if text.isascii() and text.isdigit()}


@page("GET", "POST")
def new(request: HtmxRequest) -> HttpResponse:
    """A new template: a platform admin's for everybody, an organization's admin's for its own."""
    home = _home(request)
    refuse_unless(may(request.standing, Verb.TEMPLATE_MANAGE, home))
    more = {"homes": _homes(request)} if home is None else {}
    form = _form(request, NewForm, home, NewForm.empty(), **more)
    assert isinstance(form, NewForm)
    if request.method == "POST" and form.is_valid():
        try:
            with refusing():
                words = form.words({})
            home = form.cleaned_data.get("organization") or home
            made = _made(form, words, home, Actor.of(request.user))
        except PoolError as refused:
            take_refusal(form, refused, {"compute_milli": "compute_percent"})
        else:
            messages.success(request, _("Made."))
            return go(request, reverse("template", args=[made.template.uid]))
    return _page(request, form, None)


@page("POST")
def fit(request: HtmxRequest) -> HttpResponse:
    """Where the need of the form would fit, and where one would start now; nothing is changed."""
    uid = str(request.POST.get("template", ""))
    version = _found(request, uid) if uid else None
    refuse_unless(_manages(request, version.template) if version else _makes(request))
    form = _form(request, VersionForm, None, {})
    form.is_valid()
    context: dict[str, Any] = {}
    try:
        with refusing():
            need = from_mapping(form.need(version.need if version else {}))
        context["found"] = fits(
            look=looked_by(who=request.user.uid),
            need=need,
            partitions=partition_list(standing=request.standing).distinct(),
            unlimited_modes=bool(form.cleaned_data.get("unlimited_modes")),
            work_class=form.cleaned_data.get("work_class", ""),
        )
    except PoolError as refused:
        context["unread"] = str(refused)
    except AskedTooOften:
        context["unread"] = _("You have asked for this many times within a minute. Wait a moment.")
    return render(request, "pages/scenarios/_fit.html", context)


@page("POST")
def switch(request: HtmxRequest, uid: str, verb: str) -> HttpResponse:
    """Offer it, or stop offering it with the reason; what runs goes on."""
    version = _found(request, uid)
    refuse_unless(_manages(request, version.template))
    try:
        template_switch(
            template=version.template,
            active=verb == "activate",
            reason=str(request.POST.get("reason", "")).strip(),
            actor=Actor.of(request.user),
        )
    except PoolError as refused:
        messages.warning(request, str(refused))
    return go(request, reverse("template", args=[version.template.uid]))


@transaction.atomic
def _changed(
    template: Template, form: VersionForm, words: dict[str, Any], actor: Actor
) -> TemplateVersion:
    """Who may use it and its next version, both or neither."""
    template_change(template=template, projects=form.cleaned_data["projects"], actor=actor)
    note = form.cleaned_data["note"]
    return template_version_add(template=template, actor=actor, note=note, **words)


@transaction.atomic
def _made(
    form: VersionForm, words: dict[str, Any], home: Organization | None, actor: Actor
) -> TemplateVersion:
    """A template and who may use it, both or neither: never is it open to all for a moment."""
    data = form.cleaned_data
    named = {"slug": data["slug"], "name": data["name"]}
    made = template_create(**named, organization=home, actor=actor, **words)
    template_change(template=made.template, projects=data["projects"], actor=actor)
    return made


def _form(
    request: HtmxRequest,
    shape: type[VersionForm],
    home: Organization | None,
    start: dict[str, Any],
    **more: Any,
) -> VersionForm:
    projects = project_list(standing=request.standing)
    inside = environment_list(standing=request.standing)
    if home is not None:
        projects = projects.filter(organization=home)
    shown = Q(active=True) & (Q(organization=None) | Q(organization=home))
    shown |= Q(slug=start.get("environment") or "")
    return shape(
        request.POST or None,
        initial=start,
        standing=request.standing,
        projects=projects.order_by("slug"),
        environments=inside.filter(shown).order_by("slug"),
        platform=may(request.standing, Verb.TEMPLATE_MANAGE),
        **more,
    )


def _page(request: HtmxRequest, form: VersionForm, version: TemplateVersion | None) -> HttpResponse:
    context = {"form": form, "version": version}
    status = 422 if form.is_bound else 200
    return render(request, "pages/scenarios/edit.html", context, status=status)


def _found(request: HtmxRequest, uid: str) -> TemplateVersion:
    rows = template_versions(standing=request.standing).filter(template__uid=uid)
    row = rows.first() if uid.isprintable() else None
    if row is None:
        raise NotYours
    return row


def _manages(request: HtmxRequest, template: Template) -> bool:
    return may(request.standing, Verb.TEMPLATE_MANAGE, template.organization)


def _makes(request: HtmxRequest) -> bool:
    return may(request.standing, Verb.TEMPLATE_MANAGE, _home(request))


def _homes(request: HtmxRequest) -> QuerySet[Organization]:
    """Whose a platform admin may make one, besides everybody's."""
    rows = organization_list(standing=request.standing)
    return rows.filter(archived_at=None).order_by("slug")


def _home(request: HtmxRequest) -> Organization | None:
    """Whose a new template is: the platform's own, else the first organization one administers."""
    if may(request.standing, Verb.TEMPLATE_MANAGE):
        return None
    for one in organization_list(standing=request.standing):
        if may(request.standing, Verb.TEMPLATE_MANAGE, one):
            return one
    return None

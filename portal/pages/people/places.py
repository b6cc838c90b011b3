"""Organizations and projects: their list, one of each with everything that belongs to it."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from pool.errors import PoolError
from pool.events import Actor
from pool.models import Organization, Project
from pool.selectors.people.living import project_living
from pool.selectors.tenants import organization_list, project_list
from pool.services.people.closing import project_archive, project_move, project_reopen
from pool.services.people.places import (
    organization_archive,
    organization_change,
    organization_reopen,
    project_change,
)
from pool.services.tenants import (
    organization_create,
    project_create,
    project_resume,
    project_suspend,
)
from portal.access.currencies import currency_fixed
from portal.access.guards import found, guard, may
from portal.access.roles import Verb
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page, refusal_as_toast, refuse_unless
from portal.pages.people.addresses import place_url
from portal.pages.people.inside import of_organization, of_project
from portal.pages.people.place_forms import (
    NewOrganizationForm,
    NewProjectForm,
    OrganizationForm,
    ProjectForm,
)


@page("GET", "POST")
def index(request: HtmxRequest) -> HttpResponse:
    """The organizations and projects that one belongs to; a platform admin makes organizations."""
    makes = may(request.standing, Verb.ORGANIZATION_MANAGE)
    form = NewOrganizationForm(request.POST or None, initial={"zone": "UTC", "currency": "EUR"})
    if request.method == "POST":
        refuse_unless(makes)
        row = _tried(form, lambda words: organization_create(actor=_actor(request), **words))
        if row is not None:
            return go(request, place_url(row))
    away = request.GET.get("archived") == "1"
    projects = project_list(standing=request.standing).filter(archived_at__isnull=not away)
    by_home: dict[int, list[Project]] = {}
    for one in projects:
        by_home.setdefault(one.organization_id, []).append(one)
    homes = organization_list(standing=request.standing)
    rows = [
        (home, by_home.get(home.pk, []))
        for home in homes
        if (home.archived_at is not None) == away or home.pk in by_home
    ]
    context = {"rows": rows, "form": form if makes else None, "away": away}
    status = 422 if request.method == "POST" else 200
    return render(request, "pages/people/places.html", context, status=status)


@page("GET", "POST")
def organization(request: HtmxRequest, uid: str) -> HttpResponse:
    """One organization; a POST changes its name, zone or currency."""
    row = found(organization_list(standing=request.standing), uid)
    start = {"name": row.name, "zone": row.zone, "currency": row.currency}
    form = OrganizationForm(request.POST or None, initial=start)
    if request.method == "POST":
        guard(request.standing, Verb.ORGANIZATION_CHANGE, row)
        fixed = currency_fixed(row)

        def change(words: dict[str, Any]) -> Organization:
            return organization_change(
                organization=row, actor=_actor(request), currency_fixed=fixed, **words
            )

        if _tried(form, change) is not None:
            messages.success(request, _("Saved."))
            return go(request, place_url(row))
    context = {"form": form, **of_organization(request, row)}
    status = 422 if request.method == "POST" else 200
    return render(request, "pages/people/organization.html", context, status=status)


@page("POST")
def project_new(request: HtmxRequest, uid: str) -> HttpResponse:
    """A new project of the organization."""
    row = found(organization_list(standing=request.standing), uid)
    guard(request.standing, Verb.PROJECT_MANAGE, row)
    form = NewProjectForm(request.POST)
    made = _tried(
        form, lambda words: project_create(organization=row, actor=_actor(request), **words)
    )
    if made is not None:
        return go(request, place_url(made))
    start = OrganizationForm(initial={"name": row.name, "zone": row.zone, "currency": row.currency})
    context = {"form": start, **of_organization(request, row), "new_project": form}
    return render(request, "pages/people/organization.html", context, status=422)


@page("POST")
@refusal_as_toast
def organization_act(request: HtmxRequest, uid: str, verb: str) -> HttpResponse:
    """Archive or reopen it."""
    row = found(organization_list(standing=request.standing), uid)
    guard(request.standing, Verb.ORGANIZATION_MANAGE, row)
    acts = {"archive": organization_archive, "reopen": organization_reopen}
    if verb not in acts:
        raise Http404
    acts[verb](organization=row, actor=_actor(request))
    return go(request, place_url(row))


@page("GET", "POST")
def project(request: HtmxRequest, uid: str) -> HttpResponse:
    """One project with its people, limits, leases and work; a POST changes it."""
    row = found(project_list(standing=request.standing), uid)
    start = {"name": row.name, "cost_centre": row.cost_centre, "most_live": row.most_live}
    form = ProjectForm(request.POST or None, initial=start)
    if request.method == "POST":
        guard(request.standing, Verb.PROJECT_MANAGE, row)
        done = _tried(
            form, lambda words: project_change(project=row, actor=_actor(request), **words)
        )
        if done is not None:
            messages.success(request, _("Saved."))
            return go(request, place_url(row))
    context = {"form": form, **of_project(request, row)}
    status = 422 if request.method == "POST" else 200
    return render(request, "pages/people/project.html", context, status=status)


@page("GET", "POST")
@refusal_as_toast
def project_close(request: HtmxRequest, uid: str, verb: str) -> HttpResponse:
    """Archive or move: the consequences first (GET), then the act (POST)."""
    row = found(project_list(standing=request.standing), uid)
    guard(request.standing, Verb.PROJECT_MANAGE, row)
    if verb not in ("archive", "move"):
        raise Http404
    homes = [
        one
        for one in organization_list(standing=request.standing).filter(archived_at=None)
        if one.pk != row.organization_id and may(request.standing, Verb.PROJECT_MANAGE, one)
    ]
    if request.method == "POST":
        _closed(request, row, verb, {one.uid: one for one in homes})
        return go(request, place_url(row))
    living = project_living(project=row)
    context = {"project": row, "living": living, "verb": verb, "homes": homes}
    return render(request, "pages/people/project_close.html", context)


@page("POST")
@refusal_as_toast
def project_act(request: HtmxRequest, uid: str, verb: str) -> HttpResponse:
    """Suspend, resume or reopen it."""
    row = found(project_list(standing=request.standing), uid)
    guard(request.standing, Verb.PROJECT_MANAGE, row)
    if verb == "suspend":
        reason = request.POST.get("reason", "")
        project_suspend(project=row, reason=reason, actor=_actor(request))
    elif verb == "resume":
        project_resume(project=row, actor=_actor(request))
    elif verb == "reopen":
        project_reopen(project=row, actor=_actor(request))
    else:
        raise Http404
    return go(request, place_url(row))


def _closed(request: HtmxRequest, row: Project, verb: str, homes: dict[str, Organization]) -> None:
    wind_down = request.POST.get("wind_down") == "1"
    if verb == "archive":
        done = project_archive(project=row, wind_down=wind_down, actor=_actor(request))
    else:
        there = homes.get(request.POST.get("organization", ""))
        if there is None:
            raise Http404
        done = project_move(
            project=row, organization=there, wind_down=wind_down, actor=_actor(request)
        )
    if done.closing_since is not None:
        messages.info(request, _("It winds down, and closes as soon as nothing is left."))
    else:
        messages.success(request, _("Done."))


def _actor(request: HtmxRequest) -> Actor:
    return Actor.of(request.user)


def _tried(form: forms.Form, act: Any) -> Any:
    """What the act answers; None when the form or the pool refuses, said beside the fields."""
    if not form.is_valid():
        return None
    try:
        return act(form.cleaned_data)
    except PoolError as refused:
        if refused.status in (403, 404):
            raise
        take_refusal(form, refused)
        return None

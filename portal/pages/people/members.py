"""What managers of a place do with its people: give, change and take roles, invite, robots."""

from datetime import timedelta
from typing import Any

from django import forms
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from pool.clock import now
from pool.errors import Invalid, NotYours, PoolError
from pool.events import Actor
from pool.models import Organization, Project, User
from pool.selectors.memberships import memberships_seen
from pool.selectors.tenants import organization_list, project_list
from pool.services.memberships import membership_add, membership_change, membership_remove
from pool.services.people.accounts import account_create
from pool.services.users import user_disable, user_enable
from portal.access.guards import found, guard
from portal.access.inviting import invite
from portal.access.roles import Verb
from portal.access.tokens import token_issue, token_list, token_revoke
from portal.api.v1.references import person_named
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page, refusal_as_toast
from portal.pages.people.addresses import place_url
from portal.pages.people.inside import account_of, of_organization, of_project
from portal.pages.people.place_forms import (
    AccountForm,
    InviteForm,
    MemberForm,
    OrganizationForm,
    ProjectForm,
)
from portal.pages.tokens import TokenForm

Place = Project | Organization


@page("POST")
def add(request: HtmxRequest, kind: str, uid: str) -> HttpResponse:
    """Give somebody with an account a role in the place."""
    place = _managed(request, kind, uid)
    form = MemberForm(request.POST, in_project=kind == "project", auto_id="member_%s")
    if form.is_valid():
        home = place.organization if isinstance(place, Project) else place
        try:
            membership_add(
                user=person_of(request, home, form.cleaned_data["user"]),
                role=form.cleaned_data["role"],
                actor=Actor.of(request.user),
                **where(place),
            )
            return go(request, place_url(place))
        except PoolError as refused:
            take_refusal(form, refused)
    return _again(request, place, {"member_form": form})


@page("POST")
def ask_in(request: HtmxRequest, kind: str, uid: str) -> HttpResponse:
    """Invite somebody by mail; the link is shown once too."""
    place = _managed(request, kind, uid)
    form = InviteForm(request.POST, in_project=kind == "project", auto_id="invite_%s")
    if form.is_valid():
        words = dict(form.cleaned_data)
        try:
            _row, link = invite(
                user=request.user,
                actor=Actor.of(request.user),
                seconds=int(timedelta(days=words.pop("days")).total_seconds()),
                **words,
                **where(place),
            )
            told = {"link": request.build_absolute_uri(link), "told_email": words["email"]}
            return _again(request, place, told, status=201)
        except PoolError as refused:
            take_refusal(form, refused)
    return _again(request, place, {"invite_form": form})


@page("POST")
@refusal_as_toast
def change(request: HtmxRequest, uid: str, verb: str) -> HttpResponse:
    """Another role for a member, or none any more."""
    row = found(memberships_seen(standing=request.standing), uid)
    place = row.project or row.organization
    guard(request.standing, Verb.MEMBER_MANAGE, place)
    if verb == "role":
        role = request.POST.get("role", "")
        membership_change(membership=row, role=role, actor=Actor.of(request.user))
    elif verb == "remove":
        membership_remove(membership=row, actor=Actor.of(request.user))
    else:
        raise Http404
    return go(request, place_url(place))


@page("POST")
def account_new(request: HtmxRequest, uid: str) -> HttpResponse:
    """A new service account of the project."""
    project = found(project_list(standing=request.standing), uid)
    guard(request.standing, Verb.ACCOUNT_MANAGE, project)
    form = AccountForm(request.POST, auto_id="account_%s")
    if form.is_valid():
        try:
            account_create(project=project, actor=Actor.of(request.user), **form.cleaned_data)
            return go(request, place_url(project))
        except PoolError as refused:
            take_refusal(form, refused)
    return _again(request, project, {"account_form": form})


@page("GET", "POST")
def account(request: HtmxRequest, uid: str) -> HttpResponse:
    """A service account's tokens; a POST makes one and shows its text this one time."""
    row = account_of(request, uid)
    if row is None:
        raise NotYours
    guard(request.standing, Verb.ACCOUNT_MANAGE, row.service_project)
    form, plain, status = TokenForm(request.POST or None), "", 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            days = form.cleaned_data["days"]
            try:
                _token, plain = token_issue(
                    user=row,
                    name=form.cleaned_data["name"],
                    scopes=["read"] if form.cleaned_data["scope"] == "read" else ["read", "write"],
                    expires=now() + timedelta(days=days) if days else None,
                    actor=Actor.of(request.user),
                )
                form, status = TokenForm(), 201
            except PoolError as refused:
                take_refusal(form, refused)
    context = {"account": row, "tokens": token_list(user=row), "form": form, "plain": plain}
    return render(request, "pages/people/account.html", {**context, "now": now()}, status=status)


@page("POST")
@refusal_as_toast
def account_act(request: HtmxRequest, uid: str, verb: str) -> HttpResponse:
    """Disable or enable a service account, or revoke one of its tokens."""
    row = account_of(request, uid)
    if row is None:
        raise NotYours
    guard(request.standing, Verb.ACCOUNT_MANAGE, row.service_project)
    actor = Actor.of(request.user)
    if verb == "disable":
        user_disable(user=row, actor=actor)
    elif verb == "enable":
        user_enable(user=row, actor=actor)
    elif verb == "revoke":
        token_revoke(token=found(token_list(user=row), request.POST.get("token", "")), actor=actor)
    else:
        raise Http404
    return go(request, reverse("service-account", args=[row.uid]))


def where(place: Place) -> dict[str, Any]:
    """The place as services name it."""
    return {"project" if isinstance(place, Project) else "organization": place}


def person_of(request: HtmxRequest, home: Organization, name: str) -> User:
    """The person of that name whom the manager may know.

    Raises:
        Invalid: there is none.
    """
    try:
        return person_named(request.standing, home, name)
    except ValidationError as unknown:
        raise Invalid(user=_("No such person in this organization. Invite them.")) from unknown


def _managed(request: HtmxRequest, kind: str, uid: str) -> Place:
    place: Place
    if kind == "project":
        place = found(project_list(standing=request.standing), uid)
    elif kind == "organization":
        place = found(organization_list(standing=request.standing), uid)
    else:
        raise Http404
    guard(request.standing, Verb.MEMBER_MANAGE, place)
    return place


def _again(
    request: HtmxRequest, place: Place, more: dict[str, object], status: int = 422
) -> HttpResponse:
    """The place's page with a form that was refused, or with what is told once."""
    if isinstance(place, Project):
        start: forms.Form = ProjectForm(
            initial={
                "name": place.name,
                "cost_centre": place.cost_centre,
                "most_live": place.most_live,
            }
        )
        context = {"form": start, **of_project(request, place), **more}
        return render(request, "pages/people/project.html", context, status=status)
    words = {"name": place.name, "zone": place.zone, "currency": place.currency}
    start = OrganizationForm(initial=words)
    context = {"form": start, **of_organization(request, place), **more}
    return render(request, "pages/people/organization.html", context, status=status)

"""Invitations: the page behind the link of the mail, and what a manager does with open ones."""

from django import forms
from django.contrib import messages
from django.contrib.auth import login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as __
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from pool.errors import PoolError
from pool.events import Actor
from pool.lifecycle.roles import Role
from pool.models import Invitation
from pool.models.users import User
from pool.selectors.people.invited import invitation_list
from pool.services.people.invitations import (
    invitation_accept,
    invitation_find,
    invitation_join,
    invitation_revoke,
)
from portal.access.guards import found, guard
from portal.access.rates import Rate
from portal.access.roles import Verb
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page, refusal_as_toast
from portal.pages.people.addresses import place_url
from portal.pages.shell import ROLES

WRONG = Rate(limit=30, seconds=60)
"""Links that open nothing, from one address; a right one is never refused for them."""
BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


class JoinForm(forms.Form):
    """A new account for whoever was invited."""

    username = forms.CharField(
        label=_("User name"),
        max_length=150,
        help_text=_("You log in with it. Letters, digits and . @ + - _"),
        widget=forms.TextInput(attrs={"autocomplete": "username", "spellcheck": "false"}),
    )
    display_name = forms.CharField(label=_("Name shown to others"), max_length=120, required=False)
    password = forms.CharField(
        label=_("Password"),
        max_length=128,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=_("At least 8 characters, not only digits, and none of the usual ones."),
    )
    again = forms.CharField(
        label=_("Password again"),
        max_length=128,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean_again(self) -> str:
        """The same password twice."""
        said = str(self.cleaned_data["again"])
        if said != self.cleaned_data.get("password"):
            raise forms.ValidationError(__("The two passwords differ."))
        return said


@require_http_methods(["GET", "POST"])
@sensitive_post_parameters("password", "again")
def answer(request: HttpRequest, secret: str) -> HttpResponse:
    """What is offered; accepting it, with the account of the login or with a new one."""
    row = invitation_find(secret)
    if row is None:
        if WRONG.knock(request.META.get("REMOTE_ADDR", "")):
            return HttpResponse(status=429)
        return _shown(request, "pages/people/invitation_over.html", {}, 404)
    if isinstance(request.user, User):
        return _accepted(request, row, secret, request.user)
    form = JoinForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and _joined(request, form, secret):
        return go(request, place_url(row.project or row.organization))
    context = {**offered(row, secret), "form": form}
    status = 422 if request.method == "POST" else 200
    return _shown(request, "pages/people/invitation.html", context, status)


@page("POST")
@refusal_as_toast
def revoke(request: HtmxRequest, uid: str) -> HttpResponse:
    """The link works no more."""
    row: Invitation = found(invitation_list(standing=request.standing), uid)
    place = row.project or row.organization
    guard(request.standing, Verb.MEMBER_MANAGE, place)
    invitation_revoke(invitation=row, actor=Actor.of(request.user))
    messages.success(request, __("The invitation is revoked."))
    return go(request, place_url(place))


def _accepted(request: HttpRequest, row: Invitation, secret: str, user: User) -> HttpResponse:
    if request.method == "POST":
        try:
            invitation_accept(secret=secret, user=user, actor=Actor.of(user))
        except PoolError as refused:
            if refused.status == 404:
                raise Http404 from refused
            messages.warning(request, str(refused))
            return go(request, "/")
        messages.success(request, __("You are in."))
        return go(request, place_url(row.project or row.organization))
    return _shown(request, "pages/people/invitation.html", offered(row, secret), 200)


def _joined(request: HttpRequest, form: JoinForm, secret: str) -> bool:
    words = {name: form.cleaned_data[name] for name in ("username", "password", "display_name")}
    try:
        user = invitation_join(secret=secret, **words)
    except PoolError as refused:
        take_refusal(form, refused)
        return False
    login(request, user, backend=BACKEND)
    return True


def offered(row: Invitation, secret: str) -> dict[str, object]:
    """What is offered, and where it leads."""
    words = ROLES[Role(row.role)]
    place = row.project or row.organization
    return {"invitation": row, "role": words, "secret": secret, "place": place}


def _shown(request: HttpRequest, name: str, context: dict[str, object], code: int) -> HttpResponse:
    """Never kept, and the link is told to no other site."""
    response = render(request, name, context, status=code)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response

"""API tokens: made, shown once, revoked."""

from datetime import timedelta

from django import forms
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from pool.clock import now
from pool.errors import PoolError
from pool.events import Actor
from portal.access.guards import found
from portal.access.tokens import token_issue, token_list, token_revoke
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page, refusal_as_toast

DAYS = [(30, _("30 days")), (90, _("90 days")), (365, _("1 year")), (0, _("never"))]


class TokenForm(forms.Form):
    """What one says about a new token."""

    name = forms.CharField(
        label=_("Name"), max_length=63, help_text=_("Where it will be used, for example a script.")
    )
    scope = forms.ChoiceField(
        label=_("May"),
        choices=[("write", _("read and change")), ("read", _("only read"))],
        initial="write",
    )
    days = forms.TypedChoiceField(label=_("Ends after"), choices=DAYS, coerce=int, initial=90)


@page("GET", "POST")
def index(request: HtmxRequest) -> HttpResponse:
    """One's tokens; a POST makes one and shows its text this one time."""
    form = TokenForm(request.POST or None)
    plain = ""
    status = 200
    if request.method == "POST":
        plain = _issue(request, form) if form.is_valid() else ""
        status = 201 if plain else 422
        form = TokenForm() if plain else form
    context = {"form": form, "plain": plain, "tokens": token_list(user=request.user), "now": now()}
    return render(request, "pages/tokens/index.html", context, status=status)


@page("POST")
@refusal_as_toast
def revoke(request: HtmxRequest, uid: str) -> HttpResponse:
    """End one of one's own tokens."""
    token = found(token_list(user=request.user), uid)
    token_revoke(token=token, actor=Actor.of(request.user))
    return go(request, reverse("tokens"))


def _issue(request: HtmxRequest, form: TokenForm) -> str:
    data = form.cleaned_data
    expires = now() + timedelta(days=data["days"]) if data["days"] else None
    scopes = ["read", "write"] if data["scope"] == "write" else ["read"]
    try:
        _row, plain = token_issue(
            user=request.user,
            name=data["name"],
            actor=Actor.of(request.user),
            expires=expires,
            scopes=scopes,
        )
    except PoolError as refused:
        take_refusal(form, refused)
        return ""
    return plain

"""One person in the hands of an administrator: change, disable, let go with the consequences."""

from datetime import timedelta

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as __
from django.utils.translation import gettext_lazy as _

from pool.errors import Forbidden, PoolError
from pool.events import Actor
from pool.models import User
from pool.selectors.people.living import person_living
from pool.selectors.users import user_list
from pool.services.users import KEPT, user_disable, user_edit, user_enable
from portal.access.guards import found
from portal.access.leaving import heir_named, person_leave
from portal.access.places import manages_person
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page, refusal_as_toast
from portal.pages.profile import ProfileForm
from portal.pages.shell import ROLES

TIMES = [(0, _("stop at once")), (24, _("24 hours")), (72, _("3 days")), (168, _("7 days"))]
HEIRS = 200
"""People offered as heirs; others are named by their user name."""


class PersonForm(ProfileForm):
    """What an administrator may change about a person."""

    email = forms.EmailField(label=_("E-mail"), max_length=254, required=False)
    unix_account = forms.CharField(
        label=_("Unix account"),
        max_length=32,
        required=False,
        help_text=_("Jobs run under it. Empty: one of the project's own accounts."),
    )
    field_order = ["display_name", "email", "language", "zone", "unix_account"]


class LeaveForm(forms.Form):
    """Who inherits, and how long running work may go on."""

    heir = forms.CharField(
        label=_("Who takes over"),
        max_length=150,
        required=False,
        widget=forms.TextInput(attrs={"list": "heirs", "autocomplete": "off"}),
        help_text=_("User name. Gets files, resting notebooks, leases, schedules and requests."),
    )
    hours = forms.TypedChoiceField(
        label=_("Running work may go on for"), choices=TIMES, coerce=int, initial=24
    )


@page("GET", "POST")
def detail(request: HtmxRequest, uid: str) -> HttpResponse:
    """One person, their roles, and what of them lives."""
    person = _managed(request, uid)
    start = {name: getattr(person, name) for name in KEPT}
    form = PersonForm(request.POST or None, initial=start)
    if not request.standing.platform:
        del form.fields["unix_account"]
    if request.method == "POST" and form.is_valid():
        try:
            user_edit(user=person, actor=Actor.of(request.user), allowed=KEPT, **form.cleaned_data)
            messages.success(request, __("Saved."))
            return go(request, reverse("person", args=[person.uid]))
        except PoolError as refused:
            take_refusal(form, refused)
    context = {**_about(person), "form": form}
    status = 422 if request.method == "POST" else 200
    return render(request, "pages/people/person.html", context, status=status)


@page("GET", "POST")
def leave(request: HtmxRequest, uid: str) -> HttpResponse:
    """The consequences of letting a person go, then the act itself."""
    person = _managed(request, uid)
    form = LeaveForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        named = form.cleaned_data["heir"].strip()
        seconds = int(timedelta(hours=form.cleaned_data["hours"]).total_seconds())
        try:
            heir = heir_named(request.standing, named) if named else None
            person_leave(user=person, heir=heir, seconds=seconds, actor=Actor.of(request.user))
            messages.success(request, __("Login, tokens and roles have ended."))
            return go(request, reverse("users"))
        except PoolError as refused:
            take_refusal(form, refused)
    here = user_list(standing=request.standing).filter(is_active=True, service_account=False)
    heirs = [one for one in here[:HEIRS] if one.pk != person.pk]
    context = {**_about(person), "form": form, "heirs": heirs}
    status = 422 if request.method == "POST" else 200
    return render(request, "pages/people/leave.html", context, status=status)


@page("POST")
@refusal_as_toast
def act(request: HtmxRequest, uid: str, verb: str) -> HttpResponse:
    """Disable a person for a while, or take one back."""
    person = _managed(request, uid)
    if verb == "disable":
        user_disable(user=person, actor=Actor.of(request.user))
    elif verb == "enable":
        user_enable(user=person, actor=Actor.of(request.user))
    else:
        raise Http404
    return go(request, reverse("person", args=[person.uid]))


def _managed(request: HtmxRequest, uid: str) -> User:
    person: User = found(user_list(standing=request.standing), uid)
    if not manages_person(request.standing, person):
        raise Forbidden
    return person


def _about(person: User) -> dict[str, object]:
    held = [(ROLES[m.role], m.project or m.organization) for m in person.memberships.all()]  # type: ignore[index]
    return {"person": person, "held": held, "living": person_living(user=person)}

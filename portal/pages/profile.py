"""One's own account: name, language, time zone; the way to the password."""

from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext_lazy as _

from pool.events import Actor
from pool.models.tenants import Membership
from pool.services.users import user_edit
from portal.pages.htmx import HtmxRequest, go, page
from portal.pages.shell import ROLES


class ProfileForm(forms.Form):
    """What one may change about oneself."""

    display_name = forms.CharField(label=_("Name shown to others"), max_length=120, required=False)
    language = forms.ChoiceField(
        label=_("Language"),
        choices=[("", _("as the browser says")), *settings.LANGUAGES],
        required=False,
    )
    zone = forms.ChoiceField(
        label=_("Time zone"), required=False, help_text=_("Times on every page are shown in it.")
    )

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        zones = sorted(available_timezones())
        self.fields["zone"].choices = [("", "UTC"), *((z, z) for z in zones)]  # type: ignore[attr-defined]


@page("GET", "POST")
def index(request: HtmxRequest) -> HttpResponse:
    """Show and change one's own settings."""
    user = request.user
    start = {"display_name": user.display_name, "language": user.language, "zone": user.zone}
    form = ProfileForm(request.POST or None, initial=start)
    if request.method == "POST" and form.is_valid():
        user_edit(user=user, actor=Actor.of(user), **form.cleaned_data)
        messages.success(request, _("Saved."))
        response = go(request, reverse("profile"))
        if form.cleaned_data["language"]:
            translation.activate(form.cleaned_data["language"])
            response.set_cookie(settings.LANGUAGE_COOKIE_NAME, form.cleaned_data["language"])
        return response
    memberships = Membership.objects.filter(user=user).select_related("organization", "project")
    held = [(ROLES[one.role], one.project or one.organization) for one in memberships]  # type: ignore[index]
    context = {"form": form, "held": held}
    status = 422 if request.method == "POST" else 200
    return render(request, "pages/profile/index.html", context, status=status)

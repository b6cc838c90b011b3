"""What is asked about places and people."""

from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.utils.translation import gettext_lazy as _

from pool.lifecycle.roles import Role
from pool.rules.workloads import LARGEST_MOST_LIVE
from portal.pages.shell import ROLES

DAYS = [(1, _("1 day")), (7, _("7 days")), (30, _("30 days"))]
IN_PROJECT = (Role.MEMBER, Role.LEAD, Role.VIEWER)
IN_ORGANIZATION = (Role.ORG_ADMIN, Role.BILLING_READER)


def zones() -> list[tuple[str, str]]:
    """Every time zone by its name."""
    return [("UTC", "UTC"), *((zone, zone) for zone in sorted(available_timezones() - {"UTC"}))]


class SlugForm(forms.Form):
    """The name in addresses, which never changes."""

    slug = forms.SlugField(
        label=_("Short name"),
        max_length=63,
        help_text=_("Small letters, digits and hyphens; in addresses and scripts, for good."),
    )


class OrganizationForm(forms.Form):
    """What may change about an organization."""

    name = forms.CharField(label=_("Name"), max_length=120)
    zone = forms.ChoiceField(
        label=_("Time zone"), help_text=_("Its months, bills and schedules go by it.")
    )
    currency = forms.CharField(
        label=_("Currency"),
        max_length=3,
        min_length=3,
        help_text=_("Three letters. Fixed as soon as anything was metered in it."),
    )

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.fields["zone"].choices = zones()  # type: ignore[attr-defined]


class NewOrganizationForm(SlugForm, OrganizationForm):
    """A new organization."""

    field_order = ["name", "slug", "zone", "currency"]


class ProjectForm(forms.Form):
    """What may change about a project."""

    name = forms.CharField(label=_("Name"), max_length=120)
    cost_centre = forms.CharField(
        label=_("Cost centre"),
        max_length=63,
        required=False,
        help_text=_("Stands on every bill line from now on."),
    )
    most_live = forms.IntegerField(
        label=_("Live workloads of each member"),
        min_value=1,
        max_value=LARGEST_MOST_LIVE,
        help_text=_("Waiting and running together; pieces of arrays count one by one."),
    )


class NewProjectForm(SlugForm):
    """A new project."""

    name = forms.CharField(label=_("Name"), max_length=120)
    cost_centre = forms.CharField(label=_("Cost centre"), max_length=63, required=False)
    field_order = ["name", "slug", "cost_centre"]


def role_choices(in_project: bool) -> list[tuple[str, Any]]:
    """The roles of a project, or of an organization, with their words."""
    return [(one.value, ROLES[one]) for one in (IN_PROJECT if in_project else IN_ORGANIZATION)]


class RoleForm(forms.Form):
    """A role in one place; `place` says which roles there are."""

    role = forms.ChoiceField(label=_("Role"))

    def __init__(self, *args: object, in_project: bool, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.fields["role"].choices = role_choices(in_project)  # type: ignore[attr-defined]


class MemberForm(RoleForm):
    """Somebody who has an account is to hold a role."""

    user = forms.CharField(
        label=_("User name"),
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text=_("Of somebody who holds a role in this organization already."),
    )
    field_order = ["user", "role"]


class InviteForm(RoleForm):
    """Somebody is to come in by mail."""

    email = forms.EmailField(label=_("E-mail"), max_length=254)
    days = forms.TypedChoiceField(
        label=_("The link works for"), choices=DAYS, coerce=int, initial=7
    )
    message = forms.CharField(label=_("A word to them"), max_length=500, required=False)
    field_order = ["email", "role", "days", "message"]


class AccountForm(forms.Form):
    """A service account of a project."""

    username = forms.CharField(label=_("Name"), max_length=150)
    role = forms.ChoiceField(
        label=_("May"),
        choices=[("member", _("run work and ask for more")), ("viewer", _("only read"))],
    )

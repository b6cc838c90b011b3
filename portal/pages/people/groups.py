"""What groups of directories are here: mapped to roles, with who is affected before it holds."""

from dataclasses import dataclass, field
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as __
from django.utils.translation import gettext_lazy as _

from pool.errors import Invalid, PoolError
from pool.events import Actor
from pool.lifecycle.roles import Role
from pool.models import GroupRole, Organization, Project
from pool.rules.tenants import role_problem
from pool.selectors.people.invited import group_role_list
from pool.selectors.people.mapped import group_role_has, group_role_holders
from pool.selectors.tenants import organization_list, project_list
from pool.services.people.groups import group_role_change, group_role_remove, group_role_set
from pool.services.refusals import refuse
from portal.access.directory import DirectoryAway, group_people
from portal.access.guards import found, may
from portal.access.roles import Verb
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page, refusal_as_toast, refuse_unless
from portal.pages.lists import newest_first
from portal.pages.shell import ROLES

SHOWN = 50
OFFERED = 500
"""Places offered while one types; any other can be named in full."""

DIRECTORIES = [("ldap", _("LDAP directory")), ("oidc", _("Single sign-on"))]
PAGE = "pages/people/groups.html"


USUAL = {"role": Role.MEMBER}


class GroupForm(forms.Form):
    """A group, and the role that it brings."""

    directory = forms.ChoiceField(label=_("Comes from"), choices=DIRECTORIES)
    group = forms.CharField(
        label=_("Group"),
        max_length=255,
        help_text=_("LDAP: its cn or whole DN. Single sign-on: its value in the groups claim."),
    )
    role = forms.ChoiceField(
        label=_("Role"), choices=[(str(k), v) for k, v in reversed(ROLES.items())]
    )
    place = forms.CharField(
        label=_("Where"),
        max_length=80,
        required=False,
        widget=forms.TextInput(attrs={"list": "places", "autocomplete": "off"}),
        help_text=_("project:NAME or organization:NAME, by short name. Empty: the platform."),
    )


@dataclass(frozen=True, slots=True)
class Affected:
    """Who is in a group now, as far as the directory tells it to us."""

    gains: list[str] = field(default_factory=list)
    has: list[str] = field(default_factory=list)
    told: bool = False
    why: str = ""

    @property
    def more(self) -> int:
        """How many gain the role beyond those that are shown."""
        return max(0, len(self.gains) - SHOWN)


@page("GET", "POST")
def index(request: HtmxRequest) -> HttpResponse:
    """The list; a POST shows who would be affected, then (with `sure`) maps the group."""
    refuse_unless(may(request.standing, Verb.GROUP_MANAGE))
    form = GroupForm(request.POST or None, initial=USUAL)
    context: dict[str, Any] = {}
    if request.method == "POST" and form.is_valid():
        try:
            words = _words(request, form)
            if request.POST.get("sure") == "yes":
                group_role_set(actor=Actor.of(request.user), **words)
                messages.success(request, __("Mapped. It counts from the next log-in or reading."))
                return go(request, reverse("groups"))
            context["affected"] = affected(words)
        except PoolError as refused:
            take_refusal(form, refused)
    ok = request.method != "POST" or "affected" in context
    shown = _context(request, form) | context
    return render(request, PAGE, shown, status=200 if ok else 422)


@page("GET", "POST")
def detail(request: HtmxRequest, uid: str) -> HttpResponse:
    """One mapping with who holds its role; a POST changes it, after a look at who is affected."""
    refuse_unless(may(request.standing, Verb.GROUP_MANAGE))
    row = found(group_role_list(standing=request.standing), uid)
    form = GroupForm(request.POST or None, initial=_start(row))
    context: dict[str, Any] = {"row": row}
    if request.method == "POST" and form.is_valid():
        try:
            words = _words(request, form)
            if request.POST.get("sure") == "yes":
                group_role_change(group_role=row, actor=Actor.of(request.user), **words)
                messages.success(request, __("Changed. It counts from the next log-in or reading."))
                return go(request, reverse("groups"))
            context["affected"] = affected(words)
        except PoolError as refused:
            take_refusal(form, refused)
    holders = group_role_holders(group_role=row)
    context |= {"holders": list(holders[:SHOWN]), "held": holders.count(), "name": ROLES[row.role]}  # type: ignore[index]
    ok = request.method != "POST" or "affected" in context
    shown = _context(request, form) | context
    return render(request, "pages/people/group.html", shown, status=200 if ok else 422)


@page("POST")
@refusal_as_toast
def remove(request: HtmxRequest, uid: str) -> HttpResponse:
    """The group brings the role no more."""
    refuse_unless(may(request.standing, Verb.GROUP_MANAGE))
    row = found(group_role_list(standing=request.standing), uid)
    group_role_remove(group_role=row, actor=Actor.of(request.user))
    messages.success(request, __("Removed. Who held the role by it loses it at the next reading."))
    return go(request, reverse("groups"))


def affected(words: dict[str, Any]) -> Affected:
    """Who of the group would gain the role, and who has it already.

    Single sign-on tells groups only as people log in; a directory is asked now.
    """
    if words["source"] != "ldap":
        return Affected(why=__("Single sign-on names groups only when somebody logs in."))
    if not settings.LDAP_URL:
        return Affected(why=__("No directory is set up here."))
    try:
        people = group_people(words["group"])
    except DirectoryAway:
        return Affected(why=__("The directory does not answer now."))
    names = [one.name for one in people]
    place = {"organization": words["organization"], "project": words["project"]}
    row = GroupRole(source=words["source"], group=words["group"], role=words["role"], **place)
    having = group_role_has(group_role=row, usernames=names)
    shown = {one.name: one.display_name or one.name for one in people}
    return Affected(
        gains=sorted(shown[name] for name in names if name.casefold() not in having),
        has=sorted(shown[name] for name in names if name.casefold() in having),
        told=True,
    )


def _words(request: HtmxRequest, form: GroupForm) -> dict[str, Any]:
    """What the service is told.

    Raises:
        Invalid: there is no such place, or it has no such role.
    """
    given = form.cleaned_data
    kind, _colon, slug = given["place"].strip().partition(":")
    place: dict[str, Project | Organization | None] = {"project": None, "organization": None}
    if kind or slug:
        known = {"slug": slug.strip(), "archived_at": None}
        if kind == "project":
            place[kind] = project_list(standing=request.standing).filter(**known).first()
        elif kind == "organization":
            place[kind] = organization_list(standing=request.standing).filter(**known).first()
        if place.get(kind) is None:
            raise Invalid(place=__("No such place. Write project:NAME or organization:NAME."))
    inside = {f"in_{name}": row is not None for name, row in place.items()}
    refuse({"role": role_problem(given["role"], **inside)})
    return {
        "source": given["directory"],
        "group": given["group"],
        "role": given["role"],
        **place,
    }


def _start(row: GroupRole) -> dict[str, str]:
    place = ""
    if row.project is not None:
        place = f"project:{row.project.slug}"
    elif row.organization is not None:
        place = f"organization:{row.organization.slug}"
    return {"directory": row.source, "group": row.group, "role": row.role, "place": place}


def _context(request: HtmxRequest, form: GroupForm) -> dict[str, Any]:
    rows = group_role_list(standing=request.standing)
    wanted = request.GET.get("q", "").strip()
    if wanted:
        rows = rows.filter(group__icontains=wanted)
    names = dict(DIRECTORIES)
    projects = project_list(standing=request.standing).filter(archived_at=None)
    homes = organization_list(standing=request.standing).filter(archived_at=None)
    shown = newest_first(request, rows)
    return {
        "form": form,
        "q": wanted,
        "page": shown,
        "rows": [(one, names[one.source], ROLES[one.role]) for one in shown.rows],  # type: ignore[index]
        "places": [
            *((f"organization:{one.slug}", one.name) for one in homes[:OFFERED]),
            *((f"project:{one.slug}", one.name) for one in projects[:OFFERED]),
        ],
        "ldap": bool(settings.LDAP_URL),
        "oidc": bool(settings.OIDC_SERVER),
    }

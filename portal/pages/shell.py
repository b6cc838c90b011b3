"""The frame round every page: who is here, where they may go, what everybody should know."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pool.lifecycle.roles import Role
from pool.models.installation import Installation
from pool.models.users import User
from pool.selectors.approvals.powers import decides_anywhere
from pool.selectors.memberships import Standing
from pool.selectors.requests import approval_list
from portal.first_run.run import DEMO
from portal.pages.htmx import standing_of
from portal.pages.notices.inbox import bell_context
from portal.pages.planning.figures import sees_capacity

ROLES = {
    Role.PLATFORM_ADMIN: gettext_lazy("Platform admin"),
    Role.ORG_ADMIN: gettext_lazy("Organization admin"),
    Role.LEAD: gettext_lazy("Project lead"),
    Role.MEMBER: gettext_lazy("Member"),
    Role.VIEWER: gettext_lazy("Viewer"),
    Role.BILLING_READER: gettext_lazy("Billing reader"),
}
SCRIPTS = ("times", "toasts", "confirm", "keys", "copy", "live")


@dataclass(frozen=True, slots=True)
class Link:
    """One line of the navigation; `count` draws the eye when it is not 0."""

    url: str
    icon: str
    label: str
    current: bool = False
    count: int = 0


@dataclass(frozen=True, slots=True)
class Section:
    """A group of links under a quiet title."""

    title: str
    links: list[Link]


def shell(request: HttpRequest) -> dict[str, Any]:
    """Context of base.html; asked only by templates that draw the frame."""
    return {"shell": SimpleLazyObject(lambda: _frame(request))}


def _frame(request: HttpRequest) -> dict[str, Any]:
    frame: dict[str, Any] = {
        "site": settings.SITE_NAME,
        "scripts": [f"js/{name}.js" for name in SCRIPTS],
        "zone": "UTC",
        "user_uid": "",
        "announcement": settings.ANNOUNCEMENT,
    }
    user = request.user if hasattr(request, "user") else None
    if isinstance(user, User):
        frame |= _visitor(request, user)
    return frame


def _visitor(request: HttpRequest, user: User) -> dict[str, Any]:
    standing = standing_of(request)
    role = standing.first_role
    name = str(user)
    first = Installation.objects.filter(pk=1).values_list("example", "first_run").first()
    example, mode = first or (False, "")
    return {
        "zone": user.zone or "UTC",
        "user_uid": user.uid,
        "user_name": name,
        "initials": "".join(part[0] for part in name.split()[:2]).upper() or "?",
        "role": ROLES[role] if role else _("No role yet"),
        "example": example,
        "demo": mode == DEMO,
        "bell": bell_context(user),
        "sections": _sections(request, user, standing),
    }


def _sections(request: HttpRequest, user: User, standing: Standing) -> list[Section]:
    def link(name: str, icon: str, label: str, count: int = 0) -> Link:
        url = reverse(name)
        here = request.path == url or (url != "/" and request.path.startswith(url))
        return Link(url, icon, label, here, count)

    work = [link("home", "home", _("Home"))]
    if standing.in_projects(*Role) or standing.decides:
        work.append(link("workloads", "player-play", _("Workloads")))
        work.append(link("notebooks", "terminal-2", _("Notebooks")))
        work.append(link("queue", "hourglass", _("Queue")))
        work.append(link("schedules", "refresh", _("Schedules")))
        work.append(link("requests", "file-text", _("Requests")))
        work.append(link("reservations", "lock", _("Reservations")))
        work.append(link("secrets", "key", _("Secrets")))
    if standing.first_role is not None:
        work.append(link("places", "users", _("Projects")))
    if decides_anywhere(standing=standing):
        waiting = approval_list(standing=standing).exclude(requester=user).count()
        work.append(link("approvals", "inbox", _("Approvals"), waiting))
    pool = [
        link("map", "layout-grid", _("Pool map")),
        link("alerts", "alert-triangle", _("Alerts")),
        link("nodes", "server-2", _("Nodes")),
        link("partitions", "stack-2", _("Partitions")),
        link("windows", "calendar-due", _("Maintenance")),
        link("templates", "template", _("Templates")),
        link("environments", "rocket", _("Environments")),
        link("storage", "file-text", _("Storage")),
    ]
    money = [
        link("quotas", "gauge", _("Quotas")),
        link("usage", "coins", _("Usage and cost")),
        link("billing", "receipt", _("Team billing")),
    ]
    if sees_capacity(standing):
        money.append(link("planning", "chart-bar", _("Capacity planning")))
    sections = [Section("", work), Section(_("Pool"), pool), Section(_("Limits and money"), money)]
    if standing.platform or standing.in_organizations(Role.ORG_ADMIN):
        admin = [link("users", "user", _("People")), link("events", "history", _("Events"))]
        if standing.platform:
            admin.append(link("imports", "file-text", _("Configuration")))
            admin.append(link("policies", "adjustments", _("Scheduling rules")))
        sections.append(Section(_("Administration"), admin))
    return sections

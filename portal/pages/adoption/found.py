"""Work that the books do not know: what runs where, to be adopted or ended by an administrator."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _

from pool.errors import PoolError
from pool.events import Actor
from pool.lifecycle.found import FoundState
from pool.models.adoption.found import FoundWork
from pool.models.templates import TemplateVersion
from pool.models.tenants import Project
from pool.models.users import User
from pool.selectors.adoption.found import found_list, project_of
from pool.selectors.templates import template_versions
from pool.services.adoption.adopt import Home, found_adopt, found_stop
from portal.access.guards import guard
from portal.access.roles import Verb
from portal.pages.htmx import HtmxRequest, go, page

PAGE = "pages/found/index.html"
SHOWN = 200


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """What runs first, then what became of the rest."""
    guard(request.standing, Verb.NODE_MANAGE)
    return render(request, PAGE, _context(request))


@page("POST")
def adopt(request: HtmxRequest, uid: str) -> HttpResponse:
    """Take it into the books as somebody's workload."""
    guard(request.standing, Verb.NODE_MANAGE)
    found = get_object_or_404(found_list(), uid=uid)
    home = _home(request)
    if home is None:
        said = _("Choose a project, one of its members and a template.")
        return _refused(request, uid, said, 422)
    try:
        work = found_adopt(found=found, home=home, actor=Actor.of(request.user))
    except PoolError as error:
        return _refused(request, uid, str(error), error.status)
    return go(request, reverse("workload", args=[work.uid]))


@page("POST")
def stop(request: HtmxRequest, uid: str) -> HttpResponse:
    """End it on its node."""
    guard(request.standing, Verb.NODE_MANAGE)
    found = get_object_or_404(found_list(), uid=uid)
    try:
        found_stop(found=found, actor=Actor.of(request.user), reason=_("ended by hand"))
    except PoolError as error:
        return _refused(request, uid, str(error), error.status)
    return go(request, reverse("found"))


def _home(request: HtmxRequest) -> Home | None:
    """What the form says, as far as all three are known."""
    said = request.POST
    project = Project.objects.filter(slug=said.get("project", "")).first()
    owner = User.objects.filter(username=said.get("user", "")).first()
    version = (
        template_versions(standing=request.standing)
        .filter(template__slug=said.get("template", ""))
        .first()
    )
    if project is None or owner is None or version is None:
        return None
    return Home(
        project=project, owner=owner, template_version=version, name=said.get("name", "")[:63]
    )


def _refused(request: HtmxRequest, uid: str, said: str, status: int) -> HttpResponse:
    context = _context(request) | {"refused": said, "refused_uid": uid, "typed": request.POST}
    return render(request, PAGE, context, status=status)


def _context(request: HtmxRequest) -> dict[str, Any]:
    rows = list(found_list()[:SHOWN])
    there = [row for row in rows if row.state in (FoundState.RUNNING, FoundState.STOPPING)]
    versions: list[TemplateVersion] = list(template_versions(standing=request.standing))
    return {
        "there": [{"row": row, "project": project_of(row)} for row in there],
        "rest": [row for row in rows if row not in there],
        "projects": Project.objects.order_by("slug"),
        "people": User.objects.filter(is_active=True).order_by("username"),
        "templates": sorted({one.template.slug for one in versions}),
    }


def found_now() -> int:
    """How much of it runs, for the page of nodes."""
    return FoundWork.objects.filter(state=FoundState.RUNNING).count()

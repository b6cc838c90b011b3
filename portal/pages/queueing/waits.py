"""How long teams wait against the target, what the last rounds did, and whose queue is held."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render

from pool.errors import PoolError
from pool.events import Actor
from pool.models.tenants import Project
from pool.selectors.rounds import rounds_last, rounds_total, team_waits, wait_target_s
from pool.selectors.tenants import project_list
from pool.services.queueing.steer import (
    project_queue_hold,
    project_queue_release,
    wait_target_set,
)
from portal.access.guards import guard, may
from portal.access.roles import Verb
from portal.pages.htmx import HtmxRequest, fragment, page, refuse_unless
from portal.pages.queueing.item import refusal_words

WHOLE, PART = "pages/queue/waits.html", "pages/queue/_waits.html"
ROUNDS = 12


@page("GET")
def waits(request: HtmxRequest) -> HttpResponse:
    """The teams that the reader may see, longest wait first; the last rounds."""
    return fragment(request, WHOLE, PART, _context(request))


@page("POST")
def target(request: HtmxRequest) -> HttpResponse:
    """How long work should wait at most, in minutes."""
    refuse_unless(may(request.standing, Verb.QUEUE_STEER))
    said = request.POST.get("minutes", "")
    minutes = int(said) if said.isascii() and said.isdigit() and len(said) < 6 else 0
    return _tried(request, lambda: wait_target_set(seconds=minutes * 60, actor=_actor(request)))


@page("POST")
def hold(request: HtmxRequest, slug: str, verb: str) -> HttpResponse:
    """Nothing of a project starts until it is released; it may go on submitting."""
    project: Project = get_object_or_404(project_list(standing=request.standing), slug=slug)
    guard(request.standing, Verb.PROJECT_MANAGE, project)
    reason = request.POST.get("reason", "").replace("\0", "")
    actor = _actor(request)
    if verb == "hold":
        return _tried(
            request, lambda: project_queue_hold(project=project, reason=reason, actor=actor)
        )
    return _tried(request, lambda: project_queue_release(project=project, actor=actor))


def _tried(request: HtmxRequest, act: Any) -> HttpResponse:
    """Do it and show the page as it then is, or what was wrong above it."""
    try:
        act()
    except PoolError as refused:
        context = _context(request) | {"refused": refusal_words(refused)}
        return render(request, PART if request.htmx else WHOLE, context, status=422)
    return fragment(request, WHOLE, PART, _context(request))


def _actor(request: HtmxRequest) -> Actor:
    return Actor.of(request.user)


def _context(request: HtmxRequest) -> dict[str, Any]:
    projects = list(project_list(standing=request.standing))
    managed = {one.slug for one in projects if may(request.standing, Verb.PROJECT_MANAGE, one)}
    by_slug = {one.slug: one for one in projects}
    teams = team_waits(standing=request.standing)
    listed = {team.slug for team in teams}
    held = [one for one in projects if one.queue_held and one.slug not in listed]
    return {
        "teams": [
            {"wait": team, "project": by_slug.get(team.slug), "managed": team.slug in managed}
            for team in teams
        ],
        "held": [{"project": one, "managed": one.slug in managed} for one in held],
        "rounds": rounds_last(most=ROUNDS),
        "total": rounds_total(),
        "target_s": wait_target_s(),
        "target_minutes": wait_target_s() // 60,
        "steers": may(request.standing, Verb.QUEUE_STEER),
    }

"""The pool drawn to scale, and one card in a drawer."""

from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render

from pool.clock import now
from pool.lifecycle.roles import Role
from pool.models.workloads import Workload
from pool.rules.ceilings import left_free
from pool.selectors.calendar.reservations import kept_on_cards, reservation_list
from pool.selectors.calendar.windows import windows_on_cards
from pool.selectors.capacity import fits_now, room_on
from pool.selectors.hardware.neighbours import in_reach, times_struck
from pool.selectors.memberships import Standing
from pool.selectors.nodes import card_list, node_map
from pool.selectors.offers import card_facts
from portal.pages.drawing import drawn, marks_now, racks
from portal.pages.htmx import HtmxRequest, page


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """Nodes → cards → slices; the live part is `_live.html`."""
    return render(request, "pages/map/index.html", live_context(standing=request.standing))


@page("GET")
def card(request: HtmxRequest, uid: str) -> HttpResponse:
    """One card: what it is, what lies on it, what it could still give."""
    context = card_context(uid, standing=request.standing)
    if context is None:
        raise Http404
    return render(request, "pages/map/_card.html", context)


def card_context(uid: str, *, standing: Standing) -> dict[str, Any] | None:
    """All that changes of a card while one looks; None where there is none of this uid."""
    found = card_list().filter(uid=uid).first()
    if found is None:
        return None
    living: list[Any] = found.living  # type: ignore[attr-defined]
    held = [
        (one.now_held[0].placement.attempt.workload, one.compute_milli)
        for one in living
        if one.now_held
    ]
    return {
        "card": found,
        "window": windows_on_cards(at=now()).get(found.pk),
        "kept": kept_on_cards(at=now()).get(found.pk),
        "knows_kept": knows_kept(standing, found.pk),
        "ceilings": left_free(
            found.partition.ceilings if found.partition else {},
            held=[(work.template_version.work_class, compute) for work, compute in held],
        ),
        "facts": card_facts(found),
        "drawn": drawn(found, knows(standing)),
        "room": room_on(found),
        "in_reach": in_reach(card=found),
        "struck": times_struck(card=found),
    }


def knows_kept(standing: Standing, card: int) -> bool:
    """Whether the reader may know for whom the card is kept."""
    rows = reservation_list(standing=standing)
    return rows.filter(kept__card=card, kept__live=True).exists()


def live_context(*, standing: Standing) -> dict[str, Any]:
    """The drawing and the strip above it; the same for everybody with the same projects."""
    nodes = list(node_map())
    return {
        "racks": racks(nodes=nodes, knows=knows(standing), marks=marks_now(now())),
        "fits": fits_now(nodes=nodes),
        "standing": standing,
    }


def knows(standing: Standing) -> Callable[[Workload], bool]:
    """Whose names this person may read on the map."""
    projects = standing.in_projects(Role.LEAD, Role.MEMBER, Role.VIEWER)
    organizations = standing.in_organizations(Role.ORG_ADMIN)

    def judge(workload: Workload) -> bool:
        return (
            standing.platform
            or workload.project_id in projects
            or workload.project.organization_id in organizations
        )

    return judge

"""The page of capacity planning: one sentence, then the numbers that carry it."""

from datetime import UTC, date, datetime, time, timedelta
from operator import attrgetter
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from pool.clock import now
from pool.lifecycle.studies import StudyKind
from pool.models import TemplateVersion
from pool.rules.planning.prepared import prepared_size
from pool.rules.planning.scatter import Corner, Dot
from pool.rules.planning.size import Way, size_advice
from pool.rules.planning.verdict import Band, Choice, Verdict, band_of
from pool.selectors.whatif.studies import card_kinds, study_list, with_totals
from portal.access.guards import may
from portal.access.roles import Verb
from portal.pages.htmx import HtmxRequest, fragment, page, refuse_unless
from portal.pages.planning.figures import (
    LONGEST,
    Model,
    Room,
    corners_for,
    models,
    period_for,
    room_by_day,
    sees_capacity,
    verdict_for,
)
from portal.pages.whatif.reach import offered

WHOLE, PERIODS = "pages/planning/index.html", "pages/planning/_periods.html"
WEEKS = 4
ROOM_ROWS = 7
"""Days in the table beside the picture."""

FIRST_YEAR, LAST_YEAR = 2000, 2999

CORNERS = {
    Corner.RECUT: (
        gettext_lazy("Change the cut"),
        gettext_lazy("Memory is full while compute idles: a slice with less compute does as well."),
    ),
    Corner.FEWER: (
        gettext_lazy("Run fewer side by side"),
        gettext_lazy("Compute is full while memory idles: limit how many share one card."),
    ),
    Corner.SMALLER: (
        gettext_lazy("Take a smaller piece"),
        gettext_lazy("Memory and compute both idle: a smaller slice does."),
    ),
    Corner.WELL: (gettext_lazy("Leave it"), gettext_lazy("What is held is used.")),
    Corner.UNKNOWN: (
        gettext_lazy("Not measured"),
        gettext_lazy("Its cards tell no use of compute or memory."),
    ),
}

WAYS = {
    Way.PLAIN: gettext_lazy("Up to 8 cards: a plain queue is enough; quotas and slices can wait."),
    Way.SLICES: gettext_lazy("8 to 50 cards: cut cards into slices for light work."),
    Way.RULES: gettext_lazy("50 to 500 cards: queues, priorities, quotas and bills pay off."),
    Way.DOMAINS: gettext_lazy("Above 500 cards: watch topology and failure domains, too."),
}

BANDS = {
    Band.UNKNOWN: gettext_lazy("not measured"),
    Band.BELOW: gettext_lazy("below the band of 70 to 85 %"),
    Band.WITHIN: gettext_lazy("within the band of 70 to 85 %"),
    Band.ABOVE: gettext_lazy("above the band of 70 to 85 %: no room for bursts"),
}


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """The verdict, the teams, the corners, the trend; two periods of four weeks to begin with."""
    refuse_unless(sees_capacity(request.standing))
    evidence, verdict = verdict_for(request.standing)
    dots = corners_for(request.standing)
    found, rooms = models(), room_by_day()
    context = {
        "evidence": evidence,
        "verdict": verdict,
        "sentence": sentence(verdict),
        "band": BANDS[band_of(evidence.use_milli)],
        "teams": sorted(evidence.teams, key=lambda team: (-team.held_cards, team.slug)),
        "dots": [
            (dot, *CORNERS[dot.corner], change)
            for dot, change in zip(dots, prepared(request, dots), strict=True)
        ],
        "scatter": _scatter(dots),
        "models": found,
        "trend": _trend(found),
        "room": _room(rooms),
        "rooms": rooms[-ROOM_ROWS:][::-1],
        "way": WAYS[size_advice(round(evidence.cards)).way],
        "platform": request.standing.platform,
        **_search(request, verdict),
        **_periods(request),
    }
    return fragment(request, WHOLE, PERIODS, context)


def _search(request: HtmxRequest, verdict: Verdict) -> dict[str, Any]:
    """The way to what-ifs, and the search for the number of cards where there is a verdict."""
    if not offered(request.standing):
        return {"offered": False}
    searches = with_totals(study_list(standing=request.standing)).filter(kind=StudyKind.CARDS)
    return {
        "offered": True,
        "searchable": verdict.choice is not Choice.TOO_EARLY,
        "kinds": card_kinds(standing=request.standing),
        "searches": [(one, attrgetter("needed")(one)) for one in searches.order_by("-pk")[:3]],
    }


def sentence(verdict: Verdict) -> str:
    """The verdict in one sentence."""
    if verdict.choice is Choice.TOO_EARLY:
        return ngettext(
            "Not enough readings yet: %(n)s more day is needed before a verdict.",
            "Not enough readings yet: %(n)s more days are needed before a verdict.",
            verdict.missing_days,
        ) % {"n": verdict.missing_days}
    if verdict.choice is Choice.BUY:
        return ngettext(
            "Buy: teams use what they hold and wait too long; %(n)s more card is needed.",
            "Buy: teams use what they hold and wait too long; %(n)s more cards are needed.",
            verdict.wanted_cards,
        ) % {"n": verdict.wanted_cards}
    if verdict.choice is Choice.OPTIMISE:
        return _optimise(verdict)
    return _(
        "Leave it as it is: nothing lies idle for long, and teams that use what they hold"
        " do not wait too long."
    )


def _optimise(verdict: Verdict) -> str:
    if not verdict.spare_cards:
        return _("Optimise first: the pool as a whole is used less than a fifth of the time.")
    if not verdict.spare:
        return ngettext(
            "Optimise first: %(n)s card that teams hold could be given back.",
            "Optimise first: %(n)s cards that teams hold could be given back.",
            verdict.spare_cards,
        ) % {"n": verdict.spare_cards}
    first = verdict.spare[0]
    return _(
        "Optimise first: %(team)s holds %(held).1f cards and uses %(used).1f;"
        " %(n)s could be given back."
    ) % {
        "team": first.name,
        "held": first.held_cards,
        "used": first.used_cards,
        "n": first.spare_cards,
    }


def _scatter(dots: list[Dot]) -> dict[str, Any]:
    known = [dot for dot in dots if dot.corner is not Corner.UNKNOWN]
    return {
        "x": _("Memory used of what was held, %"),
        "y": _("Compute used of what was held, %"),
        "dots": [
            {
                "name": dot.name,
                "x": (dot.memory_milli or 0) / 10,
                "y": (dot.compute_milli or 0) / 10,
                "weight": dot.card_hours,
                "corner": dot.corner.value,
                "said": str(CORNERS[dot.corner][0]),
            }
            for dot in known
        ],
    }


def prepared(request: HtmxRequest, dots: list[Dot]) -> list[str]:
    """For each dot the address of its template's form with the new size filled in; else empty.

    Two queries. Only of templates that the visitor looks after.
    """
    rows = TemplateVersion.objects.filter(template__uid__in=[dot.key for dot in dots])
    newest = rows.order_by("template_id", "-number").distinct("template_id")
    known = {one.template.uid: one for one in newest.select_related("template__organization")}
    return [_prepared(request, dot, known.get(dot.key)) for dot in dots]


def _prepared(request: HtmxRequest, dot: Dot, version: TemplateVersion | None) -> str:
    if version is None:
        return ""
    if not may(request.standing, Verb.TEMPLATE_MANAGE, version.template.organization):
        return ""
    size = prepared_size(dot, version.need)
    if not size:
        return ""
    words: dict[str, Any] = dict(size)
    if "compute_milli" in words:
        words["compute_percent"] = words.pop("compute_milli") // 10
    return f"{reverse('template-edit', args=[dot.key])}?{urlencode(words)}"


def _room(rooms: list[Room]) -> dict[str, Any]:
    """Two lines over the days: free in pieces, and stranded; a day not posted yet is a gap."""
    return {
        "days": [f"{one.pieces.day:%m-%d}" for one in rooms],
        "unit": _("Cards, mean of the day"),
        "lines": [
            {
                "name": _("Free in pieces"),
                "data": [round(one.pieces.in_pieces, 2) for one in rooms],
            },
            {
                "name": _("Stranded"),
                "data": [None if one.stranded is None else round(one.stranded, 2) for one in rooms],
            },
        ],
    }


def _trend(found: list[Model]) -> dict[str, Any]:
    drawn = [one for one in found if one.demand.weeks][:6]
    return {
        "title": _("Cards wanted, 95th percentile of the week's hours"),
        "weeks": max((len(one.demand.weeks) for one in drawn), default=0),
        "ago": _("weeks ago"),
        "lines": [
            {"name": one.demand.label, "data": list(one.demand.weeks), "there": one.demand.cards}
            for one in drawn
        ],
    }


def _periods(request: HtmxRequest) -> dict[str, Any]:
    """Two periods by their first and last days; what is no date is told and the default shown."""
    today = now().astimezone(UTC).date()
    usual = {
        "from_a": today - timedelta(weeks=2 * WEEKS),
        "to_a": today - timedelta(weeks=WEEKS, days=1),
        "from_b": today - timedelta(weeks=WEEKS),
        "to_b": today - timedelta(days=1),
    }
    chosen, wrong = dict(usual), ""
    for name in usual:
        said = request.GET.get(name, "")
        try:
            chosen[name] = date.fromisoformat(said) if said else usual[name]
        except ValueError:
            wrong = _("That is no date; write it as 2026-05-31.")
        if not FIRST_YEAR <= chosen[name].year <= LAST_YEAR:
            wrong = _("A day from 2000 to 2999.")
    for first, last in (("from_a", "to_a"), ("from_b", "to_b")):
        length = chosen[last] - chosen[first]
        if not wrong and not timedelta(0) <= length < LONGEST:
            wrong = _("A period ends after it begins and is no longer than a year.")
    if wrong:
        chosen = usual
    before, after = (
        period_for(request.standing, _begin(chosen[first]), _begin(chosen[last], days=1))
        for first, last in (("from_a", "to_a"), ("from_b", "to_b"))
    )
    return {"before": before, "after": after, "chosen": chosen, "wrong": wrong}


def _begin(day: date, *, days: int = 0) -> datetime:
    return datetime.combine(day, time(), UTC) + timedelta(days=days)

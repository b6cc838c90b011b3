"""Ways out of the house: channels with their test, routes by team and hours, dead letters."""

from collections.abc import Callable
from datetime import date
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pool.errors import Invalid, PoolError
from pool.events import Actor
from pool.models import AlertChannel, AlertDelivery, AlertRoute, Project
from pool.services.alerting.ways import (
    channel_change,
    channel_make,
    channel_remove,
    delivery_again,
    route_change,
    route_make,
    route_remove,
    ways_there,
)
from portal.access.guards import found, may
from portal.access.roles import Verb
from portal.notices.channels.sender import channel_test
from portal.notices.channels.words import FAMILY_WORDS, SEVERITY_WORDS, title_of
from portal.pages.htmx import HtmxRequest, go, page, refusal_as_toast, refuse_unless
from portal.pages.lists import newest_first

KINDS = {
    "mail": gettext_lazy("E-mail"),
    "webhook": gettext_lazy("Webhook (signed)"),
    "slack": "Slack",
    "wecom": gettext_lazy("WeCom"),
    "feishu": gettext_lazy("Feishu"),
    "dingtalk": gettext_lazy("DingTalk"),
    "alertmanager": "Alertmanager",
}
ALL_KINDS = {"portal": gettext_lazy("Inbox of the portal"), **KINDS}
WEEK = {
    "0": gettext_lazy("Mon"),
    "1": gettext_lazy("Tue"),
    "2": gettext_lazy("Wed"),
    "3": gettext_lazy("Thu"),
    "4": gettext_lazy("Fri"),
    "5": gettext_lazy("Sat"),
    "6": gettext_lazy("Sun"),
}


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """Channels, routes, and what became of the last words."""
    refuse_unless(may(request.standing, Verb.ALERT_MANAGE))
    return render(request, "pages/alerts/ways.html", _context(request))


@page("POST")
def channel_new(request: HtmxRequest) -> HttpResponse:
    """A new channel."""
    given = {name: _text(request, name) for name in ("name", "kind", "url", "secret", "to")}
    return _tried(request, lambda: channel_make(actor=Actor.of(request.user), **given), given)


@page("POST")
@refusal_as_toast
def channel_act(request: HtmxRequest, uid: str, verb: str) -> HttpResponse:
    """Test it, switch it, remove it."""
    refuse_unless(may(request.standing, Verb.ALERT_MANAGE))
    row = found(AlertChannel.objects.all(), uid)
    actor = Actor.of(request.user)
    if verb == "test":
        error = channel_test(channel=row, actor=actor)
        if error:
            said = _("The test was not taken: %(why)s") % {"why": error}
            messages.warning(request, said)
        else:
            messages.success(request, _("The test was taken."))
    elif verb in {"on", "off"}:
        channel_change(channel=row, actor=actor, enabled=verb == "on")
    elif verb == "remove":
        channel_remove(channel=row, actor=actor)
    return go(request, reverse("alert-ways"))


@page("POST")
def route_new(request: HtmxRequest) -> HttpResponse:
    """A new route."""
    given = {name: _text(request, name) for name in ("family", "severity", "zone", "closed")}

    def make() -> None:
        channel = found(AlertChannel.objects.all(), _text(request, "channel"))
        team = _text(request, "project")
        project = found(Project.objects.all(), team) if team else None
        route_make(
            channel=channel,
            actor=Actor.of(request.user),
            family=given["family"],
            severity=given["severity"],
            project=project,
            days=[int(one) for one in request.POST.getlist("days") if one in WEEK],
            start_minute=_minute(_text(request, "start"), 0),
            end_minute=_minute(_text(request, "end"), 1440),
            zone=given["zone"] or "UTC",
            closed_dates=_dates(given["closed"]),
        )

    return _tried(request, make, {})


@page("POST")
@refusal_as_toast
def route_act(request: HtmxRequest, uid: str, verb: str) -> HttpResponse:
    """Switch it, remove it."""
    refuse_unless(may(request.standing, Verb.ALERT_MANAGE))
    row = found(AlertRoute.objects.select_related("channel", "project"), uid)
    actor = Actor.of(request.user)
    if verb in {"on", "off"}:
        route_change(route=row, actor=actor, enabled=verb == "on")
    elif verb == "remove":
        route_remove(route=row, actor=actor)
    return go(request, reverse("alert-ways"))


@page("POST")
@refusal_as_toast
def again(request: HtmxRequest, uid: str) -> HttpResponse:
    """A dead letter tries its luck again."""
    refuse_unless(may(request.standing, Verb.ALERT_MANAGE))
    row = found(AlertDelivery.objects.all(), uid)
    delivery_again(delivery=row, actor=Actor.of(request.user))
    messages.success(request, _("It is sent again within seconds."))
    return go(request, reverse("alert-ways"))


def _tried(request: HtmxRequest, make: Callable[[], Any], given: dict[str, str]) -> HttpResponse:
    """Make it, or show the page with what was wrong."""
    refuse_unless(may(request.standing, Verb.ALERT_MANAGE))
    try:
        make()
    except Invalid as refused:
        said = [text for texts in refused.detail.values() for text in texts]
        context = _context(request) | {"refused": " ".join(said), "given": given}
        return render(request, "pages/alerts/ways.html", context, status=422)
    except PoolError as refused:
        context = _context(request) | {"refused": str(refused), "given": given}
        return render(request, "pages/alerts/ways.html", context, status=refused.status)
    return go(request, reverse("alert-ways"))


def _context(request: HtmxRequest) -> dict[str, Any]:
    ways_there()
    rows = AlertDelivery.objects.select_related("alert__rule", "channel")
    dead = request.GET.get("which") == "dead"
    shown = newest_first(request, rows.filter(given_up_at__isnull=False) if dead else rows, 20)
    routes = AlertRoute.objects.select_related("channel", "project").order_by("channel", "pk")
    return {
        "channels": [(one, ALL_KINDS[one.kind]) for one in AlertChannel.objects.all()],
        "routes": [_route(one) for one in routes],
        "page": shown,
        "words": [(one, title_of(one.alert)) for one in shown.rows],
        "dead": dead,
        "dead_count": rows.filter(given_up_at__isnull=False).count(),
        "kinds": KINDS,
        "families": FAMILY_WORDS,
        "severities": SEVERITY_WORDS,
        "week": WEEK,
        "projects": Project.objects.order_by("name"),
        "zone": request.user.zone or "UTC",
        "given": {},
    }


def _route(row: AlertRoute) -> dict[str, Any]:
    hours = f"{row.start_minute // 60:02d}:{row.start_minute % 60:02d}"
    hours += f" – {row.end_minute // 60:02d}:{row.end_minute % 60:02d}"
    always = len(set(row.days)) == 7 and (row.start_minute, row.end_minute) == (0, 1440)
    return {
        "row": row,
        "family": FAMILY_WORDS.get(row.family, ""),
        "severity": SEVERITY_WORDS.get(row.severity, ""),
        "always": always,
        "days": [WEEK[str(one)] for one in sorted(set(row.days))],
        "hours": hours,
    }


def _text(request: HtmxRequest, name: str) -> str:
    return request.POST.get(name, "").replace("\0", "").strip()[:1000]


def _minute(text: str, default: int) -> int:
    """Minutes of the day of HH:MM; 00:00 as an end is midnight."""
    hour, _colon, minute = text.partition(":")
    if not (hour.isascii() and hour.isdigit() and minute.isascii() and minute.isdigit()):
        return default
    found_minute = min(1440, int(hour[:2]) * 60 + int(minute[:2]))
    return default if default == 1440 and found_minute == 0 else found_minute


def _dates(text: str) -> list[date]:
    """Days, apart by commas or blanks.

    Raises:
        Invalid: one is none.
    """
    try:
        return [date.fromisoformat(one) for one in text.replace(",", " ").split()]
    except ValueError as odd:
        raise Invalid(closed_dates=_("Days as 2027-01-01, apart by commas.")) from odd

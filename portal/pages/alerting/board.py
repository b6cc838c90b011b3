"""Alerts: hardware beside performance, one alert with its number over time, what people do."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from pool.clock import now
from pool.errors import Invalid
from pool.events import Actor
from pool.models import Alert
from pool.rules.alerting.terms import Family, Severity
from pool.selectors.alerting.board import OPEN, Line, board_of
from pool.selectors.alerts import alert_list, alert_project, silence_list
from pool.services.alerting.acts import alert_let_go, alert_take
from pool.services.alerting.people import owners_tell
from pool.services.alerting.silences import silence_end, silence_make, silences_in_force
from pool.services.alerting.tell import matcher_of, told_of
from portal.access.guards import found, guard, may
from portal.access.roles import Verb
from portal.notices.channels.words import FAMILY_WORDS, SEVERITY_WORDS, number_words, title_of
from portal.pages.alerting.picture import picture_of
from portal.pages.alerting.service import SERVICE, about, service_act, service_of
from portal.pages.htmx import HtmxRequest, fragment, go, page, refusal_as_toast, toast
from portal.pages.lists import newest_first

MOST = 300
"""So many open alerts are shown; the rest is counted."""

SPANS = {
    "1": gettext_lazy("1 hour"),
    "8": gettext_lazy("8 hours"),
    "24": gettext_lazy("1 day"),
    "168": gettext_lazy("7 days"),
    "720": gettext_lazy("30 days"),
}
SHOWS = {
    "": gettext_lazy("open"),
    "firing": gettext_lazy("nobody has taken"),
    "resolved": gettext_lazy("over"),
}


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """The board: two columns, grouped by place."""
    asked = {name: request.GET.get(name, "") for name in ("state", "severity", "family", "q")}
    rows = _narrowed(alert_list(standing=request.standing), asked)
    if asked["state"] == "resolved":
        shown = newest_first(request, rows.filter(state="resolved"))
        columns, count = _columns(shown.rows), len(shown.rows)
    else:
        shown = None
        states = ("firing",) if asked["state"] == "firing" else OPEN
        listed = list(rows.filter(state__in=states)[: MOST + 1])
        columns, count = _columns(listed[:MOST]), len(listed)
    context = {
        "columns": columns,
        "page": shown,
        "count": count,
        "more": count > MOST,
        "asked": asked,
        "shows": SHOWS,
        "severities": SEVERITY_WORDS,
        "families": FAMILY_WORDS,
        "silences": silence_list(standing=request.standing).filter(
            pk__in=silences_in_force().values("pk")
        ),
        "manages": may(request.standing, Verb.ALERT_MANAGE),
    }
    return fragment(request, "pages/alerts/index.html", "pages/alerts/_board.html", context)


@page("GET")
def detail(request: HtmxRequest, uid: str) -> HttpResponse:
    """One alert."""
    row = found(alert_list(standing=request.standing), uid)
    return fragment(
        request, "pages/alerts/detail.html", "pages/alerts/_detail.html", _one(request, row)
    )


@page("POST")
@refusal_as_toast
def act(request: HtmxRequest, uid: str, verb: str) -> HttpResponse:
    """Take it, let it go, silence it, tell the owners, take a card or node out of service."""
    row = found(alert_list(standing=request.standing), uid)
    guard(request.standing, Verb.ALERT_ACT, alert_project(row))
    if verb in SERVICE:
        guard(request.standing, Verb.NODE_MANAGE)
    actor = Actor.of(request.user)
    said = _done(request, row, verb, actor)
    if not request.htmx:
        return go(request, reverse("alert", args=[uid]))
    fresh = alert_list(standing=request.standing).get(pk=row.pk)
    response = render(request, "pages/alerts/_detail.html", _one(request, fresh))
    return toast(response, "success", said)


@page("POST")
@refusal_as_toast
def silence_over(request: HtmxRequest, uid: str) -> HttpResponse:
    """Words go out again."""
    row = found(silence_list(standing=request.standing), uid)
    guard(request.standing, Verb.ALERT_ACT, row.project)
    silence_end(silence=row, actor=Actor.of(request.user))
    return go(request, reverse("alerts"))


def _done(request: HtmxRequest, row: Alert, verb: str, actor: Actor) -> str:
    if verb == "take":
        note = request.POST.get("note", "").replace("\0", "")
        alert_take(alert=row, actor=actor, note=note)
        return _("You have taken it.")
    if verb == "let-go":
        alert_let_go(alert=row, actor=actor)
        return _("It is anybody's again.")
    if verb == "silence":
        hours = request.POST.get("hours", "")
        if hours not in SPANS:
            raise Invalid(hours=_("Choose how long."))
        silence_make(
            rule=row.rule,
            subject=row.subject,
            project=alert_project(row),
            ends_at=now() + timedelta(hours=int(hours)),
            reason=request.POST.get("reason", "").replace("\0", ""),
            actor=actor,
        )
        return _("Its word stays in the house for now.")
    if verb == "owners":
        told = owners_tell(alert=row)
        return ngettext("%(n)s person was told.", "%(n)s people were told.", told) % {"n": told}
    if verb in SERVICE:
        return service_act(alert=row, verb=verb, reason=request.POST.get("reason", ""), actor=actor)
    raise Invalid(verb=_("Not known."))


def _narrowed(rows: QuerySet[Alert], asked: dict[str, str]) -> QuerySet[Alert]:
    for name in ("severity", "family"):
        if asked[name] in {*Severity, *Family, "books"}:
            rows = rows.filter(**{name: asked[name]})
    return rows.filter(title__icontains=asked["q"][:80]) if asked["q"] else rows


def _columns(rows: Sequence[Alert]) -> list[dict[str, Any]]:
    """Hardware, and everything else; each by place, the worst place first."""
    lines = board_of(rows)
    hardware = [one for one in lines if one.alert.family == Family.HARDWARE]
    others = [one for one in lines if one.alert.family != Family.HARDWARE]
    return [
        _column("hardware", _("Hardware"), _("told at any hour"), hardware),
        _column("performance", _("Performance and work"), _("told in working hours"), others),
    ]


def _column(key: str, title: str, hint: str, lines: list[Line]) -> dict[str, Any]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        groups.setdefault(line.place or _("The pool"), []).append(shown_of(line))
    counts = {
        name: sum(1 for one in lines if one.alert.severity == name) for name in SEVERITY_WORDS
    }
    ordered = sorted(groups.items(), key=lambda one: (-_worst(one[1]), one[0]))
    tally = [(name, SEVERITY_WORDS[name], n) for name, n in reversed(counts.items()) if n]
    return {"key": key, "title": title, "hint": hint, "groups": ordered, "tally": tally}


def _worst(shown: list[dict[str, Any]]) -> int:
    order = list(SEVERITY_WORDS)
    return max(order.index(one["alert"].severity) for one in shown)


def shown_of(line: Line) -> dict[str, Any]:
    """One line as templates read it."""
    row = line.alert
    metric = row.rule.metric if row.rule is not None else ""
    return {
        "alert": row,
        "line": line,
        "title": title_of(row),
        "severity": SEVERITY_WORDS.get(row.severity, row.severity),
        "value": number_words(metric, row.value) if metric else "",
        "limit": number_words(metric, row.threshold) if metric else "",
    }


def _one(request: HtmxRequest, row: Alert) -> dict[str, Any]:
    (line,) = board_of([row])
    past = alert_list(standing=request.standing).filter(key=row.key, fired_at__isnull=False)
    history = list(past.exclude(pk=row.pk)[:20])
    noun, _colon, uid = row.subject.partition(":")
    card, node = about(row)
    manages = may(request.standing, Verb.NODE_MANAGE)
    told = told_of(row)
    return {
        **shown_of(line),
        "words": line.words,
        "hit": line.hit,
        "history": history,
        "mtbf": _between(row, history),
        "picture": picture_of(row),
        "card": card,
        "node": node,
        "service": service_of(row) if manages else "",
        "work_uid": uid if noun == "workload" else "",
        "acts": may(request.standing, Verb.ALERT_ACT, alert_project(row)),
        "manages": may(request.standing, Verb.ALERT_MANAGE),
        "spans": SPANS,
        "quiet": [one for one in silences_in_force() if matcher_of(one).matches(told)],
    }


def _between(row: Alert, history: Sequence[Alert]) -> float | None:
    """Mean seconds between two firings of the same condition; None before the second."""
    moments = [one.fired_at for one in (row, *history) if one.fired_at is not None]
    if len(moments) < 2:
        return None
    return (max(moments) - min(moments)).total_seconds() / (len(moments) - 1)

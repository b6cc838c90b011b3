"""Alert rules: the list, the editor, and what a rule would have done over stored data."""

import secrets
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pool.clock import now
from pool.errors import PoolError
from pool.events import Actor
from pool.models import AlertRule
from pool.rules.alerting.metrics import METRICS
from pool.selectors.alerting.backtest import back_test
from pool.services.alerting.rules import (
    FIELDS,
    rule_change,
    rule_make,
    rule_problems,
    rule_remove,
    rule_reset,
    rules_there,
)
from pool.services.refusals import refuse
from portal.access.guards import found, may
from portal.access.roles import Verb
from portal.notices.channels.words import (
    FAMILY_WORDS,
    METRIC_WORDS,
    SEVERITY_WORDS,
    number_words,
)
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page, refusal_as_toast, refuse_unless

SCOPES = {
    "card": gettext_lazy("each card"),
    "node": gettext_lazy("each node"),
    "partition": gettext_lazy("each partition"),
    "project": gettext_lazy("each team"),
    "workload": gettext_lazy("each workload"),
    "pool": gettext_lazy("the whole pool"),
}
AGGREGATES = {
    "mean": gettext_lazy("mean"),
    "p95": gettext_lazy("95th percentile"),
    "max": gettext_lazy("highest"),
    "min": gettext_lazy("lowest"),
    "last": gettext_lazy("newest"),
    "increase": gettext_lazy("increase"),
}
SIDES = {"above": gettext_lazy("above"), "below": gettext_lazy("below")}
DAYS = {"1": gettext_lazy("1 day"), "7": gettext_lazy("7 days"), "28": gettext_lazy("28 days")}
REFUSED = {
    "not_kept": gettext_lazy(
        "What this rule judges is not kept, so it cannot be tried on the past."
    ),
    "too_much": gettext_lazy("That is too much data to look through at once. Try fewer days."),
}
SECONDS = gettext_lazy("In seconds: 60 is a minute, 3600 an hour, 604800 a week.")


def _choice(label: Any, known: dict[str, Any]) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=list(known.items()))


class RuleForm(forms.Form):
    """One rule."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=120)
    family = _choice(
        gettext_lazy("Family"), {k: v for k, v in FAMILY_WORDS.items() if k != "books"}
    )
    severity = _choice(gettext_lazy("Severity"), SEVERITY_WORDS)
    metric = forms.ChoiceField(
        label=gettext_lazy("Number"),
        choices=[(key, f"{METRIC_WORDS[key]} ({METRICS[key].unit})") for key in METRICS],
    )
    scope = _choice(gettext_lazy("Of"), SCOPES)
    aggregate = _choice(gettext_lazy("Taken as"), AGGREGATES)
    window_seconds = forms.IntegerField(
        label=gettext_lazy("Over"), min_value=1, max_value=28 * 86_400, help_text=SECONDS
    )
    side = _choice(gettext_lazy("Is bad when"), SIDES)
    threshold = forms.FloatField(label=gettext_lazy("Limit"))
    clear_threshold = forms.FloatField(
        label=gettext_lazy("Well again at"),
        required=False,
        help_text=gettext_lazy("Left empty: at the limit itself."),
    )
    for_seconds = forms.IntegerField(
        label=gettext_lazy("Fires after"), min_value=0, max_value=604_800, help_text=SECONDS
    )
    clear_seconds = forms.IntegerField(
        label=gettext_lazy("Is over after being well for"),
        min_value=0,
        max_value=604_800,
        help_text=SECONDS,
    )
    held_only = forms.BooleanField(
        label=gettext_lazy("Only while work holds the card"), required=False
    )
    enabled = forms.BooleanField(label=gettext_lazy("Switched on"), required=False)

    @property
    def texts(self) -> list[forms.BoundField]:
        """Everything but the two switches."""
        return [self[name] for name in FIELDS if name not in {"held_only", "enabled"}]

    @property
    def switches(self) -> list[forms.BoundField]:
        """The two switches."""
        return [self["held_only"], self["enabled"]]


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """All rules by family, with what they say in words."""
    rules_there()
    rows = list(AlertRule.objects.all())
    families = [
        (words, [(one, said_of(one)) for one in rows if one.family == family])
        for family, words in FAMILY_WORDS.items()
    ]
    context = {
        "families": [(words, listed) for words, listed in families if listed],
        "manages": may(request.standing, Verb.ALERT_MANAGE),
    }
    return render(request, "pages/alerts/rules.html", context)


@page("GET", "POST")
def new(request: HtmxRequest) -> HttpResponse:
    """A rule of one's own."""
    refuse_unless(may(request.standing, Verb.ALERT_MANAGE))
    start = {
        **{"family": "performance", "severity": "warning", "metric": "util", "scope": "card"},
        **{"aggregate": "mean", "window_seconds": 3600, "side": "below", "threshold": 20},
        **{"for_seconds": 0, "clear_seconds": 300, "enabled": True},
    }
    form = RuleForm(request.POST or None, initial=start)
    if request.method == "POST" and form.is_valid():
        name = form.cleaned_data["name"]
        slug = f"{slugify(name)[:50] or 'rule'}-{secrets.token_hex(3)}"
        try:
            rule_make(slug=slug, actor=Actor.of(request.user), **form.cleaned_data)
        except PoolError as refused:
            take_refusal(form, refused)
        else:
            messages.success(request, _("The rule holds from now on."))
            return go(request, reverse("alert-rules"))
    status = 422 if form.errors else 200
    return render(request, "pages/alerts/rule.html", _context(form, None), status=status)


@page("GET", "POST")
def detail(request: HtmxRequest, uid: str) -> HttpResponse:
    """One rule: change it, try it on the past."""
    refuse_unless(may(request.standing, Verb.ALERT_MANAGE))
    row = found(AlertRule.objects.all(), uid)
    values = {name: getattr(row, name) for name in FIELDS}
    form = RuleForm(request.POST if request.method == "POST" else None, initial=values)
    if request.method == "POST" and form.is_valid():
        try:
            rule_change(rule=row, actor=Actor.of(request.user), **form.cleaned_data)
        except PoolError as refused:
            take_refusal(form, refused)
        else:
            messages.success(request, _("Saved."))
            return go(request, reverse("alert-rules"))
    status = 422 if form.errors else 200
    return render(request, "pages/alerts/rule.html", _context(form, row), status=status)


@page("POST")
@refusal_as_toast
def act(request: HtmxRequest, uid: str, verb: str) -> HttpResponse:
    """Reset or remove it."""
    refuse_unless(may(request.standing, Verb.ALERT_MANAGE))
    row = found(AlertRule.objects.all(), uid)
    actor = Actor.of(request.user)
    if verb == "reset":
        rule_reset(rule=row, actor=actor)
        messages.success(request, _("The rule is as it came."))
    elif verb == "remove":
        rule_remove(rule=row, actor=actor)
        messages.success(request, _("The rule is gone."))
    return go(request, reverse("alert-rules"))


@page("POST")
def tried(request: HtmxRequest) -> HttpResponse:
    """What the values of the form would have done; nothing is saved."""
    refuse_unless(may(request.standing, Verb.ALERT_MANAGE))
    form = RuleForm(request.POST)
    days = request.POST.get("days", "7")
    context: dict[str, Any] = {"days": days if days in DAYS else "7", "day_words": DAYS}
    if not form.is_valid():
        return render(request, "pages/alerts/_tried.html", context | {"invalid": True}, status=422)
    rule = AlertRule(**form.cleaned_data)
    try:
        refuse(rule_problems(rule))
    except PoolError as refused:
        context |= {"refused": str(refused)}
        return render(request, "pages/alerts/_tried.html", context, status=422)
    test = back_test(rule=rule, days=int(context["days"]), at=now())
    context |= {
        "test": test,
        "refused": REFUSED.get(test.refused, ""),
        "firings": [(one, number_words(rule.metric, one.worst)) for one in test.firings[:50]],
        "things_hit": len({one.subject for one in test.firings}),
    }
    return render(request, "pages/alerts/_tried.html", context)


def said_of(rule: AlertRule) -> str:
    """The rule as one sentence."""
    words = {
        "metric": METRIC_WORDS[rule.metric],
        "scope": SCOPES[rule.scope],
        "side": SIDES[rule.side],
        "limit": number_words(rule.metric, rule.threshold),
        "aggregate": AGGREGATES[rule.aggregate],
    }
    return _("%(metric)s (%(aggregate)s), %(scope)s: %(side)s %(limit)s") % words


def _context(form: RuleForm, row: AlertRule | None) -> dict[str, Any]:
    return {"form": form, "rule": row, "day_words": DAYS, "days": "7"}

"""Alert rules: read by everybody, changed by those who run the pool; back-tested by both."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.clock import now
from pool.models import AlertRule
from pool.rules.alerting.metrics import METRICS
from pool.rules.alerting.terms import Aggregate, Family, Scope, Severity, Side
from pool.selectors.alerting.backtest import back_test
from pool.services.alerting.rules import rule_change, rule_make, rule_remove, rule_reset
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Filters, Given, Nothing
from portal.api.v1.alerting.shapes import BackTestOut, RuleOut

LONGEST_S = 28 * 86_400


class RulePart(Given):
    """Values to change; those left out stay."""

    name = serializers.CharField(max_length=120, required=False)
    family = serializers.ChoiceField(choices=[f.value for f in Family], required=False)
    severity = serializers.ChoiceField(choices=[s.value for s in Severity], required=False)
    metric = serializers.ChoiceField(choices=sorted(METRICS), required=False)
    scope = serializers.ChoiceField(choices=[s.value for s in Scope], required=False)
    aggregate = serializers.ChoiceField(choices=[a.value for a in Aggregate], required=False)
    window_seconds = serializers.IntegerField(min_value=0, max_value=LONGEST_S, required=False)
    side = serializers.ChoiceField(choices=[s.value for s in Side], required=False)
    threshold = serializers.FloatField(required=False)
    clear_threshold = serializers.FloatField(required=False, allow_null=True)
    for_seconds = serializers.IntegerField(min_value=0, max_value=LONGEST_S, required=False)
    clear_seconds = serializers.IntegerField(min_value=0, max_value=LONGEST_S, required=False)
    held_only = serializers.BooleanField(required=False)
    enabled = serializers.BooleanField(required=False)


class RuleIn(RulePart):
    """A new rule."""

    slug = serializers.SlugField(max_length=63)
    name = serializers.CharField(max_length=120)
    family = serializers.ChoiceField(choices=[f.value for f in Family])
    severity = serializers.ChoiceField(choices=[s.value for s in Severity])
    metric = serializers.ChoiceField(choices=sorted(METRICS))
    scope = serializers.ChoiceField(choices=[s.value for s in Scope])
    aggregate = serializers.ChoiceField(choices=[a.value for a in Aggregate])
    window_seconds = serializers.IntegerField(min_value=0, max_value=LONGEST_S)
    side = serializers.ChoiceField(choices=[s.value for s in Side])
    threshold = serializers.FloatField()


class DaysIn(Given):
    """How many days back to look."""

    days = serializers.IntegerField(min_value=1, max_value=28, default=7)


class RuleFilters(Filters):
    """Filters of the list."""

    family = serializers.CharField(max_length=12, required=False)
    enabled = serializers.BooleanField(required=False, allow_null=True, default=None)


class AlertRuleDoor(Listed):
    """Rules are the same for everybody; whoever runs the pool changes them."""

    serializer_class = RuleOut
    filters = RuleFilters
    queryset = AlertRule.objects.none()
    takes = {
        "create": RuleIn,
        "partial_update": RulePart,
        "backtest": DaysIn,
        "reset": Nothing,
    }
    gives = {"create": (201, RuleOut), "destroy": (204, None), "backtest": (200, BackTestOut)}

    def rows(self) -> QuerySet[AlertRule]:
        """All."""
        return AlertRule.objects.order_by("-pk")

    def create(self, request: Request) -> Response:
        """A new one; it is looked at within seconds."""
        self.allow(Verb.ALERT_MANAGE)
        return self.said(rule_make(actor=self.actor, **self.taken()))

    def partial_update(self, request: Request, uid: str) -> Response:
        """Other values; open alerts are judged by them at the next look."""
        row = self.one()
        self.allow(Verb.ALERT_MANAGE)
        return self.said(rule_change(rule=row, actor=self.actor, **self.taken()))

    def destroy(self, request: Request, uid: str) -> Response:
        """Gone; built-in rules can only be switched off."""
        row = self.one()
        self.allow(Verb.ALERT_MANAGE)
        rule_remove(rule=row, actor=self.actor)
        return self.said(row)

    @action(detail=True, methods=["post"])
    def reset(self, request: Request, uid: str) -> Response:
        """A built-in rule as it came."""
        row = self.one()
        self.allow(Verb.ALERT_MANAGE)
        self.taken()
        return self.said(rule_reset(rule=row, actor=self.actor))

    @action(detail=True, methods=["post"])
    def backtest(self, request: Request, uid: str) -> Response:
        """What it would have done over stored data; changes nothing."""
        row = self.one()
        self.allow(Verb.ALERT_MANAGE)
        given: dict[str, Any] = self.taken()
        return self.said(back_test(rule=row, days=given["days"], at=now()))

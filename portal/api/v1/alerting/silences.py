"""Silences: nothing leaves the house for a while."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.errors import NotYours
from pool.models import AlertRule, AlertSilence
from pool.rules.alerting.terms import Family, Severity
from pool.selectors.alerts import silence_list
from pool.services.alerting.silences import silence_end, silence_make
from portal.access.guards import guard
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Filters, Given, Nothing
from portal.api.v1.alerting.shapes import SilenceOut
from portal.api.v1.references import project_named


class SilenceIn(Given):
    """At least one of rule, subject, family, severity and project is needed; `severity` is the
    least that is silenced.
    """

    rule = serializers.SlugField(max_length=63, required=False)
    subject = serializers.CharField(max_length=80, required=False, default="", allow_blank=True)
    family = serializers.ChoiceField(
        choices=[f.value for f in Family], required=False, default="", allow_blank=True
    )
    severity = serializers.ChoiceField(
        choices=[s.value for s in Severity], required=False, default="", allow_blank=True
    )
    project = serializers.SlugField(max_length=63, required=False)
    ends_at = serializers.DateTimeField()
    reason = serializers.CharField(max_length=400)


class SilenceFilters(Filters):
    """Filters of the list."""

    project = serializers.SlugField(max_length=63, required=False)


class AlertSilenceDoor(Listed):
    """Those of one's own teams; a platform admin sees all."""

    serializer_class = SilenceOut
    filters = SilenceFilters
    queryset = AlertSilence.objects.none()
    takes = {"create": SilenceIn, "end": Nothing}
    gives = {"create": (201, SilenceOut)}

    def rows(self) -> QuerySet[AlertSilence]:
        """The caller's own."""
        return silence_list(standing=self.standing)

    def narrowed(self, rows: QuerySet[AlertSilence], **asked: Any) -> QuerySet[AlertSilence]:
        """By team."""
        return rows.filter(project__slug=asked["project"]) if "project" in asked else rows

    def create(self, request: Request) -> Response:
        """Silence what is named; of one team, whoever leads it, else whoever runs the pool."""
        given = self.taken()
        project = given.pop("project", None)
        if project is not None:
            given["project"] = project_named(self.standing, project)
            guard(self.standing, Verb.ALERT_ACT, given["project"])
        else:
            self.allow(Verb.ALERT_MANAGE)
        slug = given.pop("rule", None)
        if slug is not None:
            given["rule"] = AlertRule.objects.filter(slug=slug).first()
            if given["rule"] is None:
                raise NotYours
        return self.said(silence_make(actor=self.actor, **given))

    @action(detail=True, methods=["post"])
    def end(self, request: Request, uid: str) -> Response:
        """From now on words go out again."""
        row: AlertSilence = self.one()
        self.allow(Verb.ALERT_ACT, row.project)
        self.taken()
        return self.said(silence_end(silence=row, actor=self.actor))

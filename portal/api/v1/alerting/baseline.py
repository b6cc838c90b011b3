"""The baseline week of nodes by hours, and what the numbers of a workload point to."""

from typing import Any
from zoneinfo import available_timezones

from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.errors import Invalid
from pool.models import Node
from pool.rules.alerting.diagnosis import UNITS, diagnose
from pool.selectors.alerting.figures import figures_of_work
from pool.selectors.workloads import workload_list
from portal.api.door import Door
from portal.api.fields import Given
from portal.pages.alerting.baseline import baseline_for


class HourOut(serializers.Serializer[Any]):
    """One hour of one weekday (Monday 0). Per cent; null is unknown, never 0."""

    weekday = serializers.IntegerField()
    hour = serializers.IntegerField()
    util = serializers.FloatField(allow_null=True)
    util_p95 = serializers.FloatField(allow_null=True)
    sm = serializers.FloatField(allow_null=True)
    sm_p95 = serializers.FloatField(allow_null=True)
    occupancy = serializers.FloatField(allow_null=True)
    occupancy_p95 = serializers.FloatField(allow_null=True)
    memory = serializers.FloatField(allow_null=True)
    memory_p95 = serializers.FloatField(allow_null=True)
    tasks = serializers.FloatField()
    tasks_p95 = serializers.FloatField()
    wait_s = serializers.FloatField(allow_null=True)
    wait_s_p95 = serializers.FloatField(allow_null=True)
    fitted = serializers.FloatField(
        help_text="work that waited then, on average, though these cards could have held it"
    )
    empty = serializers.BooleanField()


class BaselineOut(serializers.Serializer[Any]):
    """168 hours. `enough` is false while fewer than seven days are measured."""

    since = serializers.DateTimeField()
    until = serializers.DateTimeField()
    days = serializers.IntegerField()
    enough = serializers.BooleanField()
    hours = HourOut(many=True)


class BaselineIn(Given):
    """Whose week, over how many days back, and in which zone."""

    node = serializers.CharField(max_length=48, required=False)
    days = serializers.IntegerField(min_value=7, max_value=28, default=7)
    zone = serializers.CharField(max_length=64, default="UTC")


class DiagnoseIn(Given):
    """Which workload."""

    workload = serializers.CharField(max_length=48)


class FindingOut(serializers.Serializer[Any]):
    """One hint with the numbers behind it: name, value, unit, and what it was held against."""

    key = serializers.CharField()
    title = serializers.CharField()
    why = serializers.CharField()
    do = serializers.CharField()
    numbers = serializers.ListField(child=serializers.DictField())


class DiagnosisOut(serializers.Serializer[Any]):
    """`figures` are all numbers that were looked at; null is unknown."""

    figures = serializers.DictField()
    findings = FindingOut(many=True)


class BaselineDoor(Door):
    """Numbers about the pool and about one's own work; asking changes nothing."""

    takes = {"create": BaselineIn, "diagnose": DiagnoseIn}
    gives = {"create": (200, BaselineOut), "diagnose": (200, DiagnosisOut)}

    def create(self, request: Request) -> Response:
        """The week by hours, of one node or of all; observe-only nodes too."""
        given = self.taken()
        if given["zone"] not in available_timezones():
            raise Invalid(zone=_("No such time zone."))
        uid = given.get("node")
        node = Node.objects.exclude(state="retired").filter(uid=uid).first() if uid else None
        if uid and node is None:
            raise Invalid(node=_("No such node."))
        return self.said(baseline_for(node=node, days=given["days"], zone=given["zone"]))

    @action(detail=False, methods=["post"])
    def diagnose(self, request: Request) -> Response:
        """Hints about the newest run of a workload that the caller may read."""
        uid = self.taken()["workload"]
        work = workload_list(standing=self.standing).filter(uid=uid).first()
        if work is None:
            raise Invalid(workload=_("No such workload."))
        looked = figures_of_work(workload=work)
        figures = looked.figures if looked is not None else {}
        return self.said({"figures": figures, "findings": _findings(figures)})


def _findings(figures: dict[str, float | None]) -> list[dict[str, Any]]:
    return [
        {
            "key": one.hint.key,
            "title": _(one.hint.title),
            "why": _(one.hint.why),
            "do": _(one.hint.do),
            "numbers": [
                {"name": name, "value": value, "unit": UNITS.get(name, ""), "against": against}
                for name, value, against in one.numbers
            ],
        }
        for one in diagnose(figures)
    ]

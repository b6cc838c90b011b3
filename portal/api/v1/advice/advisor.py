"""Ask the advisor: a few answers, and what serves best here."""

from typing import Any

from django.utils.translation import gettext
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from pool.errors import Invalid
from pool.models import Project
from pool.rules.advisor import MOST_GB, MOST_NUMBER, Answers
from pool.rules.advisor_table import LOADS, TALKS, TASKS
from pool.selectors.approvals.advice import PoolSize
from portal.access.guards import guard
from portal.access.roles import Verb
from portal.api.door import Door
from portal.api.fields import Given
from portal.api.v1.references import project_named
from portal.pages.advisor.judged import Told, tell
from portal.pages.answers import Priced

MOST_SECONDS = 366 * 86_400


class AdviceIn(Given):
    """Answers; what is left out is as usual for the task. Memory in nominal GB of one piece."""

    project = serializers.SlugField(max_length=63)
    task = serializers.ChoiceField(choices=[one["name"] for one in TASKS])
    memory_gb = serializers.IntegerField(min_value=1, max_value=MOST_GB, required=False)
    number = serializers.IntegerField(min_value=1, max_value=MOST_NUMBER, default=1)
    seconds = serializers.IntegerField(min_value=60, max_value=MOST_SECONDS, required=False)
    communication = serializers.ChoiceField(choices=[name for name, _ in TALKS], required=False)
    load = serializers.ChoiceField(choices=[name for name, _ in LOADS], required=False)
    apart = serializers.BooleanField(default=False)


class WayOut(serializers.Serializer[Any]):
    """One way to meet the need. Losses in percent and in seconds over the time, money in 10⁻⁶."""

    partition = serializers.CharField()
    card = serializers.CharField()
    mode = serializers.CharField()
    profile = serializers.CharField()
    isolation = serializers.CharField()
    usable_mib = serializers.IntegerField()
    compute_milli = serializers.IntegerField()
    waste_percent = serializers.FloatField()
    loss_percent = serializers.ListField(child=serializers.FloatField())
    loss_seconds = serializers.ListField(child=serializers.FloatField())
    per_hour_micro = serializers.IntegerField(allow_null=True)
    total_micro = serializers.IntegerField(allow_null=True)
    currency = serializers.CharField()


class BarredOut(serializers.Serializer[Any]):
    """A way that is not offered, and why."""

    card = serializers.CharField()
    mode = serializers.CharField()
    why = serializers.CharField()


class PoolOut(serializers.Serializer[Any]):
    """How a pool of so many cards of one kind is best cut and run."""

    partition = serializers.CharField(source="partition.slug")
    card = serializers.CharField(source="label")
    cards = serializers.IntegerField()
    advice = serializers.SerializerMethodField()

    def get_advice(self, size: PoolSize) -> str:
        """The sentence of the table, in the caller's language."""
        return gettext(size.text)


class AdviceOut(serializers.Serializer[Any]):
    """The advice. `request` is a body for POST requests; waits in seconds, null when unknown."""

    template = serializers.CharField(allow_null=True)
    request = serializers.DictField(allow_null=True)
    why = serializers.CharField()
    best = WayOut(allow_null=True)
    others = WayOut(many=True)
    not_offered = BarredOut(many=True)
    wait_p50_s = serializers.FloatField(allow_null=True)
    wait_p90_s = serializers.FloatField(allow_null=True)
    needs_approval = serializers.BooleanField()
    steps = serializers.ListField(child=serializers.CharField())
    sharing = serializers.CharField()
    sharing_text = serializers.CharField()
    pools = PoolOut(many=True)


class AdviceDoor(Door):
    """Nothing is kept: ask as often as you like, within the limit of calls."""

    serializer_class = AdviceOut
    queryset = Project.objects.none()
    takes = {"create": AdviceIn}
    gives = {"create": (200, AdviceOut)}

    def create(self, request: Request) -> Response:
        """What serves best, what it costs, when it could start, and who decides."""
        given = self.taken()
        project = project_named(self.standing, given.pop("project"))
        guard(self.standing, Verb.REQUEST_MAKE, project)
        answers = Answers(
            task=given["task"],
            memory_gb=given.get("memory_gb"),
            number=given["number"],
            seconds=given.get("seconds", 0),
            communication=given.get("communication", ""),
            load=given.get("load", ""),
            apart=given["apart"],
        )
        told = tell(project=project, user=self.user, standing=self.standing, answers=answers)
        if told.refused:
            raise Invalid(**{name: str(problem) for name, problem in told.refused.items()})
        return self.said(_said(told, project))


def _said(told: Told, project: Project) -> dict[str, Any]:
    advised = told.advice.advised if told.advice else None
    answer, effects = told.answer, told.effects
    usable = answer is not None and answer.best is not None
    return {
        "template": advised.template or None if advised else None,
        "request": _body(told, project) if usable else None,
        "why": told.why,
        "best": _way(answer.best) if answer and answer.best else None,
        "others": [_way(one) for one in answer.others] if answer else [],
        "not_offered": [
            {"card": one.option.label, "mode": one.option.mode, "why": str(why)}
            for one, why in (answer.refused if answer else [])
        ],
        "wait_p50_s": effects.half_s if effects else None,
        "wait_p90_s": effects.most_s if effects else None,
        "needs_approval": not answer.free if answer else True,
        "steps": [str(one) for one in answer.steps] if answer else [],
        "sharing": advised.verdict if advised else "",
        "sharing_text": told.verdict,
        "pools": told.sizes,
    }


def _body(told: Told, project: Project) -> dict[str, Any]:
    assert told.advice is not None and told.advice.version is not None
    advised, version = told.advice.advised, told.advice.version
    return {
        "project": project.slug,
        "template": advised.template,
        "need": dict(advised.overrides),
        "copies": advised.copies,
        "duration_seconds": min(
            told.answers.seconds or version.default_seconds, version.max_seconds
        ),
    }


def _way(one: Priced) -> dict[str, Any]:
    return {
        "partition": one.placed.partition.slug,
        "card": one.option.label,
        "mode": one.option.mode,
        "profile": one.option.profile,
        "isolation": one.isolation,
        "usable_mib": one.option.memory_mib,
        "compute_milli": one.option.compute_milli,
        "waste_percent": one.option.waste_percent,
        "loss_percent": list(one.option.loss_percent),
        "loss_seconds": list(one.slower),
        "per_hour_micro": one.quote.per_hour_micro,
        "total_micro": one.quote.total_micro,
        "currency": one.quote.currency,
    }

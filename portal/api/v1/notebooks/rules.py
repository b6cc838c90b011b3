"""Rules of idleness over REST."""

from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.errors import Forbidden
from pool.lifecycle.idleness import IdleAction
from pool.models import IdleRule, Template
from pool.rules.idling.words import (
    DAY_MINUTES,
    LEAST_S,
    MOST_KEEPS,
    MOST_REASON,
    MOST_S,
    MOST_WARNINGS,
)
from pool.selectors.notebooks.preview import Touched, touched_by
from pool.selectors.notebooks.rules import rule_list
from pool.selectors.templates import template_list
from pool.services.notebooks.rules import SCOPES, WORDS, idle_rule_remove, idle_rule_set
from portal.access.guards import anywhere
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Filters, Given
from portal.api.v1.references import partition_named, project_named


class IdleRuleOut(serializers.ModelSerializer[IdleRule]):
    """Whom it is for (null: everybody), and what holds. Seconds; minutes of the owner's day."""

    project = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    template = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    partition = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)

    class Meta:
        model = IdleRule
        fields = ["uid", *SCOPES, *WORDS, "changed_at"]


def _minute() -> serializers.IntegerField:
    return serializers.IntegerField(
        min_value=0, max_value=DAY_MINUTES - 1, required=False, allow_null=True
    )


class IdleRuleChange(Given):
    """What changes; what is left out stays."""

    idle_seconds = serializers.IntegerField(min_value=LEAST_S, max_value=MOST_S, required=False)
    warn_minutes = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=DAY_MINUTES),
        max_length=MOST_WARNINGS,
        required=False,
    )
    keeps = serializers.IntegerField(min_value=0, max_value=MOST_KEEPS, required=False)
    action = serializers.ChoiceField(choices=[one.value for one in IdleAction], required=False)
    busy_counts = serializers.BooleanField(required=False)
    cpu_counts = serializers.BooleanField(required=False)
    quiet_from = _minute()
    quiet_until = _minute()
    reason = serializers.CharField(
        max_length=MOST_REASON, required=False, allow_blank=True, default=""
    )


class IdleRuleIn(IdleRuleChange):
    """A new rule; a scope that is left out means all."""

    idle_seconds = serializers.IntegerField(min_value=LEAST_S, max_value=MOST_S)
    project = serializers.CharField(max_length=63, required=False, allow_null=True)
    template = serializers.CharField(max_length=63, required=False, allow_null=True)
    partition = serializers.CharField(max_length=63, required=False, allow_null=True)


class TouchedOut(serializers.Serializer[Touched]):
    """A notebook that would follow another rule. Seconds."""

    workload = serializers.CharField(source="workload.uid")
    name = serializers.CharField(source="workload.name")
    owner = serializers.CharField(source="workload.owner.username")
    idle_seconds_before = serializers.IntegerField(source="before.idle_s")
    idle_seconds_after = serializers.IntegerField(source="after.idle_s")
    quiet_seconds = serializers.FloatField(source="quiet_s")


class IdlePreviewOut(serializers.Serializer[Any]):
    """Which notebooks that run now would follow another rule."""

    touched = TouchedOut(many=True)


class IdleRuleDoor(Listed):
    """Rules for all, and those of projects that the caller may read."""

    serializer_class = IdleRuleOut
    filters = Filters
    queryset = IdleRule.objects.none()
    takes = {
        "create": IdleRuleIn,
        "partial_update": IdleRuleChange,
        "preview": IdleRuleIn,
    }
    gives = {
        "create": (201, IdleRuleOut),
        "destroy": (204, None),
        "preview": (200, IdlePreviewOut),
    }

    def rows(self) -> QuerySet[IdleRule]:
        """What the caller may know of."""
        return rule_list(standing=self.standing)

    def create(self, request: Request) -> Response:
        """Set a rule: platform admins for all, admins of an organization for its projects."""
        return self.said(idle_rule_set(rule=None, actor=self.actor, **self._words()))

    def partial_update(self, request: Request, uid: str) -> Response:
        """Change it; whom it is for stays."""
        row = self.one()
        self.allow(Verb.IDLE_SET, row.project)
        idle_rule_set(rule=row, actor=self.actor, **self.taken())
        return self.said(self.one())

    def destroy(self, request: Request, uid: str) -> Response:
        """Take it away: the next wider rule holds."""
        row = self.one()
        self.allow(Verb.IDLE_SET, row.project)
        idle_rule_remove(rule=row, actor=self.actor)
        return self.said(None)

    @action(detail=False, methods=["post"])
    def preview(self, request: Request) -> Response:
        """Who would be touched by such a rule; nothing is set."""
        words = self._words()
        scope = {name: words[name] for name in SCOPES}
        usual = {k: v for k, v in WORDS.items() if k != "idle_seconds"} | {"idle_seconds": 0}
        rule = IdleRule(**scope, **{name: words.get(name, usual[name]) for name in WORDS})
        same = {f"{name}_id": getattr(one, "pk", None) for name, one in scope.items()}
        old = IdleRule.objects.filter(**same).values_list("pk", flat=True).first()
        found = touched_by(standing=self.standing, rule=rule, instead_of=old)
        return self.said({"touched": found})

    def _words(self) -> dict[str, Any]:
        """The body, with rows for names, once the caller may set a rule there."""
        if not anywhere(self.standing, Verb.IDLE_SET):
            raise Forbidden
        given = self.taken()
        project = given.get("project")
        given["project"] = project_named(self.standing, project) if project else None
        self.allow(Verb.IDLE_SET, given["project"])
        partition = given.get("partition")
        given["partition"] = partition_named(self.standing, partition) if partition else None
        given["template"] = self._template(given.get("template"))
        return given

    def _template(self, slug: str | None) -> Template | None:
        """Another organization's is as unknown as a wrong name."""
        if not slug:
            return None
        row = template_list(standing=self.standing).filter(slug=slug).first()
        if row is None:
            raise serializers.ValidationError(
                {"template": [_("Not known: %(names)s.") % {"names": slug}]}
            )
        return row

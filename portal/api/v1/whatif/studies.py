"""What-ifs: asked, followed, read, shared, copied, cancelled, deleted."""

from functools import cached_property
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.translation import gettext as _
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.errors import Forbidden, Invalid
from pool.lifecycle.studies import Share, StudyKind, StudyState
from pool.models import Study, Trace
from pool.rules.whatif.compare import Lot
from pool.selectors.whatif.studies import (
    HEAVY,
    Reader,
    known_for,
    study_list,
    trace_list,
)
from pool.services.whatif.studies import (
    study_cancel,
    study_change,
    study_create,
    study_delete,
)
from portal.access.guards import anywhere, found, own
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Filters, FreeJSON, Given, Nothing
from portal.pages.whatif.detail import comparison_csv, outcome
from portal.pages.whatif.reach import home_of


class StudyIn(Given):
    """What is asked. `changes` has lists by section: cards, quotas, priorities, templates,
    partitions, and an object of numbers; what is not named stays as it was.
    """

    name = serializers.CharField(max_length=80)
    comment = serializers.CharField(max_length=400, required=False, default="", allow_blank=True)
    record = serializers.CharField(max_length=48)
    kind = serializers.ChoiceField(
        choices=[one.value for one in StudyKind], required=False, default="scenario"
    )
    changes = FreeJSON()
    target_seconds = serializers.IntegerField(
        min_value=60, max_value=30 * 86_400, required=False, allow_null=True, default=None
    )


class StudyChangeIn(Given):
    """Another name, comment or circle of readers."""

    name = serializers.CharField(max_length=80, required=False)
    comment = serializers.CharField(max_length=400, required=False, allow_blank=True)
    share = serializers.ChoiceField(choices=[one.value for one in Share], required=False)


class StudyCopyIn(Given):
    """The same question under another name, on the same record, with these sections instead."""

    name = serializers.CharField(max_length=80)
    changes = FreeJSON(required=False, default=dict)


class StudyRow(serializers.ModelSerializer[Study]):
    """A what-if as lists show it. Progress in thousandths.

    `changes` that name what belongs to other organizations are counted as `hidden_changes`.
    """

    record = serializers.CharField(source="trace.uid")
    owner = serializers.CharField(source="owner.username")
    changes = serializers.DictField()
    hidden_changes = serializers.IntegerField(default=0)
    target_seconds = serializers.IntegerField(source="target_s", allow_null=True)

    def to_representation(self, instance: Study) -> dict[str, Any]:
        """With the scenario as the caller may read it."""
        seen, hidden = self.context["view"].reader.changes(instance)
        return super().to_representation(instance) | {"changes": seen, "hidden_changes": hidden}

    class Meta:
        model = Study
        fields = [
            "uid",
            "name",
            "comment",
            "kind",
            "record",
            "owner",
            "share",
            "changes",
            "hidden_changes",
            "target_seconds",
            "state",
            "state_since",
            "state_reason",
            "progress_milli",
            "digest",
            "took_s",
            "created_at",
            "started_at",
            "ended_at",
        ]


class TeamOut(serializers.Serializer[Any]):
    """One team before and after. Waits in seconds, money in 10⁻⁶ of the currency."""

    team = serializers.CharField()
    outcome = serializers.ChoiceField(choices=[one.value for one in Lot])
    before = serializers.DictField()
    after = serializers.DictField()
    cost_before_micro = serializers.IntegerField(allow_null=True)
    cost_after_micro = serializers.IntegerField(allow_null=True)


class CardOptionOut(serializers.Serializer[Any]):
    """One model that was searched; `needed` is null where no number of it does. Money is what the
    cards that are missing cost in an hour, sold whole.
    """

    partition = serializers.CharField()
    model = serializers.CharField()
    there = serializers.IntegerField()
    needed = serializers.IntegerField(allow_null=True)
    p95_wait_s = serializers.FloatField(allow_null=True)
    digest = serializers.CharField()
    more = serializers.IntegerField(allow_null=True)
    hour_micro = serializers.IntegerField(allow_null=True)


class ComparisonOut(serializers.Serializer[Any]):
    """Both outcomes side by side, of the teams that the caller may know."""

    before = serializers.DictField()
    after = serializers.DictField()
    teams = TeamOut(many=True)
    hidden_teams = serializers.IntegerField()
    currency = serializers.CharField()
    needed_cards = serializers.IntegerField(allow_null=True)
    options = CardOptionOut(many=True)
    steps = serializers.ListField(child=serializers.DictField())
    digest_before = serializers.CharField()
    digest_after = serializers.CharField()


class StudyFilters(Filters):
    """Filters of the list."""

    state = serializers.ChoiceField(choices=[one.value for one in StudyState], required=False)
    kind = serializers.ChoiceField(choices=[one.value for one in StudyKind], required=False)


class StudyDoor(Listed):
    """For those who plan capacity: their own what-ifs and those shared with them."""

    serializer_class = StudyRow
    queryset = Study.objects.none()
    filters = StudyFilters
    takes = {
        "create": StudyIn,
        "partial_update": StudyChangeIn,
        "copy": StudyCopyIn,
        "cancel": Nothing,
    }
    gives = {
        "create": (status.HTTP_201_CREATED, StudyRow),
        "copy": (status.HTTP_201_CREATED, StudyRow),
        "cancel": (200, StudyRow),
        "comparison": (200, ComparisonOut),
        "export": (200, None),
        "destroy": (204, None),
    }

    def rows(self) -> QuerySet[Study]:
        """Readable ones; figures are read only where they are told."""
        rows = study_list(standing=self.standing)
        return rows if self.action in ("comparison", "export") else rows.defer(*HEAVY)

    @cached_property
    def reader(self) -> Reader:
        """The caller, with the names that they may know."""
        return Reader.of(self.standing)

    def create(self, request: Request) -> Response:
        """Ask; the answer comes in the background."""
        if not anywhere(self.standing, Verb.CAPACITY_PLAN):
            raise Forbidden
        given = self.taken()
        trace = found(trace_list(standing=self.standing), given["record"])
        return self.said(self._made(trace, given, given["changes"]))

    def partial_update(self, request: Request, uid: str) -> Response:
        """Rename, comment, share."""
        row = self._own()
        given = self.taken()
        if given.get("share") == Share.PLATFORM and not self.standing.platform:
            raise Forbidden
        study_change(study=row, actor=self.actor, **given)
        return self.said(self.one())

    def destroy(self, request: Request, uid: str) -> Response:
        """Delete one's own that is over."""
        study_delete(study=self._own(), actor=self.actor)
        return self.said(None)

    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, uid: str) -> Response:
        """Let it be; a running one is left within seconds."""
        row = self._own()
        self.taken()
        study_cancel(study=row, actor=self.actor)
        return self.said(self.one())

    @action(detail=True, methods=["post"])
    def copy(self, request: Request, uid: str) -> Response:
        """Ask again under another name, with some sections changed.

        Sections that name what belongs to other organizations must be said anew.
        """
        row = self.one()
        given = self.taken()
        row.changes = {
            name: rows for name, rows in row.changes.items() if name not in given["changes"]
        }
        seen, hidden = self.reader.changes(row)
        if hidden:
            raise Invalid(changes=_("It changes what belongs to others: say these sections anew."))
        words = {
            "name": given["name"],
            "comment": row.comment,
            "kind": row.kind,
            "target_seconds": row.target_s,
        }
        return self.said(self._made(row.trace, words, seen | given["changes"]))

    @action(detail=True, methods=["get"])
    def comparison(self, request: Request, uid: str) -> Response:
        """Both outcomes; 400 while there are none."""
        row = self._finished()
        shown = outcome(self, row)
        return self.said(
            {
                "before": shown["total"][0],
                "after": shown["total"][1],
                "teams": [
                    {
                        "team": one["fared"].team,
                        "outcome": one["fared"].lot.value,
                        "before": one["fared"].before,
                        "after": one["fared"].after,
                        "cost_before_micro": one["costs"][0],
                        "cost_after_micro": one["costs"][1],
                    }
                    for one in shown["teams"]
                ],
                "hidden_teams": shown["hidden"],
                "currency": shown["currency"],
                "needed_cards": shown["needed"],
                "options": shown["options"],
                "steps": shown["steps"],
                "digest_before": (row.baseline or {})["digest"],
                "digest_after": (row.result or {})["digest"],
            }
        )

    @action(detail=True, methods=["get"])
    def export(self, request: Request, uid: str) -> HttpResponse:
        """The comparison as CSV, one line a team and side."""
        row = self._finished()
        text = comparison_csv(row, outcome(self, row))
        return HttpResponse(text, content_type="text/csv; charset=utf-8")

    def _made(self, trace: Trace, given: dict[str, Any], changes: dict[str, Any]) -> Study:
        return study_create(
            name=given["name"],
            comment=given["comment"],
            trace=trace,
            changes=changes,
            known=known_for(standing=self.standing, trace=trace),
            user=self.user,
            organization=home_of(self.standing),
            actor=self.actor,
            kind=given["kind"],
            target_s=given["target_seconds"],
        )

    def _own(self) -> Study:
        row: Study = self.one()
        return own(self.standing, row)

    def _finished(self) -> Study:
        row: Study = self.one()
        if row.state != StudyState.DONE:
            raise Invalid(state=_("It has no outcome yet."))
        return row

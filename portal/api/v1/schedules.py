"""Work that is submitted again and again at the times of a cron line."""

from functools import partial
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from nodeagent.protocol.vocabulary import Silence
from pool.cron import LONGEST
from pool.lifecycle.roles import Priority, RankDeath
from pool.lifecycle.schedules import Outcome, ScheduleState
from pool.models import Schedule, ScheduleRun
from pool.rules.schedules import Missed, Overlap
from pool.selectors.series.schedules import next_times, schedule_list, schedule_runs
from pool.services.catalogue.judging import given_from
from pool.services.series.firing import schedule_run_now
from pool.services.series.schedules import (
    LEASE_SECONDS,
    schedule_change,
    schedule_create,
    schedule_end,
    schedule_pause,
    schedule_resume,
)
from portal.access.guards import guard
from portal.access.roles import Verb
from portal.access.weights import weights_for
from portal.api.door import Listed
from portal.api.fields import Filters, FreeJSON, Nothing, PlainMap
from portal.api.v1.catalogue.shapes import GivenIn, GivenOut, changed, wanted
from portal.api.v1.references import partitions_named, project_named, template_named
from portal.api.v1.series_shapes import ArrayIn
from portal.api.v1.workload_series import HoldIn

MOST_SECONDS = 366 * 86_400
HEAVY = ("command", "env", "files", "comment")
OPEN_PRIORITIES = [one.value for one in Priority if one is not Priority.CRITICAL]


class Words(GivenIn):
    """What is run, and when; times of `cron` are meant in the organization's zone.

    Five fields: minute hour day month weekday. `overlap`: when the run before still lives, skip
    this one, queue it behind, or replace that one. `missed`: of times that passed while the pool
    was away, run once or skip them.
    """

    name = serializers.CharField(max_length=63, required=False)
    command = serializers.ListField(
        child=serializers.CharField(max_length=32 * 1024, allow_blank=True, trim_whitespace=False),
        min_length=1,
        max_length=1024,
        required=False,
    )
    env = PlainMap(most=256, required=False)
    files = PlainMap(most=256, required=False, help_text="Texts put beside the command, by name.")
    priority = serializers.ChoiceField(choices=OPEN_PRIORITIES, required=False)
    silence = serializers.ChoiceField(choices=[s.value for s in Silence], required=False)
    runs = serializers.IntegerField(
        min_value=0, max_value=100, required=False, help_text="Retries of each run that fails."
    )
    image = serializers.CharField(
        max_length=255,
        required=False,
        allow_blank=True,
        help_text="Each run is a container of this image; without one, a process of the node.",
    )
    on_rank_death = serializers.ChoiceField(
        choices=[one.value for one in RankDeath], required=False
    )
    rendezvous_seconds = serializers.IntegerField(min_value=1, max_value=86_400, required=False)
    comment = serializers.CharField(max_length=4000, required=False, allow_blank=True)
    cron = serializers.CharField(max_length=LONGEST, required=False)
    overlap = serializers.ChoiceField(choices=[one.value for one in Overlap], required=False)
    missed = serializers.ChoiceField(choices=[one.value for one in Missed], required=False)


class ScheduleIn(Words):
    """A new schedule. Where the allowance does not hold a run, one request is for all of them."""

    project = serializers.SlugField(max_length=63)
    template = serializers.SlugField(max_length=63)
    command = serializers.ListField(
        child=serializers.CharField(max_length=32 * 1024, allow_blank=True, trim_whitespace=False),
        min_length=1,
        max_length=1024,
    )
    cron = serializers.CharField(max_length=LONGEST)
    need = FreeJSON(default=dict, help_text="What differs from the template.")
    partitions = serializers.ListField(
        child=serializers.SlugField(max_length=63), max_length=20, default=list
    )
    expected_seconds = serializers.IntegerField(
        min_value=1, max_value=MOST_SECONDS, required=False, allow_null=True, default=None
    )
    array = ArrayIn(required=False, allow_null=True, default=None)
    lease_seconds = serializers.IntegerField(
        min_value=3600,
        max_value=MOST_SECONDS,
        default=LEASE_SECONDS,
        help_text="For how long a request is made where one is needed.",
    )


class ScheduleRow(serializers.ModelSerializer[Schedule]):
    """A schedule as lists show it."""

    project = serializers.CharField(source="project.slug")
    owner = serializers.CharField(source="owner.username")
    template = serializers.CharField(source="template_version.template.slug")
    zone = serializers.CharField(source="project.organization.zone")
    request = serializers.SlugRelatedField[Any](slug_field="uid", read_only=True)
    need = serializers.DictField()

    class Meta:
        model = Schedule
        fields = [
            "uid",
            "name",
            "project",
            "owner",
            "template",
            "cron",
            "zone",
            "overlap",
            "missed",
            "state",
            "state_since",
            "state_reason",
            "next_at",
            "request",
            "need",
            "expected_seconds",
            "array_spec",
            "array_throttle",
            "priority",
            "runs",
            "created_at",
            "example",
        ]


class ScheduleOut(GivenOut, ScheduleRow):
    """One schedule, with what it runs and its next five times."""

    command = serializers.ListField(child=serializers.CharField())
    env = serializers.DictField(child=serializers.CharField())
    files = serializers.DictField(child=serializers.CharField())
    next_times = serializers.SerializerMethodField()

    class Meta(ScheduleRow.Meta):
        fields = [
            *ScheduleRow.Meta.fields,
            "command",
            "env",
            "files",
            "silence",
            "image",
            "storage",
            "secrets",
            "environment",
            "on_rank_death",
            "rendezvous_seconds",
            "comment",
            "next_times",
        ]

    @extend_schema_field(serializers.ListField(child=serializers.DateTimeField()))
    def get_next_times(self, row: Schedule) -> list[str]:
        """The next five, in UTC; none while it is paused."""
        return [one.strftime("%Y-%m-%dT%H:%M:%SZ") for one in next_times(schedule=row)]


class RunOut(serializers.ModelSerializer[ScheduleRun]):
    """One time of a schedule, with the work it made, or why it made none."""

    workload = serializers.SlugRelatedField[Any](slug_field="uid", read_only=True)
    state = serializers.CharField(source="workload.state", default=None, allow_null=True)
    outcome = serializers.ChoiceField(choices=[one.value for one in Outcome])

    class Meta:
        model = ScheduleRun
        fields = ["due_at", "handled_at", "outcome", "why", "workload", "state"]


class ScheduleFilters(Filters):
    """Filters of the list."""

    state = serializers.ChoiceField(
        choices=[ScheduleState.ACTIVE.value, ScheduleState.PAUSED.value], required=False
    )
    project = serializers.SlugField(max_length=63, required=False)
    owner = serializers.CharField(max_length=150, required=False)
    template = serializers.SlugField(max_length=63, required=False)


class ScheduleDoor(Listed):
    """Schedules of the projects whose work the caller may read."""

    serializer_class = ScheduleOut
    filters = ScheduleFilters
    sorts = {"name": "name", "next": "next_at"}
    searched = ("name", "owner__username")
    queryset = Schedule.objects.none()
    takes = {
        "create": ScheduleIn,
        "partial_update": Words,
        "pause": HoldIn,
        "resume": Nothing,
        "run": Nothing,
    }
    gives = {
        "list": (200, ScheduleRow),
        "create": (201, ScheduleOut),
        "destroy": (204, None),
        "run": (201, RunOut),
    }

    def rows(self) -> QuerySet[Schedule]:
        """The caller's own, without those that have ended."""
        rows = schedule_list(standing=self.standing)
        return rows.defer(*HEAVY) if self.action == "list" else rows

    def narrowed(self, rows: QuerySet[Schedule], **asked: Any) -> QuerySet[Schedule]:
        """By state, project, owner and template."""
        paths = {
            "project": "project__slug",
            "owner": "owner__username",
            "template": "template_version__template__slug",
        }
        return rows.filter(**{paths.get(name, name): value for name, value in asked.items()})

    def create(self, request: Request) -> Response:
        """A new schedule; its first run is at the next time of its line."""
        given = self.taken()
        project = project_named(self.standing, given.pop("project"))
        guard(self.standing, Verb.WORK_SUBMIT, project)
        version = template_named(self.standing, project, given.pop("template"))
        places = partitions_named(project, given.pop("partitions"))
        weigh = partial(
            weights_for,
            project=project,
            version=version,
            overrides=given["need"],
            partitions=places,
            seconds=given["lease_seconds"],
        )
        made = schedule_create(
            user=self.user,
            project=project,
            template_version=version,
            partitions=places,
            weights=weigh,
            actor=self.actor,
            given=wanted(given),
            **given,
        )
        return self.said(made)

    def partial_update(self, request: Request, uid: str) -> Response:
        """Change when it runs, or, as its owner, what; need and size stay as asked for."""
        row = self._mine()
        words = self.taken()
        given = changed(given_from(row.given), words)
        schedule_change(schedule=row, user=self.user, actor=self.actor, given=given, **words)
        return self.said(self.one())

    def destroy(self, request: Request, uid: str) -> Response:
        """End it for good; what it has started goes on."""
        schedule_end(schedule=self._mine(), actor=self.actor)
        return Response(status=204)

    @action(detail=True, methods=["post"])
    def pause(self, request: Request, uid: str) -> Response:
        """Let its times pass without a run."""
        schedule_pause(schedule=self._mine(), actor=self.actor, **self.taken())
        return self.said(self.one())

    @action(detail=True, methods=["post"])
    def resume(self, request: Request, uid: str) -> Response:
        """Run again from the next time on; where its right is over, one is asked for anew."""
        row = self._mine()
        self.taken()
        guard(self.standing, Verb.WORK_SUBMIT, row.project)
        weigh = partial(
            weights_for,
            project=row.project,
            version=row.template_version,
            overrides=row.need,
            partitions=list(row.partitions.all()),
            seconds=LEASE_SECONDS,
        )
        schedule_resume(schedule=row, user=self.user, actor=self.actor, weights=weigh)
        return self.said(self.one())

    @action(detail=True, methods=["post"])
    def run(self, request: Request, uid: str) -> Response:
        """One run now, beside its times."""
        row = self._mine()
        self.taken()
        guard(self.standing, Verb.WORK_SUBMIT, row.project)
        return self.said(schedule_run_now(schedule=row, actor=self.actor))

    @action(detail=True, methods=["get"], pagination_class=None)
    def history(self, request: Request, uid: str) -> Response:
        """What became of its newest 200 times."""
        rows = schedule_runs(schedule=self.one())[:200]
        return Response({"results": RunOut(rows, many=True).data})

    def _mine(self) -> Schedule:
        row: Schedule = self.one()
        guard(self.standing, Verb.WORK_STOP, row)
        return row

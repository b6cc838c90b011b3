"""The queue in order: one's own work with its reason, others' only as a number."""

from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from pool.cycle.dryrun import PLANNED, Trial, dry_run
from pool.models.workloads import CARVING, Workload
from pool.rules.policies import numbers_from
from pool.scheduling.model import Policy, Reason
from pool.selectors.partitions import partition_list
from pool.selectors.queue import NEW, Cursor, Turn, queue_narrow, queue_part
from pool.selectors.rounds import team_waits
from pool.selectors.workloads import workload_list
from pool.services.queueing.steer import wait_target_set
from pool.services.refusals import refusing
from portal.access.roles import Verb
from portal.api.door import Listing
from portal.api.fields import Filters, FreeJSON, Given
from portal.api.pagination import Pages, read_size, unwrap, wrap
from portal.explained import looked

REASONS = [NEW, CARVING, *(one.value for one in Reason)]


class TurnOut(serializers.Serializer[Any]):
    """One line: a workload of one's own, or (`others`) so many of other teams side by side.

    `starts_at` to `starts_late_at` is when it is expected to start; null is not known.
    """

    others = serializers.IntegerField()
    uid = serializers.CharField(allow_null=True)
    name = serializers.CharField(allow_null=True)
    project = serializers.CharField(allow_null=True)
    owner = serializers.CharField(allow_null=True)
    priority = serializers.CharField(allow_null=True)
    position = serializers.IntegerField(allow_null=True)
    waits = serializers.DictField(allow_null=True)
    starts_at = serializers.DateTimeField(allow_null=True)
    starts_late_at = serializers.DateTimeField(allow_null=True)


class QueueFilters(Filters):
    """Filters of the list; with any of them other teams' work is left out."""

    mine = serializers.BooleanField(required=False, default=False)
    project = serializers.SlugField(max_length=63, required=False, default="")
    partition = serializers.SlugField(max_length=63, required=False, default="")
    reason = serializers.ChoiceField(choices=REASONS, required=False, default="")


class TrialIn(Given):
    """A policy to try, in one partition or in all; what is left out stays as it is."""

    partition = serializers.SlugField(max_length=63, required=False, default="")
    policy = serializers.ChoiceField(choices=[p.value for p in Policy], required=False)
    preemption = serializers.BooleanField(required=False)
    lending = serializers.BooleanField(required=False)
    backfill = serializers.BooleanField(required=False)
    age_full_seconds = serializers.IntegerField(min_value=60, max_value=31_536_000, required=False)
    numbers = FreeJSON(
        required=False, help_text="Other numbers of the rounds, by the names of `policies/numbers`."
    )


class FateOut(serializers.Serializer[Any]):
    """What becomes of one workload: it starts now, or stands at a place with a planned start."""

    now = serializers.BooleanField()
    position = serializers.IntegerField(allow_null=True)
    starts_at = serializers.DateTimeField(allow_null=True)


class TurnedOut(serializers.Serializer[Any]):
    """One workload that the policy would make start sooner (`gains`) or later."""

    uid = serializers.CharField()
    name = serializers.CharField()
    project = serializers.CharField()
    gains = serializers.BooleanField()
    before = FateOut()
    after = FateOut()


class OutcomeOut(serializers.Serializer[Any]):
    """Both plans side by side: how much starts, how much is told to leave, whose fate turns."""

    waiting = serializers.IntegerField()
    starts_before = serializers.IntegerField()
    starts_after = serializers.IntegerField()
    leaves_before = serializers.IntegerField()
    leaves_after = serializers.IntegerField()
    turned = TurnedOut(many=True)


class TargetIn(Given):
    """How long work should wait at most, nineteen times out of twenty."""

    seconds = serializers.IntegerField(min_value=60, max_value=2_592_000)


class WaitOut(serializers.Serializer[Any]):
    """How long a team's work waited in the last 7 days, in seconds; null where none started."""

    project = serializers.CharField(source="slug")
    started = serializers.IntegerField()
    p50_s = serializers.FloatField(allow_null=True)
    p95_s = serializers.FloatField(allow_null=True)
    waiting = serializers.IntegerField()
    oldest_s = serializers.FloatField(allow_null=True)
    target_s = serializers.IntegerField()
    late = serializers.BooleanField()


class WaitsOut(serializers.Serializer[Any]):
    """The teams that the caller may see, longest wait first."""

    results = WaitOut(many=True)


class QueueDoor(Listing):
    """The queue: read it, see how long teams wait, try a policy on it."""

    sortable = False
    serializer_class = TurnOut
    filters = QueueFilters
    queryset = Workload.objects.none()
    takes = {"dry_run": TrialIn, "target": TargetIn}
    gives = {
        "dry_run": (200, OutcomeOut),
        "waits": (200, WaitsOut),
        "target": (200, TargetIn),
    }

    def list(self, request: Request) -> Response:
        """What waits, in order. Work that no round has looked at yet stands at the end."""
        asked = dict(self.asked)
        part = queue_part(
            standing=self.standing,
            wanted=queue_narrow(standing=self.standing, **asked),
            others=not any(asked.values()),
            after=_place(request.query_params.get("cursor", "")),
            size=read_size(request),
        )
        pages = Pages()
        pages._request = request
        pages._next = None if part.after is None else wrap(f"{part.after[0]}.{part.after[1]}")
        pages._previous = None
        rows = TurnOut([_told(turn) for turn in part.turns], many=True).data
        return pages.get_paginated_response(rows)

    @action(detail=False, methods=["get"], pagination_class=None)
    def waits(self, request: Request) -> Response:
        """How long each team's work waits, against the target."""
        return self.said({"results": team_waits(standing=self.standing)})

    @action(detail=False, methods=["post"])
    def target(self, request: Request) -> Response:
        """Set how long work should wait at most."""
        self.allow(Verb.QUEUE_STEER)
        return self.said({"seconds": wait_target_set(actor=self.actor, **self.taken())})

    @action(detail=False, methods=["post"], url_path="dry-run")
    def dry_run(self, request: Request) -> Response:
        """The queue as it is, planned under another policy: who would win, who would lose."""
        self.allow(Verb.QUEUE_STEER)
        given = self.taken()
        found = dry_run(looked(), self._trial(given))
        works = workload_list(standing=self.standing).in_bulk([t.workload for t in found.turned])
        turned = [
            {
                "uid": works[one.workload].uid,
                "name": works[one.workload].name,
                "project": works[one.workload].project.slug,
                "gains": one.gains,
                "before": _fate(one.before),
                "after": _fate(one.after),
            }
            for one in found.turned
            if one.workload in works
        ]
        return self.said(
            {
                "waiting": found.waiting,
                "starts_before": found.starts[0],
                "starts_after": found.starts[1],
                "leaves_before": found.leaves[0],
                "leaves_after": found.leaves[1],
                "turned": turned,
            }
        )

    def _trial(self, given: dict[str, Any]) -> Trial:
        slug = given.pop("partition")
        row = partition_list(standing=self.standing).filter(slug=slug).first() if slug else None
        if slug and row is None:
            raise ValidationError({"partition": [_("There is no such partition.")]})
        age = given.pop("age_full_seconds", None)
        policy = given.pop("policy", None)
        return Trial(
            partition=None if row is None else row.pk,
            policy=None if policy is None else Policy(policy),
            numbers=_numbers(given.pop("numbers", {})),
            age_full_s=None if age is None else float(age),
            **given,
        )


def _numbers(given: Any) -> dict[str, int | bool]:
    """The numbers to try, checked as when they are changed; those alone that a plan depends on."""
    with refusing():
        found = numbers_from(given)
    beside = sorted(found.keys() - PLANNED)
    if beside:
        raise ValidationError({"numbers": [_("No plan depends on %(one)s.") % {"one": beside[0]}]})
    return found


def _place(cursor: str) -> Cursor:
    """The place that a cursor names; the front without one."""
    if not cursor:
        return (-1, 0)
    place, _dot, key = unwrap(cursor).partition(".")
    if not (place.isdigit() and key.isdigit() and len(place) < 12 and len(key) < 19):
        raise ValidationError({"cursor": [_("No such cursor.")]})
    return int(place), int(key)


def _told(turn: Turn) -> dict[str, Any]:
    work = turn.work
    if work is None:
        names = ("uid", "name", "project", "owner", "priority", "position", "waits")
        hidden = dict.fromkeys((*names, "starts_at", "starts_late_at"))
        return hidden | {"others": turn.others}
    waits = work.waits or {}
    return {
        "others": 0,
        "uid": work.uid,
        "name": work.name,
        "project": work.project.slug,
        "owner": work.owner.username,
        "priority": work.priority,
        "position": waits.get("position"),
        "waits": work.waits,
        "starts_at": _moment(waits.get("starts_p50_s") or waits.get("starts_s")),
        "starts_late_at": _moment(waits.get("starts_p90_s")),
    }


def _fate(fate: Any) -> dict[str, Any]:
    return {"now": fate.now, "position": fate.position, "starts_at": _moment(fate.at_s)}


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)

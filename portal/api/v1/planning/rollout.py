"""The roll-out board of each partition over REST: where the steps stand, and the switches."""

from typing import Any

from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.clock import now
from pool.errors import Forbidden
from pool.models import Partition
from pool.models.planning.rollouts import RolloutMove
from pool.rules.planning.rollout import ORDER
from pool.selectors.planning.rollout import boards
from pool.services.planning.rollouts import rollout_switch
from portal.access.roles import Verb
from portal.api.door import Door
from portal.api.fields import Filters, Given
from portal.api.pagination import Pages
from portal.api.v1.references import partition_named
from portal.pages.planning.figures import sees_capacity
from portal.pages.planning.rollout import readable

STEPS = [one.value for one in ORDER]


class RolloutFigures(serializers.Serializer[Any]):
    """One partition over a span: use in thousandths, cards in the mean, waits in seconds."""

    since = serializers.DateTimeField()
    until = serializers.DateTimeField()
    use_milli = serializers.IntegerField(allow_null=True)
    mean_cards = serializers.FloatField()
    started = serializers.IntegerField()
    p50_wait_s = serializers.FloatField(allow_null=True)
    p95_wait_s = serializers.FloatField(allow_null=True)


class RolloutMoveOut(serializers.ModelSerializer[RolloutMove]):
    """One switch: what it changed of the partition, from what (`before`) to what (`after`)."""

    step = serializers.ChoiceField(choices=STEPS)
    before = serializers.DictField()
    after = serializers.DictField()

    class Meta:
        model = RolloutMove
        fields = ["uid", "step", "on", "before", "after", "reason", "actor_label", "at"]


class RolloutStepOut(serializers.Serializer[Any]):
    """One step. `missing` are earlier ones that are not in force; `move` its newest switch.

    `before` is the week before it was switched on, `after` the time since, up to four weeks.
    """

    step = serializers.ChoiceField(choices=STEPS)
    on = serializers.BooleanField()
    missing = serializers.ListField(child=serializers.CharField())
    move = RolloutMoveOut(allow_null=True)
    before = RolloutFigures(allow_null=True)
    after = RolloutFigures(allow_null=True)


class RolloutBoardOut(serializers.Serializer[Any]):
    """The steps of one partition in order; `days` of the last 28 are measured."""

    partition = serializers.CharField(source="partition.slug")
    days = serializers.IntegerField()
    steps = RolloutStepOut(many=True)


class RolloutOut(serializers.Serializer[Any]):
    """A page of the partitions that the caller may use, the oldest first."""

    results = RolloutBoardOut(many=True)
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)


class RolloutFilters(Filters):
    """One partition alone."""

    partition = serializers.SlugField(max_length=63, required=False)


class BoardPages(Pages):
    """Few on a page: the figures of each board are of weeks."""

    page = 10
    most = 20


class RolloutIn(Given):
    """Which step of which partition, on or off, and why.

    `skip` passes over earlier steps that are not in force.
    """

    partition = serializers.SlugField(max_length=63)
    step = serializers.ChoiceField(choices=STEPS)
    on = serializers.BooleanField()
    reason = serializers.CharField(max_length=200)
    skip = serializers.BooleanField(default=False)


class RolloutDoor(Door):
    """For those who run the platform or an organization; who manages partitions switches."""

    queryset = Partition.objects.none()
    serializer_class = RolloutOut
    takes = {"switch": RolloutIn}
    gives = {"board": (200, RolloutOut), "switch": (200, RolloutMoveOut)}
    asks = {"board": RolloutFilters}
    paged = ("board",)
    pagination_class = BoardPages
    oldest_first = True

    @action(detail=False, methods=["get"])
    def board(self, request: Request) -> Response:
        """Where every step of every partition stands, with its figures."""
        if not sees_capacity(self.standing):
            raise Forbidden
        rows = readable(self.standing)
        if "partition" in self.asked:
            rows = rows.filter(pk=partition_named(self.standing, self.asked["partition"]).pk)
        told = boards(self.paginate_queryset(rows) or [], at=now())
        shape = RolloutBoardOut(told, many=True, context=self.get_serializer_context())
        return self.get_paginated_response(shape.data)

    @action(detail=False, methods=["post"])
    def switch(self, request: Request) -> Response:
        """Bring a step about, or take it back: one change of the partition."""
        self.allow(Verb.PARTITION_MANAGE)
        given = self.taken()
        given["partition"] = partition_named(self.standing, given["partition"])
        return self.said(rollout_switch(actor=self.actor, user=self.user, **given))

"""Named sets of cards."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from nodeagent.protocol.vocabulary import Mode
from pool.models import Partition
from pool.rules.partitions import POLICIES
from pool.selectors.partitions import partition_list
from pool.services.partitions import NUMBERS, partition_change, partition_create
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import FreeJSON, Given
from portal.api.v1.references import organization_named
from portal.api.v1.tenants import SlugFilters


class PartitionOut(serializers.ModelSerializer[Partition]):
    """Which cards, how they may be cut, how work is placed."""

    selector = serializers.DictField()
    modes = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = Partition
        fields = [
            "uid",
            "slug",
            "name",
            "selector",
            "modes",
            "policy",
            "preemption",
            "sharing",
            "open_to_all",
            "tolerance_points",
            "give_back_seconds",
            "ceilings",
            "rank",
            "example",
        ]


def switch() -> serializers.BooleanField:
    """A switch that need not be said."""
    return serializers.BooleanField(required=False)


def number(name: str) -> serializers.IntegerField:
    """A number within what the pool takes."""
    return serializers.IntegerField(min_value=0, max_value=NUMBERS[name], required=False)


class PartitionChange(Given):
    """What may change. `selector` names lists of vendors, labels, nodes or cards: all must match.

    `organizations` are the slugs of those for whom it is open when not `open_to_all`.
    """

    name = serializers.CharField(max_length=120, required=False)
    selector = FreeJSON(required=False)
    modes = serializers.ListField(
        child=serializers.ChoiceField(choices=[m.value for m in Mode]),
        min_length=1,
        max_length=len(Mode),
        required=False,
    )
    policy = serializers.ChoiceField(choices=list(POLICIES), required=False)
    preemption = switch()
    sharing = switch()
    open_to_all = switch()
    tolerance_points = number("tolerance_points")
    give_back_seconds = number("give_back_seconds")
    rank = number("rank")
    organizations = serializers.ListField(
        child=serializers.SlugField(max_length=63), max_length=1000, required=False
    )


class PartitionIn(PartitionChange):
    """A new partition; the cards that it takes and that are in none come into it."""

    slug = serializers.CharField(max_length=63)
    name = serializers.CharField(max_length=120)
    selector = FreeJSON()
    modes = serializers.ListField(
        child=serializers.ChoiceField(choices=[m.value for m in Mode]),
        min_length=1,
        max_length=len(Mode),
    )


class PartitionDoor(Listed):
    """Partitions that the caller may use; a platform admin makes and changes them."""

    serializer_class = PartitionOut
    filters = SlugFilters
    queryset = Partition.objects.none()
    takes = {"create": PartitionIn, "partial_update": PartitionChange}
    gives = {"create": (201, PartitionOut)}

    def rows(self) -> QuerySet[Partition]:
        """Open ones, and those of the caller's organizations."""
        return partition_list(standing=self.standing)

    def create(self, request: Request) -> Response:
        """A new partition."""
        self.allow(Verb.PARTITION_MANAGE)
        return self.said(partition_create(actor=self.actor, **self._words()))

    def partial_update(self, request: Request, uid: str) -> Response:
        """Change what is given; cards in use never change their partition."""
        partition = self.one()
        self.allow(Verb.PARTITION_MANAGE)
        return self.said(partition_change(partition=partition, actor=self.actor, **self._words()))

    def _words(self) -> dict[str, Any]:
        given = self.taken()
        if "organizations" in given:
            slugs = dict.fromkeys(given["organizations"])
            given["organizations"] = [organization_named(self.standing, slug) for slug in slugs]
        return given

"""Named sets of cards."""

from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from nodeagent.protocol.vocabulary import Mode
from pool.models import Partition, TrustGroup
from pool.rules.partitions import FOREIGN_WORK, POLICIES, selector_from
from pool.selectors.partitions import partition_list, selector_reach
from pool.services.partitions import NUMBERS, partition_change, partition_create
from pool.services.refusals import refusing
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import FreeJSON, Given
from portal.api.v1.references import organization_named, partition_named
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
            "class_policies",
            "preemption",
            "sharing",
            "lending",
            "foreign_work",
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

    `organizations` are the slugs of those for whom it is open when not `open_to_all`;
    `trust_groups` the names of those that alone may share cards there without hardware isolation.
    `class_policies` gives work classes a placement of their own. `ceilings` are lists by kind
    (`card_sum`, `per_workload`, `card_split`) of {"purposes", "compute_milli", "memory_milli"}.
    `foreign_work` is what becomes of a card that people use without the pool: `block` (it is not
    offered; an alert), `alert` (offered, with an alert), `tolerate` (offered).
    `reason` stands in the history beside the change.
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
    class_policies = FreeJSON(required=False)
    ceilings = FreeJSON(required=False)
    preemption = switch()
    sharing = switch()
    lending = switch()
    open_to_all = switch()
    foreign_work = serializers.ChoiceField(choices=list(FOREIGN_WORK), required=False)
    tolerance_points = number("tolerance_points")
    give_back_seconds = number("give_back_seconds")
    rank = number("rank")
    organizations = serializers.ListField(
        child=serializers.SlugField(max_length=63), max_length=1000, required=False
    )
    trust_groups = serializers.ListField(
        child=serializers.CharField(max_length=120), max_length=1000, required=False
    )
    reason = serializers.CharField(max_length=200, required=False, allow_blank=True)


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


class ReachIn(Given):
    """A selector to try, for a new partition or (by its slug) for one that is there."""

    selector = FreeJSON()
    partition = serializers.SlugField(max_length=63, required=False)


class TakenOut(serializers.Serializer[Any]):
    """Cards of one kind on one node, by where they are now."""

    node = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    here = serializers.IntegerField()
    free = serializers.IntegerField()
    elsewhere = serializers.IntegerField()
    leaving = serializers.IntegerField()


class ReachOut(serializers.Serializer[Any]):
    """What the selector takes; saving is refused where it overlaps or would move cards in use."""

    cards = serializers.IntegerField()
    taken = TakenOut(many=True)
    overlaps = serializers.ListField(child=serializers.CharField())
    in_use = serializers.IntegerField()


class PartitionDoor(Listed):
    """Partitions that the caller may use; a platform admin makes and changes them."""

    serializer_class = PartitionOut
    filters = SlugFilters
    sorts = {"slug": "slug", "name": "name"}
    searched = ("slug", "name")
    queryset = Partition.objects.none()
    takes = {"create": PartitionIn, "partial_update": PartitionChange, "preview": ReachIn}
    gives = {"create": (201, PartitionOut), "preview": (200, ReachOut)}

    def rows(self) -> QuerySet[Partition]:
        """Open ones, and those of the caller's organizations."""
        return partition_list(standing=self.standing)

    def create(self, request: Request) -> Response:
        """A new partition."""
        self.allow(Verb.PARTITION_MANAGE)
        words = self._words()
        words.pop("reason", None)
        return self.said(partition_create(actor=self.actor, **words))

    def partial_update(self, request: Request, uid: str) -> Response:
        """Change what is given; cards in use never change their partition."""
        partition = self.one()
        self.allow(Verb.PARTITION_MANAGE)
        words = self._words()
        made = partition_change(partition=partition, actor=self.actor, user=self.user, **words)
        return self.said(made)

    @action(detail=False, methods=["post"])
    def preview(self, request: Request) -> Response:
        """Which cards a selector would take; nothing is changed."""
        self.allow(Verb.PARTITION_MANAGE)
        given = self.taken()
        row = None
        if "partition" in given:
            row = partition_named(self.standing, given["partition"])
        with refusing():
            selector = selector_from(given["selector"])
        return self.said(selector_reach(selector=selector, partition=row))

    def _words(self) -> dict[str, Any]:
        given = self.taken()
        if "organizations" in given:
            slugs = dict.fromkeys(given["organizations"])
            given["organizations"] = [organization_named(self.standing, slug) for slug in slugs]
        if "trust_groups" in given:
            given["trust_groups"] = _trust_groups(given["trust_groups"])
        return given


def _trust_groups(said: list[str]) -> list[TrustGroup]:
    """A row for each name."""
    found = {one.name: one for one in TrustGroup.objects.filter(name__in=said)}
    unknown = [name for name in said if name not in found]
    if unknown:
        told = _("Not known: %(names)s.") % {"names": ", ".join(unknown)[:200]}
        raise serializers.ValidationError({"trust_groups": [told]})
    return list(found.values())

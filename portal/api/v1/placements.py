"""Who holds what, where and when."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from pool.lifecycle.placements import PlacementState
from pool.models import Hold, Placement
from pool.selectors.placements import placement_list
from portal.api.door import UID, Listed
from portal.api.fields import Filters
from portal.api.v1.attempts import RankOut


class HoldOut(serializers.ModelSerializer[Hold]):
    """One slice, or one node's host share (slice and card null). Sizes in MiB and thousandths."""

    slice = serializers.SlugRelatedField[Any](slug_field="uid", read_only=True)
    card = serializers.SlugRelatedField[Any](slug_field="uid", read_only=True)
    node = serializers.SlugRelatedField[Any](slug_field="name", read_only=True)
    held_from = serializers.DateTimeField(source="held.lower")
    held_until = serializers.DateTimeField(source="held.upper", allow_null=True)

    class Meta:
        model = Hold
        fields = [
            "uid",
            "slice",
            "card",
            "node",
            "mode",
            "isolation",
            "held_from",
            "held_until",
            "equivalents_micro",
            "memory_mib",
            "compute_milli",
            "cpu_milli",
            "ram_mib",
            "disk_mib",
        ]


class PlacementOut(serializers.ModelSerializer[Placement]):
    """An attempt on slices and on the host share of its nodes."""

    workload = serializers.CharField(source="attempt.workload.uid")
    attempt = serializers.IntegerField(source="attempt.number")
    project = serializers.CharField(source="attempt.workload.project.slug")
    partition = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    holds = HoldOut(many=True)
    ranks = RankOut(many=True, source="attempt.ranks")

    class Meta:
        model = Placement
        fields = [
            "uid",
            "workload",
            "attempt",
            "project",
            "partition",
            "state",
            "entitled",
            "opened_at",
            "closed_at",
            "holds",
            "ranks",
        ]


class PlacementFilters(Filters):
    """Filters of the list."""

    state = serializers.ChoiceField(choices=[s.value for s in PlacementState], required=False)
    workload = serializers.RegexField(f"^{UID}$", required=False)
    project = serializers.SlugField(max_length=63, required=False)


class PlacementDoor(Listed):
    """Placements of work that the caller may read."""

    serializer_class = PlacementOut
    filters = PlacementFilters
    queryset = Placement.objects.none()

    def rows(self) -> QuerySet[Placement]:
        """The caller's own."""
        return placement_list(standing=self.standing)

    def narrowed(self, rows: QuerySet[Placement], **asked: Any) -> QuerySet[Placement]:
        """By workload and project."""
        paths = {
            "workload": "attempt__workload__uid",
            "project": "attempt__workload__project__slug",
        }
        return rows.filter(**{paths.get(name, name): value for name, value in asked.items()})

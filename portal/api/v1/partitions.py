"""Named sets of cards."""

from django.db.models import QuerySet
from rest_framework import serializers

from pool.models import Partition
from pool.selectors.partitions import partition_list
from portal.api.door import Listed
from portal.api.v1.tenants import SlugFilters


class PartitionOut(serializers.ModelSerializer[Partition]):
    """Which cards, how they may be cut, how work is placed."""

    modes = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = Partition
        fields = [
            "uid",
            "slug",
            "name",
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


class PartitionDoor(Listed):
    """Partitions that the caller may use."""

    serializer_class = PartitionOut
    filters = SlugFilters
    queryset = Partition.objects.none()

    def rows(self) -> QuerySet[Partition]:
        """Open ones, and those of the caller's organizations."""
        return partition_list(standing=self.standing)

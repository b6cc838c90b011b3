"""What was held, by hold and hour, and what it cost."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from billing.models.usage import Usage
from billing.selectors.usage import usage_list
from portal.api.door import UID, Listed
from portal.api.fields import Filters


class UsageOut(serializers.ModelSerializer[Usage]):
    """The part of one hold in one UTC hour. `amount_micro` is in 10⁻⁶ of the currency.

    It is null while no price is known. `running` rows end where the meter last looked.
    """

    project = serializers.CharField(source="project.slug")
    workload = serializers.CharField(source="workload.uid")
    owner = serializers.CharField(source="owner.username")
    hold = serializers.CharField(source="hold.uid")
    seconds = serializers.SerializerMethodField()

    class Meta:
        model = Usage
        fields = [
            "uid",
            "project",
            "workload",
            "owner",
            "hold",
            "cost_centre",
            "card_model",
            "mode",
            "price_class",
            "hour",
            "starts_at",
            "ends_at",
            "seconds",
            "running",
            "corrected",
            "billable",
            "borrowed",
            "equivalents_micro",
            "memory_mib",
            "compute_milli",
            "cpu_milli",
            "ram_mib",
            "currency",
            "amount_micro",
        ]

    def get_seconds(self, row: Usage) -> float:
        """Seconds held in that hour, exact to the microsecond."""
        return row.reserved_us / 1_000_000


class UsageFilters(Filters):
    """Filters of the list."""

    project = serializers.SlugField(max_length=63, required=False)
    workload = serializers.RegexField(f"^{UID}$", required=False)
    owner = serializers.CharField(max_length=150, required=False)
    since = serializers.DateTimeField(required=False)
    until = serializers.DateTimeField(required=False)


class UsageDoor(Listed):
    """Usage of the projects whose cost the caller may read."""

    serializer_class = UsageOut
    filters = UsageFilters
    queryset = Usage.objects.none()

    def rows(self) -> QuerySet[Usage]:
        """The caller's own."""
        return usage_list(user=self.user)

    def narrowed(self, rows: QuerySet[Usage], **asked: Any) -> QuerySet[Usage]:
        """By project, workload, owner and hour."""
        paths = {
            "project": "project__slug",
            "workload": "workload__uid",
            "owner": "owner__username",
            "since": "hour__gte",
            "until": "hour__lt",
        }
        return rows.filter(**{paths.get(name, name): value for name, value in asked.items()})

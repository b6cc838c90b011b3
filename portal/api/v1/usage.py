"""What was held, or kept idle, by the hour, and what it cost."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from billing.models.usage import KINDS, Usage
from billing.selectors.usage import usage_list
from portal.access.showback import moneyless, with_money
from portal.api.door import UID, Listed
from portal.api.fields import Filters


class UsageOut(serializers.ModelSerializer[Usage]):
    """The part of one hold in one UTC hour. `amount_micro` is in 10⁻⁶ of the currency.

    It is null while no price is known, and where the contract shows use without money. `running`
    rows end where the meter last looked. A row of kind "kept-idle" is of a card kept for a reserved
    `lease`: the part that no work of it held.
    """

    project = serializers.CharField(source="project.slug")
    kind = serializers.ChoiceField(choices=list(KINDS))
    workload = serializers.CharField(source="workload.uid", default=None, allow_null=True)
    owner = serializers.CharField(source="owner.username")
    hold = serializers.CharField(source="hold.uid", default=None, allow_null=True)
    lease = serializers.CharField(
        source="kept.reservation.lease.uid", default=None, allow_null=True
    )
    seconds = serializers.SerializerMethodField()
    used_seconds = serializers.SerializerMethodField()
    known_seconds = serializers.SerializerMethodField()

    class Meta:
        model = Usage
        fields = [
            "uid",
            "kind",
            "project",
            "workload",
            "owner",
            "hold",
            "lease",
            "cost_centre",
            "card_model",
            "mode",
            "price_class",
            "hour",
            "starts_at",
            "ends_at",
            "seconds",
            "used_seconds",
            "known_seconds",
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

    def to_representation(self, row: Usage) -> dict[str, Any]:
        """Without money where the contract says so."""
        said: dict[str, Any] = super().to_representation(row)
        return said | {"amount_micro": None} if moneyless(row) else said

    def get_seconds(self, row: Usage) -> float:
        """Seconds held in that hour, exact to the microsecond."""
        return row.reserved_us / 1_000_000

    def get_used_seconds(self, row: Usage) -> float:
        """For how much of it work was seen running on the card; written when the hour is posted."""
        return row.used_us / 1_000_000

    def get_known_seconds(self, row: Usage) -> float:
        """For how much of it the card was measured: the rest is unknown, not idle."""
        return row.known_us / 1_000_000


class UsageFilters(Filters):
    """Filters of the list."""

    kind = serializers.ChoiceField(choices=list(KINDS), required=False)
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
        return with_money(usage_list(standing=self.standing), self.standing)

    def narrowed(self, rows: QuerySet[Usage], **asked: Any) -> QuerySet[Usage]:
        """By kind, project, workload, owner and hour."""
        paths = {
            "project": "project__slug",
            "workload": "workload__uid",
            "owner": "owner__username",
            "since": "hour__gte",
            "until": "hour__lt",
        }
        return rows.filter(**{paths.get(name, name): value for name, value in asked.items()})

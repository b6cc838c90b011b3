"""How much may be held, is held, and needs no request."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from pool.lifecycle.roles import QuotaKind, QuotaUnit
from pool.models import Quota
from pool.selectors.quotas import quota_list
from portal.api.door import Listed
from portal.api.fields import Filters


class QuotaOut(serializers.ModelSerializer[Quota]):
    """One level of one unit: a limit, an allowance or an entitlement, shown apart."""

    organization = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    project = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    user = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)
    partition = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    limit = serializers.IntegerField(source="limit_value")
    over_by = serializers.SerializerMethodField()

    class Meta:
        model = Quota
        fields = [
            "uid",
            "organization",
            "project",
            "user",
            "partition",
            "card_model",
            "unit",
            "kind",
            "limit",
            "held",
            "over_by",
            "changed_at",
        ]

    def get_over_by(self, row: Quota) -> int:
        """How much more is held than the limit allows."""
        return max(0, row.held - row.limit_value)


class QuotaFilters(Filters):
    """Filters of the list."""

    kind = serializers.ChoiceField(choices=[k.value for k in QuotaKind], required=False)
    unit = serializers.ChoiceField(choices=[u.value for u in QuotaUnit], required=False)
    project = serializers.SlugField(max_length=63, required=False)
    partition = serializers.SlugField(max_length=63, required=False)


class QuotaDoor(Listed):
    """Quota rows of the caller's organizations and projects."""

    serializer_class = QuotaOut
    filters = QuotaFilters
    queryset = Quota.objects.none()

    def rows(self) -> QuerySet[Quota]:
        """The caller's own."""
        return quota_list(standing=self.standing)

    def narrowed(self, rows: QuerySet[Quota], **asked: Any) -> QuerySet[Quota]:
        """By slugs."""
        paths = {"project": "project__slug", "partition": "partition__slug"}
        return rows.filter(**{paths.get(name, name): value for name, value in asked.items()})

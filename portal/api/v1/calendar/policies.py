"""The numbers of scheduling, and the history of them and of partitions."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.models import PolicyVersion
from pool.rules.policies import MOST_REASON, NUMBERS
from pool.selectors.calendar.policies import numbers_now
from pool.services.calendar.history import numbers_change
from pool.services.partitions import partition_revert
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Filters, FreeJSON, Given


class PolicyOut(serializers.ModelSerializer[PolicyVersion]):
    """One version: all values in force after it. `partition` null: the numbers of the rounds."""

    partition = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    by = serializers.CharField(source="actor_label")
    reverts = serializers.SlugRelatedField[Any](slug_field="uid", read_only=True)
    values = serializers.DictField()

    class Meta:
        model = PolicyVersion
        fields = ["uid", "partition", "number", "values", "reason", "by", "reverts", "at"]


class NumbersOut(serializers.Serializer[Any]):
    """Every number in force: switches, and whole numbers in the unit that its name ends with
    (`_s` seconds, `_gb` GB as sold, `_milli` thousandths).
    """

    values = serializers.DictField()


class NumbersIn(Given):
    """The numbers that change, and why; the others stay."""

    values = FreeJSON(help_text=f"Some of: {', '.join(NUMBERS)}.")
    reason = serializers.CharField(max_length=MOST_REASON)


class RevertIn(Given):
    """Why the earlier values are taken again."""

    reason = serializers.CharField(max_length=MOST_REASON)


class PolicyFilters(Filters):
    """Filters of the list. `of` is `numbers` or `partitions`."""

    partition = serializers.SlugField(max_length=63, required=False)
    of = serializers.ChoiceField(choices=["numbers", "partitions"], required=False)


class PolicyDoor(Listed):
    """Versions, newest first, for platform admins; the numbers in force for everybody."""

    serializer_class = PolicyOut
    filters = PolicyFilters
    queryset = PolicyVersion.objects.none()
    takes = {"create": NumbersIn, "revert": RevertIn}
    gives = {"create": (200, NumbersOut), "numbers": (200, NumbersOut)}

    def rows(self) -> QuerySet[PolicyVersion]:
        """All, for those who manage policies; 403 for everybody else."""
        self.allow(Verb.POLICY_MANAGE)
        return PolicyVersion.objects.select_related("partition", "reverts")

    def narrowed(self, rows: QuerySet[PolicyVersion], **asked: Any) -> QuerySet[PolicyVersion]:
        """By partition, or by what they are of."""
        if "of" in asked:
            rows = rows.filter(partition__isnull=asked["of"] == "numbers")
        if "partition" in asked:
            rows = rows.filter(partition__slug=asked["partition"])
        return rows

    @action(detail=False, methods=["get"])
    def numbers(self, request: Request) -> Response:
        """The numbers that the rounds go by now."""
        return self.said({"values": numbers_now()})

    def create(self, request: Request) -> Response:
        """Change numbers; the next round reads them."""
        self.allow(Verb.POLICY_MANAGE)
        numbers_change(actor=self.actor, user=self.user, **self.taken())
        return self.said({"values": numbers_now()})

    @action(detail=True, methods=["post"])
    def revert(self, request: Request, uid: str) -> Response:
        """Take the values of this version again, as a new version."""
        row = self.one()
        reason = self.taken()["reason"]
        if row.partition is not None:
            partition_revert(version=row, actor=self.actor, reason=reason, user=self.user)
        else:
            numbers_change(
                values=row.values, actor=self.actor, reason=reason, user=self.user, reverts=row
            )
        newest = self.rows().filter(partition=row.partition).order_by("-number").first()
        return self.said(newest)

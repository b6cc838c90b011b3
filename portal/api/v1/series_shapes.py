"""What clients say and see of arrays, and of work that runs after other work."""

from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from pool.errors import NotYours
from pool.models import Dependency, Workload
from pool.rules.arrays import LARGEST_INDEX, MOST_PIECES, Array, spec_of
from pool.rules.dependencies import MOST_AFTER, Rule
from pool.selectors.memberships import Standing
from pool.selectors.workloads import workload_list
from pool.services.series.dependencies import After
from portal.api.door import UID
from portal.api.fields import Given


@extend_schema_field(
    {
        "oneOf": [
            {"type": "string", "example": "0-9,20"},
            {"type": "array", "items": {"type": "integer", "minimum": 0}},
        ]
    }
)
class Indices(serializers.Field[str, Any, Any, Any]):
    """Numbers of pieces: a text such as "0-9,20", or a list of whole numbers."""

    def to_internal_value(self, data: Any) -> str:
        """The text.

        Raises:
            ValidationError: neither a short text nor a list of numbers.
        """
        if isinstance(data, str) and len(data) <= 100_000:
            return data
        whole = isinstance(data, list) and len(data) <= MOST_PIECES
        if whole and all(type(one) is int and 0 <= one <= LARGEST_INDEX for one in data):
            return spec_of(data)
        raise serializers.ValidationError(_("A text such as 0-9,20, or a list of numbers."))

    def to_representation(self, value: Any) -> str:
        """As it was said, in its shortest form."""
        return str(value)


class ArrayIn(Given):
    """Many pieces alike: `count` of them from 0 on, or `indices`; `throttle` may run at a time.

    Each piece reads its own number from GPUPOOL_ARRAY_INDEX.
    """

    count = serializers.IntegerField(min_value=1, max_value=MOST_PIECES, required=False)
    indices = Indices(required=False)
    throttle = serializers.IntegerField(
        min_value=1, max_value=MOST_PIECES, required=False, allow_null=True, default=None
    )

    def validate(self, attrs: Any) -> Array:
        """The array in the pool's words.

        Raises:
            ValidationError: not exactly one of count and indices.
        """
        if ("count" in attrs) == ("indices" in attrs):
            raise serializers.ValidationError(_("Say either count or indices."))
        spec = attrs["indices"] if "indices" in attrs else f"0-{attrs['count'] - 1}"
        return Array(spec, attrs["throttle"])


class AfterIn(Given):
    """One other that must have kept a rule first.

    `share` (above 0, at most 1) goes with the rule `share` of an array; with `each`, every piece
    waits for the piece with its own number.
    """

    workload = serializers.RegexField(f"^{UID}$")
    on = serializers.ChoiceField(choices=[one.value for one in Rule], default=Rule.SUCCESS.value)
    share = serializers.FloatField(
        min_value=0, max_value=1, required=False, allow_null=True, default=None
    )
    each = serializers.BooleanField(default=False)


class ArrayOut(serializers.Serializer[Any]):
    """An array with how many of its pieces stand where; together they are all of them."""

    size = serializers.IntegerField()
    indices = serializers.CharField()
    throttle = serializers.IntegerField(allow_null=True)
    waiting = serializers.IntegerField()
    running = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    gone = serializers.IntegerField(help_text="Cancelled, stopped or reclaimed.")


class AfterOut(serializers.ModelSerializer[Dependency]):
    """One other that is waited for. Its uid is told to those who may read it."""

    workload = serializers.SerializerMethodField()
    on = serializers.CharField(source="rule")
    share = serializers.SerializerMethodField()

    class Meta:
        model = Dependency
        fields = ["workload", "on", "share", "each", "met_at", "broken_at"]

    def get_workload(self, row: Dependency) -> str | None:
        """Its uid; null for work of a project that the caller may not read."""
        return row.on.uid if getattr(row, "readable", False) else None

    def get_share(self, row: Dependency) -> float | None:
        """The share as a number up to 1."""
        return None if row.share_milli is None else row.share_milli / 1000


def array_said(row: Workload) -> dict[str, Any] | None:
    """The array of a row that was read with its counts; None for other work."""
    found = getattr(row, "tally", None)
    if found is None:
        return None
    return {
        "size": row.array_size,
        "indices": row.array_spec,
        "throttle": row.array_throttle,
        "waiting": found.waiting,
        "running": found.running,
        "done": found.done,
        "failed": found.failed,
        "gone": found.gone,
    }


def waited_for(row: Workload, standing: Standing) -> list[Dependency]:
    """What it waits for or has waited for, each marked whether the reader may know it."""
    found = list(row.after.select_related("on"))
    ids = [one.on_id for one in found]
    known = set(workload_list(standing=standing).filter(pk__in=ids).values_list("pk", flat=True))
    for one in found:
        one.readable = one.on_id in known  # type: ignore[attr-defined]
    return found


def after_named(standing: Standing, said: list[dict[str, Any]]) -> list[After]:
    """The others by their uids, in one query.

    Raises:
        NotYours: one of them is not the caller's to read, whether it exists or not.
        ValidationError: too many.
    """
    if len(said) > MOST_AFTER:
        text = _("At most %(most)s others are possible.") % {"most": MOST_AFTER}
        raise serializers.ValidationError({"after": [text]})
    wanted = {one["workload"] for one in said}
    rows = workload_list(standing=standing).filter(uid__in=wanted) if wanted else []
    found = {row.uid: row for row in rows}
    if wanted - found.keys():
        raise NotYours
    return [
        After(
            on=found[one["workload"]],
            rule=Rule(one["on"]),
            share_milli=None if one["share"] is None else round(one["share"] * 1000),
            each=one["each"],
        )
        for one in said
    ]

"""What cards are cut into."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from nodeagent.protocol.vocabulary import Mode
from pool.lifecycle.slices import SliceState
from pool.models import Slice
from pool.selectors.slices import slice_list
from portal.api.door import UID, Listed
from portal.api.fields import Filters


class SliceOut(serializers.ModelSerializer[Slice]):
    """A part of a card. `start` and `size` are places on the card's axis; null for soft modes.

    `encoder_units` and `decoder_units` are the card's video engines that a soft share takes; whole
    cards and MIG slices bring their own and say 0.

    `held_by` names a workload only if the caller may read it; `held` is true for every holder.
    """

    card = serializers.SlugRelatedField[Any](slug_field="uid", read_only=True)
    node = serializers.CharField(source="card.node.name")
    start = serializers.IntegerField(source="span.lower", default=None, allow_null=True)
    size = serializers.SerializerMethodField()
    held = serializers.BooleanField(source="now_held")
    held_by = serializers.CharField(allow_null=True)

    class Meta:
        model = Slice
        fields = [
            "uid",
            "card",
            "node",
            "mode",
            "isolation",
            "profile",
            "start",
            "size",
            "memory_mib",
            "compute_milli",
            "equivalents_micro",
            "encoder_units",
            "decoder_units",
            "state",
            "state_since",
            "state_reason",
            "held",
            "held_by",
        ]

    def get_size(self, row: Slice) -> int | None:
        """Places that the slice takes; null for soft modes."""
        return None if row.span is None else row.span.upper - row.span.lower


class SliceFilters(Filters):
    """Filters of the list."""

    card = serializers.RegexField(f"^{UID}$", required=False)
    node = serializers.CharField(max_length=253, required=False)
    mode = serializers.ChoiceField(choices=[m.value for m in Mode], required=False)
    state = serializers.ChoiceField(choices=[s.value for s in SliceState], required=False)
    held = serializers.BooleanField(required=False, default=None, allow_null=True)


class SliceDoor(Listed):
    """Living slices of the pool; gone ones by their uid, or with `state=gone`."""

    serializer_class = SliceOut
    filters = SliceFilters
    queryset = Slice.objects.none()

    def rows(self) -> QuerySet[Slice]:
        """The list shows the living; an address shows any."""
        wanted = getattr(self, "asked", {}).get("state")
        gone = self.action != "list" or wanted == SliceState.GONE
        return slice_list(standing=self.standing, gone=gone)

    def narrowed(self, rows: QuerySet[Slice], **asked: Any) -> QuerySet[Slice]:
        """By card, node, mode, state, and whether it is held."""
        paths = {"card": "card__uid", "node": "card__node__name", "held": "now_held"}
        given = {k: v for k, v in asked.items() if v is not None}
        return rows.filter(**{paths.get(name, name): value for name, value in given.items()})

"""Accelerators."""

from typing import Any

from django.db.models import QuerySet
from django.db.models.fields.json import KeyTransform
from rest_framework import serializers

from pool.lifecycle.cards import CardState
from pool.models import Card
from portal.api.door import UID, Listed
from portal.api.fields import Filters


class AbilityOut(serializers.Serializer[Any]):
    """What the node can really keep in one mode of a card."""

    mode = serializers.CharField()
    memory = serializers.CharField(
        help_text="who holds a slice to its memory: hardware, driver, daemon, preload, sampling"
    )
    compute = serializers.CharField(help_text="who holds it to its compute; none: nobody does")
    note = serializers.CharField()
    licence = serializers.CharField(help_text="kind of seat that a slice takes; empty: none")


class CardOut(serializers.ModelSerializer[Card]):
    """One physical card. Unknown is null, never 0."""

    node = serializers.SlugRelatedField[Any](slug_field="name", read_only=True)
    partition = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    modes = serializers.ListField(child=serializers.CharField())
    abilities = AbilityOut(
        many=True,
        read_only=True,
        allow_null=True,
        help_text="what the node says it can enforce, mode by mode; null: it says nothing",
    )

    class Meta:
    foreign = serializers.ListField(
        child=serializers.CharField(),
        read_only=True,
        help_text="processes on it that the pool did not start, with their owner where known",
    )
        model = Card
        fields = [
            "uid",
            "uuid",
            "node",
            "index",
            "partition",
            "vendor",
            "model",
            "label",
            "nominal_gb",
            "memory_mib",
            "modes",
            "abilities",
            "domain",
            "numa",
            "strength",
            "tdp_w",
            "state",
            "state_since",
            "state_reason",
            "clean_until",
            "offered",
        ]


class CardFilters(Filters):
    """Filters of the list."""

    node = serializers.RegexField(f"^{UID}$", required=False, help_text="uid of a node")
    node_name = serializers.CharField(max_length=253, required=False)
            "foreign",
    partition = serializers.SlugField(max_length=63, required=False)
    label = serializers.CharField(max_length=80, required=False)  # type: ignore[assignment]
    vendor = serializers.CharField(max_length=16, required=False)
    state = serializers.ChoiceField(choices=[s.value for s in CardState], required=False)


class CardDoor(Listed):
    """Cards of the pool; everybody may see what there is."""

    serializer_class = CardOut
    filters = CardFilters
    queryset = Card.objects.none()

    def rows(self) -> QuerySet[Card]:
        """All of them, without their inventory text."""
        rows = Card.objects.select_related("node", "partition").defer("facts")
        return rows.annotate(abilities=KeyTransform("abilities", "facts"))

    def narrowed(self, rows: QuerySet[Card], **asked: Any) -> QuerySet[Card]:
        """By node, partition, model, vendor and state."""
        paths = {
            "node": "node__uid",
            "node_name": "node__name",
            "partition": "partition__slug",
        }
        return rows.filter(**{paths.get(name, name): value for name, value in asked.items()})

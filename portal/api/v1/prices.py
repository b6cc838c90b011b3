"""The dated price book."""

from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from billing.models.prices import Price
from billing.rating.tariffs import Unit
from billing.selectors.effective import effective_price
from billing.selectors.holds import database_now
from billing.selectors.prices import price_list
from billing.services.prices import EARLIEST, LATEST, MOST_MICRO, price_set
from nodeagent.protocol.vocabulary import Mode
from pool.models import Partition
from portal.access.guards import guard
from portal.access.roles import Verb
from portal.access.showback import money_hidden
from portal.api.door import Listed
from portal.api.fields import Filters, Given
from portal.api.v1.references import partition_named, project_named

MODES = [*(m.value for m in Mode), "host"]


class PriceOut(serializers.ModelSerializer[Price]):
    """What one hour of a unit costs. `rate_micro` is in 10⁻⁶ of the currency; empty means any."""

    partition = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    starts_at = serializers.DateTimeField(source="valid.lower")
    ends_at = serializers.DateTimeField(source="valid.upper", allow_null=True)

    class Meta:
        model = Price
        fields = [
            "uid",
            "partition",
            "currency",
            "unit",
            "card_model",
            "mode",
            "price_class",
            "rate_micro",
            "starts_at",
            "ends_at",
        ]


class PriceIn(Given):
    """A price that counts from `starts_at` (now) until the next one of the same key begins."""

    partition = serializers.SlugField(max_length=63)
    rate_micro = serializers.IntegerField(min_value=0, max_value=MOST_MICRO)
    currency = serializers.RegexField(r"^[A-Z]{3}$")
    unit = serializers.ChoiceField(choices=[u.value for u in Unit], default=Unit.CARD.value)
    card_model = serializers.CharField(max_length=80, default="", allow_blank=True)
    mode = serializers.ChoiceField(choices=MODES, default="", allow_blank=True)
    price_class = serializers.CharField(max_length=32, default="", allow_blank=True)
    starts_at = serializers.DateTimeField(required=False, allow_null=True, default=None)
    rerate = serializers.BooleanField(default=False)


class EffectiveIn(Given):
    """Whose hour, on what, and when; `used_milli` counts where what was used is charged."""

    project = serializers.SlugField(max_length=63)
    partition = serializers.SlugField(max_length=63)
    card_model = serializers.CharField(max_length=80)
    mode = serializers.ChoiceField(choices=MODES, default="whole")
    price_class = serializers.CharField(max_length=32, default="standard")
    preemptible = serializers.BooleanField(default=False)
    used_milli = serializers.IntegerField(min_value=0, max_value=1000, default=1000)
    at = serializers.DateTimeField(required=False, allow_null=True, default=None)


class PriceStepOut(serializers.Serializer[Any]):
    """One step from the list price to the charge, with its sign."""

    account = serializers.CharField()
    amount_micro = serializers.IntegerField()


class EffectiveOut(serializers.Serializer[Any]):
    """One whole card for one hour; null where no price is set, or none is shown."""

    currency = serializers.CharField()
    list_micro = serializers.IntegerField(allow_null=True)
    charge_micro = serializers.IntegerField(allow_null=True)
    steps = PriceStepOut(many=True)


class PriceFilters(Filters):
    """Filters of the list."""

    partition = serializers.SlugField(max_length=63, required=False)
    currency = serializers.RegexField(r"^[A-Z]{3}$", required=False)
    card_model = serializers.CharField(max_length=80, required=False)


class PriceDoor(Listed):
    """Prices of the partitions that the caller may use; a platform admin sets them."""

    serializer_class = PriceOut
    filters = PriceFilters
    queryset = Price.objects.none()
    takes = {"create": PriceIn, "effective": EffectiveIn}
    gives = {"create": (201, PriceOut), "effective": (200, EffectiveOut)}

    def rows(self) -> QuerySet[Price]:
        """The caller's own."""
        return price_list(user=self.user)

    def narrowed(self, rows: QuerySet[Price], **asked: Any) -> QuerySet[Price]:
        """By partition, currency and card model."""
        paths = {"partition": "partition__slug"}
        return rows.filter(**{paths.get(name, name): value for name, value in asked.items()})

    def create(self, request: Request) -> Response:
        """Set a price; the one that counted before ends there."""
        guard(self.standing, Verb.PRICE_MANAGE)
        given = self.taken()
        partition = Partition.objects.filter(slug=given.pop("partition")).first()
        if partition is None:
            raise serializers.ValidationError({"partition": [_("No such partition.")]})
        return self.said(price_set(partition=partition, actor=self.actor, **given))

    @action(detail=False, methods=["post"])
    def effective(self, request: Request) -> Response:
        """What one card-hour would cost a project, from the list price step by step."""
        given = self.taken()
        given["project"] = project_named(self.standing, given["project"])
        given["partition"] = partition_named(self.standing, given["partition"])
        given["at"] = given["at"] or database_now()
        if not EARLIEST <= given["at"].year <= LATEST:
            raise serializers.ValidationError({"at": [_("A day from 2000 to 2999.")]})
        found = effective_price(**given)
        hidden = given["project"].organization_id in money_hidden(self.standing)
        steps = [{"account": name.value, "amount_micro": micro} for name, micro in found.steps]
        return self.said(
            {
                "currency": found.currency,
                "list_micro": None if hidden else found.list_micro,
                "charge_micro": None if hidden else found.charge_micro,
                "steps": [] if hidden else steps,
            }
        )

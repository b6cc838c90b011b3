"""What was agreed: contracts by the month, discounts, costs beside the cards."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from billing.models.contracts import OVERHEADS, PAYERS, Contract, Discount, Overhead
from billing.rating.terms import Basis, Cut
from billing.selectors.holds import database_now
from billing.services.budgets import MOST_MICRO
from billing.services.contracts import contract_set, discount_end, discount_set, overhead_set
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Filters, Given
from portal.api.v1.references import organization_named, partition_named, project_named

BY = ("platform", "shared")


class _Agreed(Listed):
    """All rows for who manages prices; 403 for everybody else."""

    def _named(self, given: dict[str, Any]) -> dict[str, Any]:
        """Places by their slugs, as the services take them."""
        named = {
            "organization": organization_named,
            "project": project_named,
            "partition": partition_named,
        }
        for name, find in named.items():
            if given.get(name) is not None:
                given[name] = find(self.standing, given[name])
        return given


class ContractOut(serializers.ModelSerializer[Contract]):
    """The words of the charge from a month on; without an organization everybody's."""

    organization = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    basis = serializers.ChoiceField(choices=[one.value for one in Basis])
    stranded_by = serializers.ChoiceField(choices=PAYERS)
    guarantee_by = serializers.ChoiceField(choices=PAYERS)
    idle_by = serializers.ChoiceField(choices=PAYERS)
    down_by = serializers.ChoiceField(choices=PAYERS)

    class Meta:
        model = Contract
        fields = [
            "uid",
            "organization",
            "since",
            "basis",
            "floor_milli",
            "tax_milli",
            "minimum_micro",
            "stranded_by",
            "guarantee_by",
            "idle_by",
            "down_by",
            "showback",
            "created_at",
        ]


class ContractIn(Given):
    """What is not given stays as it was before. Thousandths, and 10⁻⁶ of the currency."""

    organization = serializers.SlugField(max_length=63, required=False)
    since = serializers.DateField()
    basis = serializers.ChoiceField(choices=[one.value for one in Basis], required=False)
    floor_milli = serializers.IntegerField(min_value=0, max_value=1000, required=False)
    tax_milli = serializers.IntegerField(min_value=0, max_value=1000, required=False)
    minimum_micro = serializers.IntegerField(min_value=0, max_value=MOST_MICRO, required=False)
    stranded_by = serializers.ChoiceField(choices=("holders", "platform"), required=False)
    guarantee_by = serializers.ChoiceField(choices=("holders", "platform"), required=False)
    idle_by = serializers.ChoiceField(choices=BY, required=False)
    down_by = serializers.ChoiceField(choices=BY, required=False)
    showback = serializers.BooleanField(required=False)


class OrganizationFilters(Filters):
    """Filters of the list."""

    organization = serializers.SlugField(max_length=63, required=False)


class ContractDoor(_Agreed):
    """Contracts, newest first. Open months are posted anew after a change."""

    serializer_class = ContractOut
    filters = OrganizationFilters
    queryset = Contract.objects.none()
    takes = {"create": ContractIn}
    gives = {"create": (201, ContractOut)}

    def rows(self) -> QuerySet[Contract]:
        """All, for those who manage prices."""
        self.allow(Verb.PRICE_MANAGE)
        return Contract.objects.select_related("organization")

    def narrowed(self, rows: QuerySet[Contract], **asked: Any) -> QuerySet[Contract]:
        """By organization."""
        return rows.filter(**{f"{name}__slug": value for name, value in asked.items()})

    def create(self, request: Request) -> Response:
        """What counts from a month on; a month that was closed already is refused."""
        self.allow(Verb.PRICE_MANAGE)
        return self.said(contract_set(actor=self.actor, **self._named(self.taken())))


class DiscountOut(serializers.ModelSerializer[Discount]):
    """So many thousandths off between two moments; empty places mean any."""

    organization = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    project = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    partition = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    kind = serializers.ChoiceField(choices=[one.value for one in Cut])
    days = serializers.ListField(child=serializers.IntegerField())
    starts_at = serializers.DateTimeField(source="valid.lower")
    ends_at = serializers.DateTimeField(source="valid.upper", allow_null=True)

    class Meta:
        model = Discount
        fields = [
            "uid",
            "kind",
            "milli",
            "organization",
            "project",
            "partition",
            "starts_at",
            "ends_at",
            "from_hour",
            "to_hour",
            "days",
            "note",
        ]


class DiscountIn(Given):
    """Hours and days (0 is Monday) count for off-peak discounts, on the organization's clock."""

    kind = serializers.ChoiceField(choices=[one.value for one in Cut])
    milli = serializers.IntegerField(min_value=1, max_value=1000)
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField(required=False, allow_null=True, default=None)
    organization = serializers.SlugField(max_length=63, required=False)
    project = serializers.SlugField(max_length=63, required=False)
    partition = serializers.SlugField(max_length=63, required=False)
    from_hour = serializers.IntegerField(min_value=0, max_value=23, default=0)
    to_hour = serializers.IntegerField(min_value=0, max_value=23, default=0)
    days = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=6), max_length=7, default=list
    )
    note = serializers.CharField(max_length=200, default="", allow_blank=True)


class DiscountEnd(Given):
    """The moment up to which it counts; now when none is given."""

    at = serializers.DateTimeField(required=False, allow_null=True, default=None)


class DiscountDoor(_Agreed):
    """Discounts, newest first."""

    serializer_class = DiscountOut
    filters = OrganizationFilters
    queryset = Discount.objects.none()
    takes = {"create": DiscountIn, "end": DiscountEnd}
    gives = {"create": (201, DiscountOut), "end": (204, None)}

    def rows(self) -> QuerySet[Discount]:
        """All, for those who manage prices."""
        self.allow(Verb.PRICE_MANAGE)
        return Discount.objects.select_related("organization", "project", "partition")

    def narrowed(self, rows: QuerySet[Discount], **asked: Any) -> QuerySet[Discount]:
        """By organization."""
        return rows.filter(**{f"{name}__slug": value for name, value in asked.items()})

    def create(self, request: Request) -> Response:
        """Agree on a discount; of each kind the one for the most exact place counts."""
        self.allow(Verb.PRICE_MANAGE)
        given = self._named(self.taken())
        given["since"], given["until"] = given.pop("starts_at"), given.pop("ends_at")
        row = discount_set(actor=self.actor, **given)
        return self.said(self.rows().get(pk=row.pk))

    @action(detail=True, methods=["post"])
    def end(self, request: Request, uid: str) -> Response:
        """It counts no more; up to its beginning or before, it never counted, and is gone."""
        row = self.one()
        at = self.taken()["at"] or database_now()
        discount_end(discount=row, at=at, actor=self.actor)
        return self.said(row)


class OverheadOut(serializers.ModelSerializer[Overhead]):
    """A cost of one month beside the cards; shared by what each held, or shown apart."""

    organization = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    kind = serializers.ChoiceField(choices=OVERHEADS)

    class Meta:
        model = Overhead
        fields = [
            "uid",
            "organization",
            "first",
            "kind",
            "label",
            "currency",
            "amount_micro",
            "shared",
            "created_at",
        ]


class OverheadIn(Given):
    """A cost of the month that the day `first` lies in; the same label again replaces it."""

    organization = serializers.SlugField(max_length=63, required=False)
    first = serializers.DateField()
    kind = serializers.ChoiceField(choices=OVERHEADS)
    label = serializers.CharField(max_length=120)  # type: ignore[assignment]
    currency = serializers.RegexField(r"^[A-Z]{3}$")
    amount_micro = serializers.IntegerField(min_value=0, max_value=MOST_MICRO)
    shared = serializers.BooleanField(default=True)


class OverheadDoor(_Agreed):
    """Costs beside the cards, newest month first."""

    serializer_class = OverheadOut
    filters = OrganizationFilters
    queryset = Overhead.objects.none()
    takes = {"create": OverheadIn}
    gives = {"create": (201, OverheadOut)}

    def rows(self) -> QuerySet[Overhead]:
        """All, for those who manage prices."""
        self.allow(Verb.PRICE_MANAGE)
        return Overhead.objects.select_related("organization")

    def narrowed(self, rows: QuerySet[Overhead], **asked: Any) -> QuerySet[Overhead]:
        """By organization."""
        return rows.filter(**{f"{name}__slug": value for name, value in asked.items()})

    def create(self, request: Request) -> Response:
        """Put a cost into a month; on the bills when that is reviewed."""
        self.allow(Verb.PRICE_MANAGE)
        return self.said(overhead_set(actor=self.actor, **self._named(self.taken())))

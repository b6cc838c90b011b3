"""Budgets: limits of organizations, projects and people, how they stand, overdrafts."""

from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from billing.models.budgets import Budget
from billing.rating.budgets import Action, Every, Measure
from billing.selectors.budgets import Spent, budget_list, budget_spent
from billing.services.budgets import MOST_MICRO, budget_overdraw, budget_remove, budget_set
from pool.models import Project, User
from portal.access.roles import Verb
from portal.access.showback import moneyless, with_money
from portal.api.door import Listed
from portal.api.fields import Filters, Given
from portal.api.v1.references import organization_named

AMOUNTS = ("limit_micro", "overdraft_micro")
STANDS = ("spent_micro", "allowed_micro", "forecast_micro")


def _hidden(row: Budget) -> bool:
    """Card-hours are no money."""
    return row.measure == Measure.MONEY and moneyless(row)


class BudgetOut(serializers.ModelSerializer[Budget]):
    """A budget; amounts in 10⁻⁶ of the currency, or of a card-hour by its `measure`.

    Without a project it is the whole organization's, without a user everybody's together.
    `acting_since` says since when it keeps new work from starting. Amounts of money are null where
    the contract shows use without money.
    """

    organization = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    project = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    user = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)
    measure = serializers.ChoiceField(choices=[one.value for one in Measure])
    every = serializers.ChoiceField(choices=[one.value for one in Every])
    action = serializers.ChoiceField(choices=[one.value for one in Action])
    limit_micro = serializers.IntegerField(allow_null=True)
    overdraft_micro = serializers.IntegerField(allow_null=True)

    class Meta:
        model = Budget
        fields = [
            "uid",
            "organization",
            "project",
            "user",
            "measure",
            "every",
            "starts_on",
            "ends_on",
            "limit_micro",
            "action",
            "spare_endpoints",
            "overdraft_micro",
            "overdraft_until",
            "overdraft_reason",
            "overdraft_by",
            "told_level",
            "acting_since",
        ]

    def to_representation(self, row: Budget) -> dict[str, Any]:
        """Without money where the contract says so."""
        said: dict[str, Any] = super().to_representation(row)
        return said | dict.fromkeys(AMOUNTS) if _hidden(row) else said


class BudgetStand(serializers.Serializer[Any]):
    """How a budget stands now. `runs_out_at` is null when it lasts to the end of its period.

    Amounts of money are null where the contract shows use without money.
    """

    spent_micro = serializers.IntegerField(allow_null=True)
    allowed_micro = serializers.IntegerField(allow_null=True)
    percent = serializers.IntegerField(allow_null=True)
    level = serializers.IntegerField()
    used_up = serializers.BooleanField()
    forecast_micro = serializers.IntegerField(source="forecast.total", allow_null=True)
    runs_out_at = serializers.DateTimeField(allow_null=True)
    ends_at = serializers.DateTimeField()

    def to_representation(self, row: Spent) -> dict[str, Any]:
        """Without money where the contract says so."""
        said: dict[str, Any] = super().to_representation(row)
        return said | dict.fromkeys(STANDS) if _hidden(row.budget) else said


class BudgetNow(serializers.Serializer[Any]):
    """The stand; null outside the days of a period of one's own."""

    stand = BudgetStand(allow_null=True)


class BudgetFilters(Filters):
    """Filters of the list."""

    organization = serializers.SlugField(max_length=63, required=False)
    project = serializers.SlugField(max_length=63, required=False)


class BudgetIn(Given):
    """A limit; the same place, measure and period again changes it."""

    organization = serializers.SlugField(max_length=63)
    project = serializers.SlugField(max_length=63, required=False)
    user = serializers.CharField(max_length=150, required=False)
    measure = serializers.ChoiceField(
        choices=[one.value for one in Measure], default=Measure.MONEY.value
    )
    every = serializers.ChoiceField(choices=[one.value for one in Every], default=Every.MONTH.value)
    starts_on = serializers.DateField(required=False)
    ends_on = serializers.DateField(required=False)
    limit_micro = serializers.IntegerField(min_value=0, max_value=MOST_MICRO)
    action = serializers.ChoiceField(
        choices=[one.value for one in Action], default=Action.NOTIFY.value
    )
    spare_endpoints = serializers.BooleanField(default=True)


class BudgetOverdraft(Given):
    """How much over the limit, up to and with which day, and why; 0 takes it back."""

    overdraft_micro = serializers.IntegerField(min_value=0, max_value=MOST_MICRO)
    until = serializers.DateField()
    reason = serializers.CharField(max_length=200)


class BudgetDoor(Listed):
    """Budgets of the places whose cost the caller reads, and one's own."""

    serializer_class = BudgetOut
    filters = BudgetFilters
    queryset = Budget.objects.none()
    takes = {"create": BudgetIn, "overdraft": BudgetOverdraft}
    gives = {"create": (201, BudgetOut), "destroy": (204, None), "stand": (200, BudgetNow)}

    def rows(self) -> QuerySet[Budget]:
        """The caller's own."""
        return with_money(budget_list(standing=self.standing), self.standing)

    def narrowed(self, rows: QuerySet[Budget], **asked: Any) -> QuerySet[Budget]:
        """By organization and project."""
        return rows.filter(**{f"{name}__slug": value for name, value in asked.items()})

    def create(self, request: Request) -> Response:
        """Set a budget; who closes the organization's months may."""
        given = self.taken()
        place = organization_named(self.standing, given.pop("organization"))
        self.allow(Verb.MONTH_CLOSE, place)
        slug, name = given.pop("project", None), given.pop("user", None)
        project = user = None
        if slug is not None:
            project = Project.objects.filter(slug=slug, organization=place).first()
            if project is None:
                raise serializers.ValidationError({"project": [_("No such project.")]})
        if name is not None:
            user = User.objects.filter(username=name, is_active=True).first()
            if user is None:
                raise serializers.ValidationError({"user": [_("There is no such person.")]})
        made = budget_set(organization=place, project=project, user=user, actor=self.actor, **given)
        return self.said(made)

    def destroy(self, request: Request, uid: str) -> Response:
        """It counts no more; what it kept from starting may start."""
        budget_remove(budget=self._managed(), actor=self.actor)
        return Response(status=204)

    @action(detail=True, methods=["get"])
    def stand(self, request: Request, uid: str) -> Response:
        """How much is spent, the forecast, and when it runs out."""
        return self.said({"stand": budget_spent(budget=self.one())})

    @action(detail=True, methods=["post"])
    def overdraft(self, request: Request, uid: str) -> Response:
        """Let it go over its limit for a time."""
        row = self._managed()
        return self.said(budget_overdraw(budget=row, actor=self.actor, **self.taken()))

    def _managed(self) -> Budget:
        row: Budget = self.one()
        self.allow(Verb.MONTH_CLOSE, row)
        return row

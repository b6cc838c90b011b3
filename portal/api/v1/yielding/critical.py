"""The budget of critical work, as an organization's own list of months."""

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.errors import Forbidden
from pool.models import Organization
from pool.selectors.critical import critical_months
from pool.services.yielding.budgets import critical_budget_set
from portal.access.guards import may
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.v1.yielding.shapes import GrantIn, GrantOut

TAKES = {"critical_grant": GrantIn}


class CriticalVerbs(Listed):
    """What an organization may run of the critical class."""

    @action(detail=True, methods=["get"], url_path="critical-budgets", pagination_class=None)
    def critical_budgets(self, request: Request, uid: str) -> Response:
        """This month and those granted ahead: granted, used and promised."""
        row = self.one()
        self._may(Verb.QUOTA_SEE, row)
        return Response({"results": GrantOut(critical_months(organization=row), many=True).data})

    @critical_budgets.mapping.post
    def critical_grant(self, request: Request, uid: str) -> Response:
        """Grant a month of critical work; 0 takes it back. A platform admin's."""
        row = self.one()
        self._may(Verb.CRITICAL_GRANT, row)
        given = self.taken()
        critical_budget_set(organization=row, actor=self.actor, **given)
        months: list[Any] = critical_months(organization=row)
        made = next(one for one in months if one["month"] == given["month"])
        return Response(GrantOut(made).data, status=201)

    def _may(self, verb: Verb, row: Organization) -> None:
        """Whoever reads the organization knows of it: what is not theirs to do is refused."""
        if not may(self.standing, verb, row):
            raise Forbidden

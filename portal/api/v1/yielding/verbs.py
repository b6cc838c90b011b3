"""Verbs about giving way: break-glass, rehearsal, declared time, and what came of orders."""

from typing import Any

from django.utils.translation import gettext as _
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.errors import Invalid
from pool.models import Workload
from pool.selectors.workloads import workload_list
from pool.selectors.yielding import loss_now, order_list, room_kept_until
from pool.services.yielding.asked import break_glass, preemption_prove, workload_declare
from portal.access.guards import guard
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Nothing
from portal.api.v1.yielding.shapes import DeclareIn, OrderOut, PreemptIn

TAKES = {"preempt": PreemptIn, "prove_preemption": Nothing, "declare": DeclareIn}


class YieldVerbs(Listed):
    """What can be done about running work that shall leave, or shows that it can."""

    @action(detail=True, methods=["post"])
    def preempt(self, request: Request, uid: str) -> Response:
        """Order running work to leave, whatever protects it. A platform admin's, with a reason."""
        row: Workload = self.one()
        guard(self.standing, Verb.WORK_PREEMPT, row)
        given = self.taken()
        break_glass(
            workload=row,
            reason=given["reason"],
            winner=self._winner(given["winner"]),
            actor=self.actor,
        )
        return self._newest(row)

    @action(detail=True, methods=["post"], url_path="prove-preemption")
    def prove_preemption(self, request: Request, uid: str) -> Response:
        """Rehearse: your running work is told to leave, its room is kept, and it starts again."""
        row: Workload = self.one()
        guard(self.standing, Verb.WORK_STOP, row)
        self.taken()
        preemption_prove(workload=row, actor=self.actor)
        return self._newest(row)

    @action(detail=True, methods=["post"])
    def declare(self, request: Request, uid: str) -> Response:
        """Say anew how long it takes, from its start. An open order keeps its deadline."""
        row: Workload = self.one()
        guard(self.standing, Verb.WORK_STOP, row)
        workload_declare(workload=row, actor=self.actor, **self.taken())
        return self.said(self.one())

    @action(detail=True, methods=["get"], pagination_class=None)
    def orders(self, request: Request, uid: str) -> Response:
        """The orders to leave that it was given, newest first, and what came of each."""
        rows = order_list(workload=self.one(), most=200)
        return Response({"results": OrderOut(rows, many=True).data})

    def giving_way(self, row: Any) -> Any:
        """The row with its orders, what leaving now would lose, and the room kept for it."""
        row.told = order_list(workload=row)
        row.loss_card_seconds = loss_now(workload=row)
        row.room_until = room_kept_until(workload=row)
        return row

    def _winner(self, uid: str | None) -> Workload | None:
        if uid is None:
            return None
        found: Workload | None = workload_list(standing=self.standing).filter(uid=uid).first()
        if found is None:
            raise Invalid(winner=_("No such workload."))
        return found

    def _newest(self, row: Workload) -> Response:
        return Response(OrderOut(order_list(workload=row, most=1)[0]).data, status=202)

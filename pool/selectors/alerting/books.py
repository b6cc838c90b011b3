"""Numbers that rules judge and that no agent measures: waits, ill cards, what is held."""

from datetime import datetime

from django.db.models import Count, FloatField, Min, Q, Sum
from django.db.models.functions import Cast

from pool.lifecycle.cards import CardState
from pool.lifecycle.workloads import WorkloadState
from pool.models.cards import Card
from pool.models.placements import Hold
from pool.models.tenants import Project
from pool.models.workloads import Workload
from pool.rules.alerting.terms import Scope

Row = tuple[str, str, float | None, int | None]

WELL = (CardState.READY, CardState.PARTIAL)


def books_measured(*, metric: str, scope: str, at: datetime) -> list[Row]:
    """Each thing of the scope with its number: seconds for waits, per cent else."""
    if metric == "queue_wait":
        return _waits(scope, at)
    if metric == "unhealthy":
        return _ill(scope)
    return _held(scope)


def _waits(scope: str, at: datetime) -> list[Row]:
    """The longest wait now; 0 where nothing waits."""
    rows = Workload.objects.filter(state=WorkloadState.QUEUED, queued_at__isnull=False)
    if scope == Scope.POOL:
        oldest = rows.aggregate(oldest=Min("queued_at"))["oldest"]
        return [("pool:all", "", (at - oldest).total_seconds() if oldest else 0.0, None)]
    waiting = Q(workloads__state=WorkloadState.QUEUED, workloads__queued_at__isnull=False)
    found = Project.objects.annotate(oldest=Min("workloads__queued_at", filter=waiting))
    return [
        (f"project:{uid}", name, (at - oldest).total_seconds() if oldest else 0.0, pk)
        for uid, name, oldest, pk in found.values_list("uid", "name", "oldest", "pk")
    ]


def _ill(scope: str) -> list[Row]:
    """The share of cards that are not OK, in per cent."""
    rows = Card.objects.exclude(state=CardState.RETIRED)
    counts = {"many": Count("pk"), "ill": Count("pk", filter=~Q(state__in=WELL))}
    if scope == Scope.POOL:
        told = rows.aggregate(**counts)
        return [
            ("pool:all", "", 100.0 * told["ill"] / told["many"] if told["many"] else None, None)
        ]
    path = "node" if scope == Scope.NODE else "partition"
    listed = rows.exclude(**{path: None}).values_list(f"{path}__uid", f"{path}__name")
    return [
        (f"{path}:{uid}", name, 100.0 * ill / many, None)
        for uid, name, many, ill in listed.annotate(**counts).order_by()
    ]


def _held(scope: str) -> list[Row]:
    """Card equivalents held against cards there are, in per cent."""
    live = Card.objects.exclude(state__in=[CardState.RETIRED, CardState.LOST])
    open_holds = Hold.objects.filter(held__upper_inf=True, card__isnull=False)
    held = Cast(Sum("equivalents_micro"), FloatField())
    if scope == Scope.POOL:
        many = live.count()
        micro = open_holds.aggregate(sum=held)["sum"] or 0.0
        return [("pool:all", "", micro / 1e4 / many if many else None, None)]
    named = ("partition__uid", "partition__name")
    cards = live.exclude(partition=None).values_list(*named).annotate(many=Count("pk")).order_by()
    path = open_holds.values_list("card__partition__uid").annotate(sum=held).order_by()
    by = dict(path)
    return [
        (f"partition:{uid}", name, (by.get(uid) or 0.0) / 1e4 / many, None)
        for uid, name, many in cards
    ]

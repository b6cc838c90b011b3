"""Do the books keep their promises? Read in one transaction, judged by a pure rule, told."""

from datetime import timedelta

from django.db import connection, transaction
from django.db.models import Count, Q
from django.utils.translation import gettext as _

from pool.clock import now
from pool.cycle.committed import committed
from pool.cycle.round import only_one
from pool.cycle.snapshot import take
from pool.events import SYSTEM, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.leases import LeaseState
from pool.lifecycle.placements import PlacementState
from pool.lifecycle.requests import RequestState
from pool.lifecycle.workloads import ENDED, HOLDING, WORKLOAD, AttemptState
from pool.locks import AUDIT
from pool.models.cards import Card
from pool.models.installation import Installation
from pool.models.leases import Lease
from pool.models.nodes import Node
from pool.models.placements import Hold, Placement
from pool.models.quotas import Quota
from pool.models.requests import Request
from pool.models.reservations import Reservation
from pool.models.slices import Slice
from pool.models.workloads import Workload
from pool.rules.books import commitments, invariants
from pool.scheduling.checker import check
from pool.scheduling.model import Snapshot
from pool.scheduling.plan import plan
from pool.services.alerts import alert_raise, alert_resolve
from pool.services.levels import level_tenant

KEY = "invariants"
CLOSED_SINCE = timedelta(days=1)
"""Holds that ended longer ago have been judged before."""


def audit() -> list[str] | None:
    """Judge the books and tell people of every breach; None when another process is at it."""
    with only_one(AUDIT) as mine:
        if not mine:
            return None
        found = breaches_now()
    with transaction.atomic():
        if not found:
            alert_resolve(key=KEY, actor=SYSTEM)
            return found
        fresh = alert_raise(
            key=KEY,
            subject="pool:books",
            title=_("The books break %(count)d promises") % {"count": len(found)},
            detail={"breaches": found[:50]},
            actor=SYSTEM,
            family="books",
            severity="critical",
        )
        if fresh:
            home = Installation.objects.get(pk=1)
            record(EventKind.INVARIANT_BROKEN, home, actor=SYSTEM, breaches=found[:50])
    return found


def breaches_now() -> list[str]:
    """Every broken promise at this moment, read as of one instant."""
    outermost = not connection.in_atomic_block
    with transaction.atomic():
        if outermost:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        broken = [*invariants.breaches(_books()), *commitments.breaches(committed())]
        snapshot = take(now())
    return [*broken, *_planned(snapshot)]


def _planned(snapshot: Snapshot) -> list[str]:
    """What the plan checker finds wrong with the plan that a round would make of this moment.

    It may take a while: no transaction is open meanwhile.
    """
    faults = check(snapshot, plan(snapshot))
    return [f"plan: {one.code} of {one.subject} {one.detail}".rstrip() for one in faults]


def _books() -> invariants.Books:
    at = now()
    return invariants.Books(
        now=at,
        cards=dict(Card.objects.values_list("pk", "memory_mib")),
        nodes={
            pk: (cpu, ram, disk)
            for pk, cpu, ram, disk in Node.objects.values_list(
                "pk", "cpu_milli", "memory_mib", "disk_mib"
            )
        },
        slices=_slices(),
        holds=_holds(at - CLOSED_SINCE),
        placements=_placements(),
        quotas=_quotas(),
        works=_works(),
        claims=_claims(),
        passing=frozenset(str(state) for state in WORKLOAD.passing),
        holding=frozenset(str(state) for state in HOLDING),
        engines=_engines(),
    )


def _engines() -> dict[int, tuple[int, int]]:
    """Video encoders and decoders of the cards that have any."""
    rows = Card.objects.values_list("pk", "facts__nvenc", "facts__nvdec")
    return {pk: (encoders or 0, decoders or 0) for pk, encoders, decoders in rows}


def _slices() -> tuple[invariants.SliceRow, ...]:
    return tuple(
        invariants.SliceRow(
            id=row.pk,
            card=row.card_id,
            mode=row.mode,
            state=row.state,
            start=row.span.lower if row.span else None,
            size=row.span.upper - row.span.lower if row.span else None,
            memory_mib=row.memory_mib,
            compute_milli=row.compute_milli,
            micro=row.equivalents_micro,
            deadline=row.deadline,
            encoders=row.encoder_units,
            decoders=row.decoder_units,
        )
        for row in Slice.objects.filter(lived__upper_inf=True).order_by("pk")
    )


def _holds(since: object) -> tuple[invariants.HoldRow, ...]:
    recent = Q(held__upper_inf=True) | Q(held__endswith__gte=since)
    return tuple(
        invariants.HoldRow(
            id=row.pk,
            placement=row.placement_id,
            slice=row.slice_id,
            card=row.card_id,
            node=row.node_id,
            isolation=row.isolation,
            trust=row.trust,
            fenced=row.fenced,
            starts=row.held.lower,
            ends=row.held.upper,
            cpu_milli=row.cpu_milli,
            ram_mib=row.ram_mib,
            disk_mib=row.disk_mib,
        )
        for row in Hold.objects.filter(recent).order_by("pk")
    )


def _placements() -> tuple[invariants.PlacementRow, ...]:
    rows = Placement.objects.filter(state=PlacementState.OPEN).select_related("attempt__workload")
    return tuple(
        invariants.PlacementRow(
            id=row.pk,
            workload=row.attempt.workload_id,
            workload_state=row.attempt.workload.state,
            attempt_open=row.attempt.state == AttemptState.OPEN,
            taken=tuple((one["quota"], one["amount"]) for one in row.quota_taken),
        )
        for row in rows.order_by("pk")
    )


def _quotas() -> tuple[invariants.QuotaRow, ...]:
    rows = Quota.objects.order_by("pk")
    return tuple(
        invariants.QuotaRow(
            id=row.pk,
            name=f"{row.kind} {row.unit} of {level_tenant(row)}",
            held=row.held,
            ceiling=row.ceiling,
        )
        for row in rows
    )


def _claims() -> tuple[tuple[int, int], ...]:
    pending = Request.objects.filter(state=RequestState.SUBMITTED)
    in_force = Lease.objects.filter(state=LeaseState.ACTIVE)
    taken = (
        *pending.values_list("entitled", flat=True),
        *in_force.values_list("entitled", flat=True),
        *Reservation.objects.exclude(quota_taken=[]).values_list("quota_taken", flat=True),
    )
    return tuple((one["quota"], one["amount"]) for row in taken for one in row)


def _works() -> tuple[invariants.WorkRow, ...]:
    held = Count("attempts__placements", filter=Q(attempts__placements__state=PlacementState.OPEN))
    rows = Workload.objects.exclude(state__in=sorted(ENDED)).annotate(open_placements=held)
    return tuple(
        invariants.WorkRow(
            id=row.pk,
            state=row.state,
            deadline=row.deadline,
            open_placements=row.open_placements,
        )
        for row in rows.order_by("pk")
    )

"""A change to work that waits: what it does to the row, and writing it; judged by the caller."""

from typing import Any

from django.db import transaction

from nodeagent.protocol.vocabulary import Mode
from pool.errors import Stale
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.roles import QuotaKind, QuotaUnit
from pool.lifecycle.workloads import WorkloadState
from pool.models.quotas import Quota
from pool.models.workloads import Workload
from pool.rules.needs import from_mapping
from pool.rules.problems import Problem
from pool.rules.problems import marked as _
from pool.scheduling.suggest import Change
from pool.selectors.offers import options_for
from pool.services.refusals import refuse, refusing
from pool.wake import round_wanted

IN_NEED = {
    Change.LESS_COMPUTE: "compute_milli",
    Change.LESS_MEMORY: "memory_gb",
    Change.FEWER_ENCODERS: "encoder_units",
    Change.FEWER_DECODERS: "decoder_units",
}
IN_ROW = {
    Change.SHORTER: "expected_seconds",
    Change.LESS_CPU: "cpu_milli",
    Change.LESS_HOST_MEMORY: "ram_mib",
}
HOST = ("cpu_milli", "ram_mib", "disk_mib")
"""Columns of the row that a need may name too: for all parts together."""

COLUMNS = ("need", "expected_seconds", "asked_micro", *HOST)

BOUND = frozenset({Change.OTHER_MODEL, Change.OTHER_MODE, Change.ACROSS_NODES})
"""Work on a lease gets what the lease is for: it may ask for less, not for something else."""


def changes_barred(workload: Workload) -> frozenset[Change]:
    """What the right that the work waits on does not let it become.

    Work on an allowance may take any kind of card only where the allowance admits it on each kind
    that it could then be given. Two queries and those for the options, for such work alone.
    """
    if workload.lease_id is not None:
        return BOUND
    if workload.entitlement != "allowance" or not workload.need.get("labels"):
        return frozenset()
    wide = {name: value for name, value in workload.need.items() if name != "labels"}
    return frozenset() if _allowed(workload, wide) else frozenset({Change.OTHER_MODEL})


def _allowed(workload: Workload, wide: dict[str, Any]) -> bool:
    """Whether each kind of card that could hold the need has an allowance as large as the ask."""
    need = from_mapping(wide)
    partitions = list(workload.partitions.all())
    options = options_for(
        need=need,
        partitions=partitions,
        trust=workload.project.trust_group_id,
        version=workload.template_version,
        unlimited_modes=workload.template_version.unlimited_modes,
    )
    rows = Quota.objects.filter(
        project=workload.project_id,
        user=None,
        kind=QuotaKind.ALLOWANCE,
        unit=QuotaUnit.CARDS_MICRO,
        partition__in=partitions,
    )
    limits = {(row.partition_id, row.card_model): row.limit_value for row in rows}
    for one in options:
        if not one.holds(need):
            continue
        all_kinds = limits.get((one.partition.pk, ""), -1)
        if one.micro(need) > limits.get((one.partition.pk, one.option.label), all_kinds):
            return False
    return True


def workload_as_changed(*, workload: Workload, change: str, amount: int) -> Workload:
    """The row as the change would make it, not saved; a change only ever asks for less, or wider.

    Raises:
        Invalid: there is no such change, or it would not make the work smaller.
    """
    known = change in set(Change)
    refuse({"change": None if known else Problem(_("There is no such change."))})
    wanted = Change(change)
    if wanted in IN_ROW:
        _less(workload, IN_ROW[wanted], amount)
    elif wanted is Change.FEWER_CARDS:
        _fewer(workload, amount)
    else:
        workload.need = _need(dict(workload.need), wanted, amount)
    _named_too(workload)
    with refusing():
        need = from_mapping(workload.need)
    options = options_for(
        need=need,
        partitions=workload.partitions.all(),
        trust=workload.project.trust_group_id,
        version=workload.template_version,
        unlimited_modes=workload.template_version.unlimited_modes,
    )
    micro = [one.micro(need) for one in options if one.holds(need)]
    workload.asked_micro = min(micro, default=workload.asked_micro)
    return workload


@transaction.atomic
def workload_changed(
    *, before: Workload, after: Workload, change: str, amount: int, actor: Actor
) -> Workload:
    """Write a change that was judged; the caller holds the row's lock.

    Raises:
        Stale: it does not wait in the queue any more.
    """
    if after.state != WorkloadState.QUEUED:
        raise Stale
    after.save(update_fields=list(COLUMNS))
    old = {name: getattr(before, name) for name in COLUMNS}
    new = {name: getattr(after, name) for name in COLUMNS}
    told: dict[str, Any] = {
        name: [old[name], new[name]] for name in COLUMNS if old[name] != new[name]
    }
    record(
        EventKind.WORKLOAD_CHANGED, after, actor=actor, change=change, amount=amount, values=told
    )
    round_wanted()
    return after


def _less(row: Workload, column: str, amount: int) -> None:
    fine = 0 < amount < getattr(row, column)
    refuse({"amount": None if fine else Problem(_("It already asks for no more than that."))})
    setattr(row, column, amount)


def _fewer(row: Workload, parts: int) -> None:
    """So many parts, with the host's share that goes with them."""
    now = int(row.need.get("parts", 1))
    fine = 0 < parts < now
    refuse({"amount": None if fine else Problem(_("It already asks for no more than that."))})
    row.need = {k: v for k, v in row.need.items() if k != "nodes"} | {"parts": parts}
    for column in HOST:
        setattr(row, column, getattr(row, column) * parts // now)


def _need(need: dict[str, Any], change: Change, amount: int) -> dict[str, Any]:
    if change in IN_NEED:
        name = IN_NEED[change]
        fine = 0 < amount < int(need.get(name) or 0)
        refuse({"amount": None if fine else Problem(_("It already asks for no more than that."))})
        return need | {name: amount}
    if change is Change.OTHER_MODEL:
        return {name: value for name, value in need.items() if name != "labels"}
    if change is Change.ACROSS_NODES:
        return need | {"topology": "network"}
    return need | {"modes": [*need.get("modes", []), Mode.MPS.value]}


def _named_too(row: Workload) -> None:
    """What the need names of the host follows the row."""
    named = {name: getattr(row, name) for name in HOST if row.need.get(name) is not None}
    row.need = dict(row.need) | named

"""Whether work needs to ask anybody: what a project's standing allowance says to it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from django.db.models import Q

from pool.lifecycle.roles import QuotaKind, QuotaUnit
from pool.models.partitions import Partition
from pool.models.quotas import Quota
from pool.models.tenants import Project
from pool.models.workloads import Workload
from pool.rules.needs import Need
from pool.rules.quotas import Allowance, allowance_says
from pool.selectors.offers import PlacedOption, host_of
from pool.selectors.series.arrays import LIVE, taken_by


@dataclass(frozen=True, slots=True)
class Judged:
    """The answer with its numbers, in `unit`; `partitions` are those whose allowance admits it."""

    answer: Allowance
    partitions: tuple[Partition, ...] = ()
    unit: str = QuotaUnit.CARDS_MICRO
    asked: int = 0
    used: int = 0
    limit: int = 0


def allowance_judged(
    *,
    project: Project,
    need: Need,
    options: Iterable[PlacedOption],
    partitions: Iterable[Partition],
    seconds: int,
    when_full: str = "",
    copies: int = 1,
) -> Judged:
    """What the allowances of the project in these partitions say to one piece of work.

    `copies` are that many alike at the same time, as the pieces of an array are.

    An allowance of cards brings their part of the machine: whoever wants more of it asks.

    Two queries. The numbers are true for the caller's transaction; a caller who acts on them holds
    the project's row.
    """
    if need.parts == 0:
        asks = {(p.pk, ""): (p, need.cpu_milli or 0) for p in partitions}
        unit = QuotaUnit.CPU_MILLI
    else:
        options = [one for one in options if one.holds(need)]
        asks = _least(need, options)
        unit = QuotaUnit.CARDS_MICRO
        if beyond := _beyond_the_host(need, options):
            return beyond
    rows = Quota.objects.filter(
        project=project, user=None, kind=QuotaKind.ALLOWANCE, unit=unit, partition__in=_ids(asks)
    )
    named = {(row.partition_id, row.card_model): row.limit_value for row in rows}
    limits = _by_partition(named, asks)
    fitting = {key: one for key, one in asks.items() if one[1] <= limits.get(key, -1)}
    if not fitting:
        least = min((asked for _, asked in asks.values()), default=0)
        return Judged(
            Allowance.BEYOND, unit=unit, asked=least, limit=max(limits.values(), default=0)
        )
    chosen = tuple(dict.fromkeys(partition for partition, _ in fitting.values()))
    limit = sum({(key[0], _row(named, key)): limits[key] for key in fitting}.values())
    asked = min(asked for _, asked in fitting.values())
    used = allowance_used(project=project, partitions=chosen, unit=unit)
    answer = allowance_says(
        limit=limit,
        used=used,
        asked=asked,
        seconds=seconds,
        when_full=when_full,
        copies=copies,
    )
    return Judged(answer, chosen, unit, asked, used, limit)


def _beyond_the_host(need: Need, options: list[PlacedOption]) -> Judged | None:
    """What is wanted of a machine beyond the part that comes with the cards; None when nothing."""
    said = (need.cpu_milli, need.ram_mib, need.disk_mib)
    units = (QuotaUnit.CPU_MILLI, QuotaUnit.RAM_MIB, QuotaUnit.DISK_MIB)
    unsaid = replace(need, cpu_milli=None, ram_mib=None, disk_mib=None)
    shares = host_of(need=unsaid, options=options, pick=max)
    for unit, asked, share in zip(units, said, shares, strict=True):
        if options and asked is not None and asked > share:
            return Judged(Allowance.BEYOND, unit=unit, asked=asked, limit=share)
    return None


def _row(named: dict[tuple[int, str], int], key: tuple[int, str]) -> str:
    """The kind of card whose row binds: its own, or the one for all cards of the partition."""
    return key[1] if key in named else ""


def _by_partition(
    named: dict[tuple[int, str], int], asks: dict[tuple[int, str], tuple[Partition, int]]
) -> dict[tuple[int, str], int]:
    """The limit that binds each kind of card; nothing where there is no row."""
    found = {key: named.get((key[0], _row(named, key))) for key in asks}
    return {key: limit for key, limit in found.items() if limit is not None}


def allowance_used(*, project: Project, partitions: Iterable[Partition], unit: str) -> int:
    """What living work takes of the allowances there, in the queue or running; one query.

    An array takes as much as may run of it at a time.
    """
    inside = Workload.objects.filter(partitions__in=[p.pk for p in partitions]).values("pk")
    rows = Workload.objects.filter(
        Q(pk__in=inside), project=project, entitlement="allowance", state__in=LIVE
    )
    if unit == QuotaUnit.CPU_MILLI:
        return taken_by(rows=rows.filter(asked_micro=0), column="cpu_milli")
    return taken_by(rows=rows, column="asked_micro")


def _least(
    need: Need, options: Iterable[PlacedOption]
) -> dict[tuple[int, str], tuple[Partition, int]]:
    """The least card equivalents that could meet the need, per partition and kind of card."""
    found: dict[tuple[int, str], tuple[Partition, int]] = {}
    for one in options:
        if not one.holds(need):
            continue
        key = (one.partition.pk, one.option.label)
        micro = one.micro(need)
        if key not in found or micro < found[key][1]:
            found[key] = (one.partition, micro)
    return dict(sorted(found.items(), key=lambda item: (item[1][0].rank, item[0])))


def _ids(asks: dict[tuple[int, str], tuple[Partition, int]]) -> list[int]:
    return [partition for partition, _ in asks]

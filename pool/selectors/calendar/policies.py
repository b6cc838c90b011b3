"""The numbers of scheduling in force, and the history of numbers and partitions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from pool.models.partitions import Partition
from pool.models.policies import PolicyVersion
from pool.rules.policies import difference, numbers_in_force

PARTITION_WORDS = (
    "name",
    "modes",
    "policy",
    "class_policies",
    "preemption",
    "sharing",
    "lending",
    "foreign_work",
    "tolerance_points",
    "give_back_seconds",
    "ceilings",
    "rank",
    "selector",
    "open_to_all",
    "organizations",
    "trust_groups",
)
"""What a version of a partition keeps; organizations by slug, trust groups by name."""


@dataclass(frozen=True, slots=True)
class Step:
    """One version beside the one before it: name to (before, after)."""

    version: PolicyVersion
    changed: Mapping[str, tuple[Any, Any]]


def numbers_now() -> dict[str, int | bool]:
    """Every editable number of the rounds, as in force; one query."""
    rows = PolicyVersion.objects.filter(partition=None).order_by("-number")
    stored = rows.values_list("values", flat=True).first()
    return numbers_in_force(stored or {})


def version_list(*, partition: Partition | None = None) -> QuerySet[PolicyVersion]:
    """The versions of a partition, or (none) of the numbers, newest first."""
    rows = PolicyVersion.objects.filter(partition=partition)
    return rows.select_related("user", "reverts", "partition").order_by("-number")


def history(*, partition: Partition | None = None, most: int = 50) -> list[Step]:
    """Each version with what it changed, newest first; two rows more than shown are never read."""
    rows = list(version_list(partition=partition)[: most + 1])
    found = []
    for number, row in enumerate(rows[:most]):
        made = {} if row.partition_id is None else row.values
        before = rows[number + 1].values if number + 1 < len(rows) else made
        found.append(Step(row, difference(_shown(row, before), _shown(row, row.values))))
    return found


def _shown(row: PolicyVersion, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Numbers that nobody has set yet count as their defaults."""
    return numbers_in_force(values) if row.partition_id is None else values


def values_of(partition: Partition) -> dict[str, Any]:
    """A partition as its versions keep it."""
    values = {name: getattr(partition, name) for name in PARTITION_WORDS[:-2]}
    values["organizations"] = sorted(one.slug for one in partition.organizations.all())
    values["trust_groups"] = sorted(one.name for one in partition.trust_groups.all())
    return values

"""Which rule of idleness holds for a notebook."""

from collections.abc import Collection, Iterable

from django.db.models import Q, QuerySet

from pool.lifecycle.idleness import IDLE_SECONDS, WARN_MINUTES
from pool.models.notebooks.notebooks import IdleRule
from pool.models.placements import Placement
from pool.models.workloads import Workload
from pool.rules.idle import Rule
from pool.selectors.memberships import Standing
from pool.selectors.partitions import partition_list
from pool.selectors.templates import template_list


def rule_of(*, workload: Workload) -> Rule:
    """The narrowest rule that fits: of a project before a template before a partition.

    Without any, the template's own limit with the usual warnings holds.
    """
    return rules_of(workloads=[workload])[workload.pk]


def rules_of(*, workloads: Collection[Workload]) -> dict[int, Rule]:
    """The same for many, by key; two queries however many there are."""
    where = places_of(workloads=workloads)
    rules = list(IdleRule.objects.all())
    return {one.pk: rule_among(one, where.get(one.pk), rules) for one in workloads}


def places_of(*, workloads: Collection[Workload]) -> dict[int, int]:
    """The partition of each one's newest placement, by key."""
    keys = [one.pk for one in workloads]
    placed = Placement.objects.filter(attempt__workload__in=keys)
    newest = placed.order_by("attempt__workload", "-pk").distinct("attempt__workload")
    return dict(newest.values_list("attempt__workload", "partition"))


def rule_among(workload: Workload, partition: int | None, rules: Iterable[IdleRule]) -> Rule:
    """The narrowest of these rules that fits; without any, the template's own limit."""
    template = workload.template_version.template_id
    fits = (
        one
        for one in rules
        if one.project_id in (None, workload.project_id)
        and one.template_id in (None, template)
        and one.partition_id in (None, partition)
    )
    found = max(fits, key=_narrow, default=None)
    if found is None:
        own = workload.template_version.idle_seconds or IDLE_SECONDS
        return Rule(idle_s=own, warn_minutes=WARN_MINUTES)
    return Rule(
        idle_s=found.idle_seconds,
        warn_minutes=tuple(found.warn_minutes),
        keeps=found.keeps,
        action=found.action,
        busy_counts=found.busy_counts,
        cpu_counts=found.cpu_counts,
        quiet_from=found.quiet_from,
        quiet_until=found.quiet_until,
    )


def _narrow(rule: IdleRule) -> tuple[int, bool, bool, bool]:
    scopes = (rule.project_id, rule.template_id, rule.partition_id)
    return sum(one is not None for one in scopes), *(one is not None for one in scopes)  # type: ignore[return-value]


def rule_list(*, standing: Standing) -> QuerySet[IdleRule]:
    """Rules for all, and those of projects that the person may read.

    A rule for all that names a template or a partition is known to those who may know of that.
    """
    rows = IdleRule.objects.select_related("template", "project__organization", "partition")
    if standing.platform:
        return rows
    template = Q(template=None) | Q(template__in=template_list(standing=standing))
    partition = Q(partition=None) | Q(partition__in=partition_list(standing=standing).values("pk"))
    return rows.filter(Q(project=None) & template & partition | standing.sees())

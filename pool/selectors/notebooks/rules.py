"""Which rule of idleness holds for a notebook."""

from django.db.models import Q, QuerySet

from pool.lifecycle.idleness import IDLE_SECONDS, WARN_MINUTES
from pool.models.notebooks.notebooks import IdleRule
from pool.models.placements import Placement
from pool.models.workloads import Workload
from pool.rules.idle import Rule
from pool.selectors.memberships import Standing


def rule_of(*, workload: Workload) -> Rule:
    """The narrowest rule that fits: of a project before a template before a partition.

    Without any, the template's own limit with the usual warnings holds.
    """
    placed = Placement.objects.filter(attempt__workload=workload).order_by("-pk")
    partition = placed.values_list("partition_id", flat=True).first()
    template = workload.template_version.template_id
    fits = IdleRule.objects.filter(
        Q(project=None) | Q(project=workload.project_id),
        Q(template=None) | Q(template=template),
        Q(partition=None) | Q(partition=partition),
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
    )


def _narrow(rule: IdleRule) -> tuple[int, bool, bool, bool]:
    scopes = (rule.project_id, rule.template_id, rule.partition_id)
    return sum(one is not None for one in scopes), *(one is not None for one in scopes)  # type: ignore[return-value]


def rule_list(*, standing: Standing) -> QuerySet[IdleRule]:
    """Rules for all, and those of projects that the person may read."""
    rows = IdleRule.objects.select_related("template", "project", "partition")
    if standing.platform:
        return rows
    return rows.filter(Q(project=None) | standing.sees())

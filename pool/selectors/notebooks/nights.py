"""Wishes that a notebook be left alone for a night, and who answers them."""

from django.db.models import Q

from nodeagent.protocol.vocabulary import WorkloadKind
from pool.clock import now
from pool.lifecycle.roles import Role
from pool.models.notebooks.nights import NightKeep
from pool.models.workloads import Workload
from pool.selectors.approvals.powers import deciders_of, decides_where
from pool.selectors.memberships import Standing


def night_open(*, workload: Workload) -> NightKeep | None:
    """The one that waits for an answer."""
    rows = NightKeep.objects.filter(workload=workload, answer="", until__gt=now())
    return rows.select_related("asked_by").first()


def night_asked_of(*, standing: Standing, uid: str) -> Workload | None:
    """The notebook, if this person was told of its open wish: a decider, or somebody's deputy.

    Nobody answers their own, nor has a deputy do it. Others who decide there find it as they find
    any notebook.
    """
    where = decides_where(standing_of=standing)
    waits = NightKeep.objects.filter(answer="", until__gt=now()).values("workload")
    rows = Workload.objects.filter(where or Q(), pk__in=waits, kind=WorkloadKind.NOTEBOOK, uid=uid)
    named = ("project__organization", "owner", "template_version__template", "request", "lease")
    joined = rows.select_related(*named, "environment", "notebook__attempt__node")
    row = joined.exclude(owner=standing.user).first()
    if row is None:
        return None
    told = deciders_of(project=row.project, step=Role.LEAD, but=row.owner_id)
    return row if standing.user in {one.pk for one in told} else None

"""How a notebook stands now: for its page, and for the banner inside of it."""

from typing import Any

from django.db.models import QuerySet

from nodeagent.protocol.vocabulary import WorkloadKind
from pool.lifecycle.workloads import WorkloadState
from pool.models.notebooks.notebooks import Notebook
from pool.models.workloads import Workload
from pool.selectors.memberships import Standing
from pool.selectors.notebooks.rules import rule_of
from pool.selectors.workloads import workload_list


def notebook_list(*, standing: Standing) -> QuerySet[Workload]:
    """Notebooks of the projects that the person may read, newest first, with what is known."""
    rows = workload_list(standing=standing).filter(kind=WorkloadKind.NOTEBOOK)
    return rows.select_related("notebook__attempt__node")


def known_of(workload: Workload) -> Notebook | None:
    """What is known of it; None before its node told anything."""
    found: Notebook | None = getattr(workload, "notebook", None)
    return found


def left_s(found: Notebook | None) -> float | None:
    """Seconds until it is reclaimed if nothing moves; None while it does not count down."""
    if found is None or found.limit_s is None or found.verdict in ("", "active"):
        return None
    return max(found.limit_s - found.quiet_s, 0.0)


def told_inside(*, uid: str) -> dict[str, Any]:
    """What the banner inside JupyterLab shows. Seconds."""
    workload = Workload.objects.select_related("notebook", "template_version", "project").get(
        uid=uid
    )
    found = known_of(workload)
    rule = rule_of(workload=workload)
    return {
        "state": workload.state,
        "running": workload.state == WorkloadState.RUNNING,
        "verdict": found.verdict if found else "",
        "warned": found.warned if found else None,
        "left_s": left_s(found),
        "keeps_left": max(rule.keeps - (found.keeps_used if found else 0), 0),
        "reclaims": rule.action == "reclaim",
    }


def went_on(workload: Workload) -> tuple[Workload | None, Workload | None]:
    """The notebook that this goes on from in another size, and the one in which this went on."""
    known = known_of(workload)
    before = known.continues if known is not None else None
    later = Notebook.objects.filter(continues=workload).select_related("workload").order_by("-pk")
    after = later.first()
    return before, after.workload if after is not None else None

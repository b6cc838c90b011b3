"""Keeping a notebook that would be reclaimed: its owner's word, a few times a run."""

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from pool.clock import now
from pool.errors import NotYours, PoolError
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.workloads import WorkloadState
from pool.models.notebooks.notebooks import Notebook
from pool.models.workloads import Workload
from pool.selectors.notebooks.rules import rule_of
from pool.services.moves import locked


class NoKeepsLeft(PoolError):
    """It was kept as often as its rule allows; detail: most."""

    code = "no_keeps_left"
    status = 409
    text = _("It was kept %(most)s times already; work in it, or let it be stopped and resume it.")


class NotRunning(PoolError):
    """Only a notebook that runs can be kept."""

    code = "not_running"
    status = 409
    text = _("The notebook does not run.")


@transaction.atomic
def notebook_keep(*, workload: Workload, actor: Actor) -> Notebook:
    """Count its idle time from now again. One that was not warned is kept without using a keep.

    Raises:
        NotYours: it is no notebook.
        NotRunning: it is not running, or is being stopped.
        NoKeepsLeft: the rule allows no more.
    """
    (row,) = locked(Workload.objects.filter(pk=workload.pk).select_related("project", "owner"))
    found = Notebook.objects.select_for_update().filter(workload=row).first()
    if found is None:
        raise NotYours
    if row.state != WorkloadState.RUNNING:
        raise NotRunning
    if found.warned is None:
        return found
    most = rule_of(workload=row).keeps
    if found.keeps_used >= most:
        raise NoKeepsLeft(most=most)
    found.keeps_used += 1
    found.quiet_s, found.warned, found.last_input_at = 0.0, None, now()
    found.save(update_fields=["keeps_used", "quiet_s", "warned", "last_input_at"])
    record(EventKind.NOTEBOOK_KEPT, row, actor=actor, used=found.keeps_used, most=most)
    return found

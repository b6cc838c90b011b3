"""Notebooks with the same files, one gone on from another: only one of them is wanted at a time."""

from django.db.models import Q
from django.utils.translation import gettext

from nodeagent.protocol.vocabulary import WorkloadKind
from pool.errors import Invalid
from pool.lifecycle.workloads import OPEN
from pool.models.notebooks.notebooks import Notebook
from pool.models.workloads import Workload


def none_beside(*, workload: Workload) -> None:
    """Pass while no other notebook with the same files waits or runs.

    The caller holds the project's row, under which each of them comes and goes on.

    Raises:
        Invalid: it goes on in another size already, or it is itself what another went on in.
    """
    if workload.kind != WorkloadKind.NOTEBOOK:
        return
    others = _family(workload) - {workload.pk}
    awake = Workload.objects.filter(pk__in=others, state__in=OPEN).first()
    if awake is not None:
        raise Invalid(notebook=f"{gettext('It went on in another size:')} {awake.uid}.")


def _family(workload: Workload) -> set[int]:
    """Keys of all that went on from one another; a query for each step between them."""
    known, edge = {workload.pk}, {workload.pk}
    while edge:
        near = Notebook.objects.filter(Q(workload__in=edge) | Q(continues__in=edge))
        pairs = near.exclude(continues=None).values_list("workload", "continues")
        edge = {key for pair in pairs for key in pair if key is not None} - known
        known |= edge
    return known

"""What starts a piece of work on its node: a process, or a container of an image."""

from collections.abc import Iterable

from django.utils.translation import gettext

from nodeagent.protocol.vocabulary import WorkloadKind
from pool.errors import Invalid
from pool.lifecycle.nodes import NodeState
from pool.models.nodes import Node
from pool.models.partitions import Partition
from pool.models.templates import TemplateVersion
from pool.rules.workloads import image_problem
from pool.services.refusals import refuse

RUNNABLE = frozenset({WorkloadKind.JOB, WorkloadKind.NOTEBOOK})
"""Kinds that some runner can start today."""

PROCESS = "process"
CONTAINER = "container"


def kind_runnable(*, template_version: TemplateVersion) -> None:
    """Pass when some runner can start work of the template's kind.

    Raises:
        Invalid: none can.
    """
    if template_version.kind not in RUNNABLE:
        raise Invalid(template=gettext("Nothing here can run work of this kind yet."))


def runner_for(*, image: str, partitions: Iterable[Partition], cards: bool) -> str:
    """The runner of work in that image, or of work without one. Work without cards goes anywhere.

    Raises:
        Invalid: that is no name of an image, or no node of the partitions runs containers.
    """
    refuse({"image": image_problem(image)})
    if not image:
        return PROCESS
    nodes = Node.objects.filter(host__runners__contains=[CONTAINER])
    nodes = nodes.exclude(state=NodeState.RETIRED)
    if cards:
        nodes = nodes.filter(cards__partition__in=list(partitions))
    if not nodes.exists():
        raise Invalid(image=gettext("No node of its partitions runs containers."))
    return CONTAINER

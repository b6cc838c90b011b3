"""Going on with a notebook in another size: new work with the same files, environment and name.

It is new work so that what was held and paid before keeps its own template and price.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from nodeagent.protocol.vocabulary import WorkloadKind
from pool.errors import Forbidden, IllegalMove, Invalid
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.workloads import WORKLOAD, WorkloadState
from pool.models.notebooks.notebooks import Notebook
from pool.models.partitions import Partition
from pool.models.templates import TemplateVersion
from pool.models.users import User
from pool.models.workloads import Workload
from pool.services.catalogue.giving import given_again, work_submit
from pool.services.moves import locked
from pool.services.notebooks.beside import none_beside
from pool.services.rights import Weights
from pool.services.wishes import project_open

GOES_ON = frozenset({WorkloadState.STOPPED, WorkloadState.RECLAIMED, WorkloadState.FAILED})
"""States in which a notebook can go on; one that failed for want of memory, too."""


@transaction.atomic
def notebook_resized(
    *,
    workload: Workload,
    user: User,
    template_version: TemplateVersion,
    actor: Actor,
    need: Mapping[str, Any] | None = None,
    partitions: Iterable[Partition] = (),
    expected_seconds: int | None = None,
    when_full: str = "",
    weights: Weights | None = None,
) -> Workload:
    """Queue it again with another template or need, or let it wait for the approval that takes.

    What was stopped stays as it is, and can be resumed in its old size once this is at rest. The
    project is locked before it, as everywhere.

    Raises:
        Forbidden: it is another person's: the files are theirs.
        IllegalMove: it is still wanted, or over for good.
        Invalid: it, or the template, is no notebook; a word is wrong; or another with the same
            files waits or runs.
        PoolError: as for any submission.
    """
    project_open(project=workload.project)
    (row,) = locked(
        Workload.objects.filter(pk=workload.pk).select_related(
            "project__organization", "owner", "environment"
        )
    )
    if row.owner_id != user.pk:
        raise Forbidden
    if row.kind != WorkloadKind.NOTEBOOK:
        raise Invalid(kind=gettext("This is no notebook."))
    if template_version.kind != WorkloadKind.NOTEBOOK:
        raise Invalid(template=gettext("The template is not for notebooks."))
    if row.state not in GOES_ON:
        raise IllegalMove(noun=WORKLOAD.name, state=row.state, then=str(WorkloadState.QUEUED))
    none_beside(workload=row)
    made = work_submit(
        given=given_again(workload=row),
        user=user,
        project=row.project,
        template_version=template_version,
        command=None,
        name=row.name,
        comment=row.comment,
        env=row.env,
        files=row.files,
        image="" if row.environment else row.image,
        need=need or {},
        partitions=partitions,
        expected_seconds=seconds_of(
            workload=row, template_version=template_version, said=expected_seconds
        ),
        when_full=when_full,
        weights=weights,
        silence=row.silence,
        actor=actor,
    )
    if row.home:
        Workload.objects.filter(pk=made.pk).update(home=row.home)
    Notebook.objects.create(workload=made, continues=row)
    template = template_version.template.slug
    record(EventKind.NOTEBOOK_RESIZED, row, actor=actor, to=made.uid, template=template)
    return made


def seconds_of(
    *, workload: Workload, template_version: TemplateVersion, said: int | None = None
) -> int:
    """For how long it is asked for: what is said, else as long as before, if its template lets it.

    A door that weighs it must weigh the same time.
    """
    return said or min(workload.expected_seconds, template_version.max_seconds)

"""Work with what it is to use: submitted with it, kept beside it, given once more."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Q

from pool.models.catalogue.uses import SecretUse, StorageUse
from pool.models.leases import Lease
from pool.models.requests import Request
from pool.models.templates import TemplateVersion
from pool.models.tenants import Project
from pool.models.users import User
from pool.models.workloads import Workload
from pool.rules.catalogue import Mounted, Told
from pool.rules.catalogue_images import warnings_of
from pool.rules.needs import changed
from pool.selectors.catalogue.lists import given_to
from pool.services.approvals.given import judged_in
from pool.services.catalogue.judging import (
    Given,
    Ready,
    given_for,
    given_from,
    given_judged,
    given_kept,
    inside_of,
)
from pool.services.refusals import refusing, said
from pool.services.workloads import workload_submit

KINDS = ("labels", "vendors", "architectures", "modes")
"""Of these a lease may name what it was granted for; work under it stays with that."""


@transaction.atomic
def work_submit(
    *,
    user: User,
    project: Project,
    template_version: TemplateVersion,
    given: Given | None = None,
    need: Mapping[str, Any] | None = None,
    lease: Lease | None = None,
    **words: Any,
) -> Workload:
    """Submit work with what it is to use; see `workload_submit` for the other words.

    Where nothing is said (`given` is None) and a lease is named, it gets what the lease's request
    named, and the cards of the kinds that were granted. A request that is opened for the work names
    the same for those who decide. The workload that is returned carries `warnings`: sentences about
    its environment.

    Raises:
        Invalid: a thing is not there, not the person's to use, on no node, or does not fit.
        PoolError: as for any submission.
    """
    wanted, need = given or Given(), need or {}
    if lease is not None and lease.template_version.template_id == template_version.template_id:
        need = _of_the_kinds(need, lease)
    if given is None and lease is not None:
        asked = lease.request
        wanted = given_for(given_from(asked.given), user=user)
        words["image"] = words.get("image") or asked.image
    image = words.get("image") or ""
    ready = given_judged(
        given=wanted,
        user=user,
        project=project,
        version=template_version,
        need=need,
        env=words.get("env") or {},
        files=words.get("files") or {},
        image=image,
    )
    if ready.image:
        words["image"] = ready.image
    made = workload_submit(
        user=user,
        project=project,
        template_version=template_version,
        need=ready.need,
        lease=lease,
        **words,
    )
    _keep(made, ready)
    if made.request_id is not None:
        named = {"given": judged_in(given_kept(wanted), made.uid), "image": image}
        Request.objects.filter(pk=made.request_id).update(**named)
    made.warnings = work_warnings(workload=made)  # type: ignore[attr-defined]
    return made


def given_again(*, workload: Workload) -> Given:
    """What a workload was given, as words: for the same once more."""
    storage, secrets = given_to(workload=workload)
    return Given(
        mounts=[Mounted(use.storage.uid, use.at, use.mode) for use in storage],
        secrets=[Told(use.secret.uid, use.name, use.form) for use in secrets],
        environment=workload.environment.slug if workload.environment else "",
    )


def work_warnings(*, workload: Workload) -> list[str]:
    """What a person should know of the environment, though the work was taken; two queries."""
    environment = workload.environment
    if environment is None:
        return []
    named = workload.need.get("labels") or ()
    labels = set(named) or set(
        workload.partitions.filter(cards__isnull=False)
        .values_list("cards__label", flat=True)
        .distinct()
    )
    if not workload.need.get("parts", 1):
        labels = set()
    return [said(one) for one in warnings_of(inside_of(environment), labels)]


def _keep(made: Workload, ready: Ready) -> None:
    for use in ready.storage:
        use.workload = made
    for told in ready.secrets:
        told.workload = made
    StorageUse.objects.bulk_create(ready.storage)
    SecretUse.objects.bulk_create(ready.secrets)
    if ready.environment is not None:
        both = Q(pk=made.pk) | Q(parent=made)
        Workload.objects.filter(both).update(environment=ready.environment)
        made.environment = ready.environment


def _of_the_kinds(need: Mapping[str, Any], lease: Lease) -> Mapping[str, Any]:
    """The need with the kinds of cards of the lease, where it names none itself."""
    with refusing():
        said_so = changed({}, need)
    granted = {name: lease.need[name] for name in KINDS if lease.need.get(name)}
    return {**need, **{name: one for name, one in granted.items() if not said_so.get(name)}}

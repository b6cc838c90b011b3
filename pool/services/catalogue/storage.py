"""Storage objects: allowed, changed, closed by administrators of the platform."""

from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from pool.errors import InUse, Invalid
from pool.events import Actor, record
from pool.lifecycle.catalogue import Access, Backing
from pool.lifecycle.events import EventKind
from pool.lifecycle.workloads import ENDED
from pool.models.catalogue.storage import Storage
from pool.models.catalogue.uses import StorageUse
from pool.models.tenants import Organization, Project
from pool.models.users import User
from pool.rules.catalogue import storage_problems
from pool.services.catalogue.watched import nodes_look
from pool.services.moves import locked
from pool.services.refusals import refuse

CHANGEABLE = ("name", "source", "mode", "create", "note", "active")
"""What may change once it is there: work that uses it counts on its path."""


@transaction.atomic
def storage_create(
    *,
    name: str,
    kind: str,
    path: str,
    actor: Actor,
    backing: str = Backing.HOST,
    source: str = "",
    mode: str = Access.READ,
    create: bool = False,
    organization: Organization | None = None,
    project: Project | None = None,
    user: User | None = None,
    note: str = "",
) -> Storage:
    """Allow a folder of the nodes to be used by everybody, or by one organization, project, person.

    Every node looks whether it has it, and says so with its next report.

    Raises:
        Invalid: a word is wrong, the name is taken there, or it belongs to more than one.
    """
    words: dict[str, Any] = {"name": name, "kind": kind, "backing": backing, "path": path}
    words |= {"source": source, "mode": mode, "note": note}
    refuse(storage_problems(**words))
    if sum(one is not None for one in (organization, project, user)) > 1:
        raise Invalid(project=gettext("It belongs to one organization, project or person."))
    row = Storage(
        **words,
        create=create,
        organization=organization,
        project=project,
        user=user,
        name_folded=name.casefold()[:80],
    )
    _name_free(row)
    row.save()
    record(EventKind.STORAGE_CHANGED, row, actor=actor, name=name, path=path, after="allowed")
    nodes_look()
    return row


@transaction.atomic
def storage_change(*, storage: Storage, actor: Actor, **words: Any) -> Storage:
    """Change what people read of it, whether they may write, or whether it is offered at all.

    Work that is queued keeps what it was promised; closed storage is given to no new work.

    Raises:
        Invalid: a word is wrong, or the name is taken there.
    """
    row = locked(Storage.objects.filter(pk=storage.pk))[0]
    before = {name: getattr(row, name) for name in CHANGEABLE}
    for name in CHANGEABLE:
        if words.get(name) is not None:
            setattr(row, name, words[name])
    checked = ("name", "kind", "backing", "path", "source", "mode", "note")
    refuse(storage_problems(**{name: getattr(row, name) for name in checked}))
    row.name_folded = row.name.casefold()[:80]
    _name_free(row)
    row.save()
    after = {name: getattr(row, name) for name in CHANGEABLE if getattr(row, name) != before[name]}
    if after:
        was = {name: before[name] for name in after}
        record(EventKind.STORAGE_CHANGED, row, actor=actor, name=row.name, before=was, after=after)
        nodes_look()
    return row


@transaction.atomic
def storage_remove(*, storage: Storage, actor: Actor) -> None:
    """Take it out of the catalogue; one that work ever used is only closed, for the record.

    Raises:
        InUse: live work uses it.
    """
    row = locked(Storage.objects.filter(pk=storage.pk))[0]
    live = StorageUse.objects.filter(storage=row).exclude(workload__state__in=sorted(ENDED))
    if count := live.count():
        raise InUse(what=row.name, count=count)
    record(EventKind.STORAGE_CHANGED, row, actor=actor, name=row.name, after="removed")
    if StorageUse.objects.filter(storage=row).exists():
        row.active = False
        row.save(update_fields=["active"])
    else:
        row.delete()
    nodes_look()


def _name_free(row: Storage) -> None:
    same = Storage.objects.filter(
        name_folded=row.name_folded,
        organization=row.organization,
        project=row.project,
        user=row.user,
    )
    if same.exclude(pk=row.pk).exists():
        raise Invalid(name=gettext("There is one of this name already."))

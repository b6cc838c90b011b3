"""Secrets: set, set anew, removed; the value goes in and never comes out but to a node."""

from django.db import transaction
from django.db.models import QuerySet

from pool.clock import now
from pool.errors import InUse, NotYours, TooMany
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.workloads import ENDED
from pool.models.catalogue.secrets import Secret
from pool.models.catalogue.uses import SecretUse
from pool.models.tenants import Project
from pool.models.users import User
from pool.rules.catalogue import secret_problems
from pool.sealing import seal
from pool.services.moves import locked
from pool.services.refusals import refuse

MOST_SECRETS = 200
"""Secrets of one person, and of one project."""


@transaction.atomic
def secret_set(
    *,
    name: str,
    value: str,
    actor: Actor,
    user: User | None = None,
    project: Project | None = None,
    note: str = "",
) -> tuple[Secret, bool]:
    """Set a secret of a person or of a project; whether it is a new one.

    Of one that is there the value is replaced: work that starts from now on gets the new one, work
    that runs keeps what it was given.

    Raises:
        Invalid: name or value is wrong.
        TooMany: its owner has 200 already.
        NoKey: the site has no key to seal it with.
    """
    refuse(secret_problems(name=name, value=value, note=note))
    sealed = seal(value)
    if project is not None:
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    elif user is not None:
        User.objects.select_for_update(no_key=True).get(pk=user.pk)
    mine = Secret.objects.filter(user=user, project=project, removed_at=None)
    row = locked(mine.filter(name=name))
    fresh = {"sealed": sealed, "note": note, "set_by": actor.label[:160], "set_at": now()}
    if row:
        found = row[0]
        for field, given in fresh.items():
            setattr(found, field, given)
        found.version += 1
        found.save()
    else:
        if mine.count() >= MOST_SECRETS:
            raise TooMany(what="secrets", limit=MOST_SECRETS)
        found = Secret.objects.create(name=name, user=user, project=project, **fresh)
    kind = EventKind.SECRET_CHANGED if row else EventKind.SECRET_CREATED
    record(kind, found, actor=actor, name=name, version=found.version)
    return found, not row


@transaction.atomic
def secret_remove(*, secret: Secret, actor: Actor, force: bool = False) -> None:
    """Forget the value for good. With `force` also one that live work uses: what runs keeps it,
    what has not started is refused by its node.

    Raises:
        NotYours: it is gone already.
        InUse: live work uses it.
    """
    rows = locked(Secret.objects.filter(pk=secret.pk, removed_at=None))
    if not rows:
        raise NotYours
    row = rows[0]
    using = used_by(row).count()
    if using and not force:
        raise InUse(what=row.name, count=using)
    row.sealed, row.removed_at = "", now()
    row.save(update_fields=["sealed", "removed_at"])
    record(EventKind.SECRET_REMOVED, row, actor=actor, name=row.name, used_by=using)


def used_by(secret: Secret) -> QuerySet[SecretUse]:
    """Uses of it by work that has not ended."""
    uses = SecretUse.objects.filter(secret=secret)
    return uses.exclude(workload__state__in=sorted(ENDED)).select_related("workload")

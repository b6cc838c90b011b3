"""What a person owns besides work: whatever of the pool is theirs, found from the models."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Model, Q

from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models.catalogue.storage import Storage
from pool.models.catalogue.uses import SecretUse
from pool.models.schedules import Schedule
from pool.models.tenants import Membership
from pool.models.users import User
from pool.models.workloads import Workload
from pool.selectors.memberships import Standing, standing
from pool.selectors.notebooks.wanted import home_of
from pool.selectors.people.living import RESUMABLE, resumable_of
from pool.services.notebooks.shares import notebook_unshare
from pool.sweeps import each

APART = (Workload, Schedule)
"""Work has rules of its own: what ran stays the leaver's, for the books."""

NAME_MOST = 63

THEIRS: dict[type[Model], str] = {Storage: "user"}
"""Tables that name the person otherwise than as `owner`."""


def kinds_owned() -> Iterator[tuple[type[Model], str]]:
    """Tables of the pool whose rows belong to a person, work apart, and the column that says so."""
    yield from THEIRS.items()
    for relation in User._meta.related_objects:
        model = relation.related_model
        if isinstance(model, str) or model._meta.app_label != "pool" or model in APART:
            continue
        if relation.field.name == "owner":
            yield model, "owner"


def belongings_hand_over(*, user: User, heir: User, actor: Actor) -> int:
    """Give the heir what the person owns and the heir may use; how many things changed hands.

    Each in a transaction of its own. Notebooks are shared no more: that was the leaver's word.
    What belongs to no place goes over whole; a thing of a project
    only where the heir works, of an organization only where the heir is somebody. Secrets are never
    handed on: they are the person's own, and handed-over work forgets them. Folders stay where they
    are: `{user}` in their paths goes on meaning the person, below the same root. An heir who has
    left, too, gets nothing.
    """
    heirs = standing(user=heir)
    if not heir.is_active:
        return 0
    notebooks = partial(_notebook_given, user, heir, heirs, actor)
    count = each(resumable_of(user).select_related("project"), notebooks, of="leaver.notebook")
    for model, column in kinds_owned():
        things = model._default_manager.filter(**{column: user}).order_by("pk")
        count += each(things, partial(_given, column, user, heir, heirs, actor), of="leaver.thing")
    return count


@transaction.atomic
def _notebook_given(user: User, heir: User, heirs: Standing, actor: Actor, found: Workload) -> bool:
    rows = Workload.objects.select_for_update(of=("self",)).select_related("project", "owner")
    row = rows.get(pk=found.pk)
    if row.owner_id != user.pk or row.state not in RESUMABLE or not heirs.works_in(row.project):
        return False
    notebook_unshare(workload=row, actor=actor)
    row.home = home_of(row)
    row.owner = heir
    row.save(update_fields=["owner", "home"])
    SecretUse.objects.filter(workload=row, secret__user=user).delete()
    _tell(row, user, heir, actor)
    return True


@transaction.atomic
def _given(
    column: str, user: User, heir: User, heirs: Standing, actor: Actor, thing: Model
) -> bool:
    rows = type(thing)._default_manager.select_for_update(of=("self",))
    found = rows.filter(pk=thing.pk, **{column: user}).first()
    if found is None or not _may_have(found, heir, heirs):
        return False
    thing, changed = found, [column]
    if isinstance(thing, Storage):
        changed += _as_it_was(thing, user, heir)
    setattr(thing, column, heir)
    thing.save(update_fields=changed)
    _tell(thing, user, heir, actor)
    return True


def _may_have(thing: Model, heir: User, heirs: Standing) -> bool:
    """A project's thing is for who works there, an organization's for who is somebody there."""
    home = getattr(thing, "project", None)
    if home is not None:
        return heirs.works_in(home)
    around = getattr(thing, "organization", None)
    if around is None or heirs.platform:
        return True
    inside = Q(organization=around) | Q(project__organization=around)
    return Membership.objects.filter(inside, user=heir).exists()


def _as_it_was(row: Storage, user: User, heir: User) -> list[str]:
    """The same folder under a name that the heir has not.

    Its path is kept: what comes before the first word in braces is what nodes must have and trust,
    and may not become a folder that the leaver could write into.
    """
    if "{user}" in row.path:
        row.named_for = row.named_for or user.unix_account or user.username
    taken = set(Storage.objects.filter(user=heir).values_list("name_folded", flat=True))
    number, plain = 1, row.name
    while row.name.casefold()[:80] in taken:
        mark = f"-{user.username}"[:30] + (f"-{number}" if number > 1 else "")
        row.name = plain[: NAME_MOST - len(mark)] + mark
        number += 1
    row.name_folded = row.name.casefold()[:80]
    return ["named_for", "name", "name_folded"]


def _tell(thing: Model, user: User, heir: User, actor: Actor) -> None:
    told: dict[str, Any] = {"before": user.uid, "after": heir.uid}
    record(
        EventKind.OWNER_CHANGED, thing, actor=actor, project=getattr(thing, "project", None), **told
    )

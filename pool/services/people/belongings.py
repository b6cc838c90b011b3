"""What a person owns besides work: whatever of the pool has an `owner`, found from the models."""

from collections.abc import Iterator

from django.db import transaction
from django.db.models import Model

from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models.catalogue.uses import SecretUse
from pool.models.schedules import Schedule
from pool.models.users import User
from pool.models.workloads import Workload
from pool.selectors.memberships import standing
from pool.selectors.people.living import resumable_of

APART = (Workload, Schedule)
"""Work has rules of its own: what ran stays the leaver's, for the books."""


def kinds_owned() -> Iterator[type[Model]]:
    """Tables of the pool with an `owner` that is a person, work apart."""
    for relation in User._meta.related_objects:
        model = relation.related_model
        if isinstance(model, str) or model._meta.app_label != "pool" or model in APART:
            continue
        if relation.field.name == "owner":
            yield model


@transaction.atomic
def belongings_hand_over(*, user: User, heir: User, actor: Actor) -> int:
    """Give the heir what the person owns and the heir may use; how many things changed hands.

    What belongs to no project goes over whole; a thing of a project only where the heir works.
    Secrets are never handed on: they are the person's own, and handed-over work forgets them.
    """
    heirs = standing(user=heir)
    count = 0
    things: list[Model] = list(resumable_of(user).select_related("project"))
    for model in kinds_owned():
        if model._meta.model_name != "secret":
            things += list(model._default_manager.filter(owner=user).order_by("pk"))
    for thing in things:
        home = getattr(thing, "project", None)
        if home is None or heirs.works_in(home):
            thing.owner = heir  # type: ignore[attr-defined]
            thing.save(update_fields=["owner"])
            if isinstance(thing, Workload):
                SecretUse.objects.filter(workload=thing, secret__user=user).delete()
            told = {"before": user.uid, "after": heir.uid}
            record(EventKind.OWNER_CHANGED, thing, actor=actor, project=home, **told)
            count += 1
    return count

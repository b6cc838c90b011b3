"""The numbers of scheduling are changed, and every change of them or of a partition is kept."""

from typing import Any

from django.db import connection, transaction

from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.locks import POLICIES
from pool.models.installation import Installation
from pool.models.partitions import Partition
from pool.models.policies import PolicyVersion
from pool.models.users import User
from pool.rules.policies import difference, numbers_from, numbers_in_force, reason_problem
from pool.selectors.calendar.policies import values_of
from pool.services.refusals import refuse, refusing
from pool.wake import round_wanted


@transaction.atomic
def numbers_change(
    *,
    values: dict[str, Any],
    reason: str,
    actor: Actor,
    user: User | None = None,
    reverts: PolicyVersion | None = None,
) -> PolicyVersion | None:
    """Set the numbers named; the next round reads them. None when that changes nothing.

    Raises:
        Invalid: an unknown name, a number out of bounds, or no reason.
    """
    refuse({"reason": reason_problem(reason)})
    with refusing():
        given = numbers_from(values)
    _one_at_a_time()
    newest = PolicyVersion.objects.filter(partition=None).order_by("-number").first()
    before = numbers_in_force(newest.values if newest else {})
    after = {**before, **given}
    if after == before:
        return None
    row = PolicyVersion.objects.create(
        number=newest.number + 1 if newest else 1,
        values=after,
        reason=reason.strip(),
        actor_label=actor.label[:160],
        user=user,
        reverts=reverts,
    )
    record(
        EventKind.POLICY_CHANGED,
        Installation.objects.get(pk=1),
        actor=actor,
        changed={k: list(v) for k, v in difference(before, after).items()},
        reason=reason.strip(),
    )
    round_wanted()
    return row


def partition_keep(
    *,
    partition: Partition,
    actor: Actor,
    reason: str,
    before: dict[str, Any] | None = None,
    user: User | None = None,
    reverts: PolicyVersion | None = None,
) -> None:
    """Keep the partition as it is now as its newest version. Call it with its row locked.

    `before` is what it was, and becomes the first version where there is none yet: so the first
    change can be taken back as well.
    """
    newest = PolicyVersion.objects.filter(partition=partition).order_by("-number").first()
    number = newest.number + 1 if newest else 1
    if newest is None and before is not None:
        PolicyVersion.objects.create(
            partition=partition, number=1, values=before, actor_label="system"
        )
        number = 2
    PolicyVersion.objects.create(
        partition=partition,
        number=number,
        values=values_of(partition),
        reason=reason[:200],
        actor_label=actor.label[:160],
        user=user,
        reverts=reverts,
    )


def _one_at_a_time() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [POLICIES])

"""Switching a step of a partition's roll-out on, and back: one change of the partition each."""

from django.db import transaction
from django.utils.translation import gettext as _

from pool.clock import now
from pool.errors import Invalid, NotYours
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models.partitions import Partition
from pool.models.planning.rollouts import RolloutMove
from pool.models.users import User
from pool.rules.planning.rollout import (
    SWITCHED,
    Step,
    missing_before,
    switched_off,
    switched_on,
)
from pool.rules.policies import reason_problem
from pool.selectors.planning.rollout import on_now, setup_of
from pool.services.moves import locked
from pool.services.partitions import partition_change
from pool.services.refusals import refuse


@transaction.atomic
def rollout_switch(
    *,
    partition: Partition,
    step: str,
    on: bool,
    reason: str,
    actor: Actor,
    user: User | None = None,
    skip: bool = False,
) -> RolloutMove:
    """Bring a step about, or take it back; what it changed is kept for the way back.

    `skip` passes over earlier steps that are not in force: who skips says why, like everybody.

    Raises:
        NotYours: the partition does not exist any more.
        Invalid: no such switch, no reason, it stands so already, or an earlier step is missing.
    """
    refuse({"reason": reason_problem(reason)})
    if step not in SWITCHED:
        raise Invalid(step=", ".join(SWITCHED))
    found = locked(Partition.objects.filter(pk=partition.pk))
    if not found:
        raise NotYours
    row, wanted, at = found[0], Step(step), now()
    setup = setup_of(row, at=at)
    standing = on_now(setup)
    if (wanted in standing) == on:
        raise Invalid(on=_("It is on already.") if on else _("It is off already."))
    missing = missing_before(wanted, standing)
    if on and missing and not skip:
        raise Invalid(
            step=_("Earlier steps come first: %(steps)s.") % {"steps": ", ".join(missing)}
        )
    last = RolloutMove.objects.filter(partition=row, step=wanted, on=True).first()
    words = (
        switched_on(wanted, setup)
        if on
        else switched_off(wanted, setup, last.before if last is not None else None)
    )
    before = {name: getattr(row, name) for name in words}
    if words:
        partition_change(partition=row, actor=actor, user=user, reason=reason.strip(), **words)
    move = RolloutMove.objects.create(
        partition=row,
        step=wanted,
        on=on,
        before=before,
        after=words,
        reason=reason.strip(),
        actor_label=actor.label[:160],
        user=user,
        at=at,
    )
    record(
        EventKind.ROLLOUT_MOVED,
        move,
        actor=actor,
        partition=row.slug,
        step=wanted.value,
        on=on,
        reason=move.reason,
    )
    return move

"""What can be done to the installation as a whole."""

from django.db import connection, transaction

from pool.announce import wake_node
from pool.clock import now
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models.installation import Installation
from pool.models.nodes import Node


@transaction.atomic
def epoch_raise(*, reason: str, actor: Actor) -> int:
    """Begin a new epoch after a backup was restored; returns its number.

    Agents then take the restored books for the truth although their generations are older, and
    report work that the books do not know as found; until all that answer have done so, nothing is
    started: it may run already. The log is locked until the commit: no event of
    the old epoch can be written after one of the new.
    """
    with connection.cursor() as cursor:
        cursor.execute("LOCK TABLE pool_event IN SHARE ROW EXCLUSIVE MODE")
    row = Installation.objects.select_for_update().get(pk=1)
    row.epoch += 1
    row.epoch_raised_at = now()
    row.save(update_fields=["epoch", "epoch_raised_at"])
    Node.objects.update(reached=0)
    record(EventKind.EPOCH_RAISED, row, actor=actor, epoch=row.epoch, reason=reason)
    for uid in Node.objects.order_by("pk").values_list("uid", flat=True):
        wake_node(uid)
    return row.epoch

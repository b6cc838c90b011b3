"""Measured values on their way into the day's table, by COPY; each batch is taken once."""

from datetime import UTC, datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import F, Q

from nodeagent.protocol.samples import Reading, SampleBatch
from pool.clock import now
from pool.models.cards import Card
from pool.models.nodes import Node
from pool.models.samples import WIDE
from pool.models.slices import Slice
from pool.models.workloads import Attempt
from pool.services.observed import actor_of, node_back

_COLUMNS = ("at", "card_id", "slice_id", "attempt_id", "seconds", *WIDE, "fidelity")
_COPY = f"COPY pool_sample ({', '.join(_COLUMNS)}) FROM STDIN"


def samples_take(*, node: Node, batch: SampleBatch) -> int:
    """Store the readings of one batch, which is also the node's heartbeat; how many were stored.

    A batch that was taken before, by its boot id and sequence, only counts as a heartbeat.
    Readings of cards that the node does not have are left out.
    """
    node_back(node=node, actor=actor_of(node))
    with transaction.atomic():
        fresh = ~Q(sample_boot_id=batch.boot_id) | Q(sample_sequence__lt=batch.sequence)
        at = now()
        alive = {"report_count": F("report_count") + 1, "last_report_at": at}
        counted = Node.objects.filter(fresh, pk=node.pk).update(
            sample_boot_id=batch.boot_id, sample_sequence=batch.sequence, **alive
        )
        if not counted:
            Node.objects.filter(pk=node.pk).update(**alive)
            return 0
        rows = _rows(node, batch, at)
        if rows:
            _copy(rows)
    return len(rows)


def _rows(node: Node, batch: SampleBatch, at: datetime) -> list[tuple[Any, ...]]:
    cards = dict(Card.objects.filter(node=node).values_list("uuid", "pk"))
    named = {one.slice for one in batch.readings if one.slice}
    ran = {one.attempt for one in batch.readings if one.attempt}
    slices = dict(Slice.objects.filter(uid__in=named, card__node=node).values_list("uid", "pk"))
    attempts = dict(Attempt.objects.filter(uid__in=ran, node=node).values_list("uid", "pk"))
    late = at.timestamp() - batch.sent_at
    return [
        _row(
            one, cards[one.card], slices.get(one.slice or ""), attempts.get(one.attempt or ""), late
        )
        for one in batch.readings
        if one.card in cards
    ]


def _row(
    one: Reading, card: int, slice_id: int | None, attempt: int | None, late: float
) -> tuple[Any, ...]:
    """One reading as a row; its moment is brought to our clock."""
    moment = datetime.fromtimestamp(one.at + late, UTC)
    values = tuple(getattr(one, name) for name in WIDE)
    return (moment, card, slice_id, attempt, one.seconds, *values, str(one.fidelity))


def _copy(rows: list[tuple[Any, ...]]) -> None:
    with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        for row in rows:
            copy.write_row(row)

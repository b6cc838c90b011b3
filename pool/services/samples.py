"""Measured values on their way into the day's table, by COPY; each batch is taken once."""

from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction

from nodeagent.protocol.samples import Reading, SampleBatch
from nodeagent.protocol.vocabulary import Fidelity
from pool.announce import announce_use
from pool.clock import now
from pool.models.nodes import Node
from pool.models.samples import WIDE
from pool.models.slices import Slice
from pool.models.workloads import Attempt
from pool.rules.telemetry import COUNTED, blind
from pool.selectors.hardware.standing import card_keys
from pool.selectors.ranks import part_on
from pool.services.observed import actor_of, node_back
from pool.services.telemetry.rollups import rollups_touched

_COLUMNS = ("at", "card_id", "slice_id", "attempt_id", "seconds", *WIDE, "fidelity")
EARLIEST_S, LATEST_S = 86_400.0, 300.0
"""Readings from longer ago, or from further ahead, are wrong: no node keeps them for so long."""

NONE: tuple[int | None, bool] = (None, False)
NOBODY: tuple[int | None, str] = (None, "")

_ALIVE = """
UPDATE pool_node SET report_count = report_count + 1, last_report_at = %(at)s WHERE id = %(node)s
"""
_FRESH = """
UPDATE pool_node SET report_count = report_count + 1, last_report_at = %(at)s,
  sample_boot_id = %(boot)s, sample_sequence = %(sequence)s
WHERE id = %(node)s AND (sample_boot_id <> %(boot)s OR sample_sequence < %(sequence)s)
"""
"""Plain SQL, as all that each of a thousand nodes asks every ten seconds."""

_COPY = f"COPY pool_sample ({', '.join(_COLUMNS)}) FROM STDIN"


def samples_take(*, node: Node, batch: SampleBatch) -> int:
    """Store the readings of one batch, which is also the node's heartbeat; how many were stored.

    A batch that was taken before, by its boot id and sequence, only counts as a heartbeat.
    Readings of cards that the node does not have are left out, and so are those of moments that
    cannot be.
    """
    node_back(node=node, actor=actor_of(node))
    with transaction.atomic():
        at = now()
        if not _is_fresh(node, batch, at):
            return 0
        ran = _ran(node, batch)
        rows = _rows(node, batch, at, ran)
        if rows:
            _copy(rows)
            announce_use(node.uid, sorted({workload for _pk, workload in ran.values()}))
            rollups_touched(moments={row[0].replace(second=0, microsecond=0) for row in rows})
    return len(rows)


def _is_fresh(node: Node, batch: SampleBatch, at: datetime) -> bool:
    """Count the heartbeat; whether the batch was not taken before."""
    words: dict[str, Any] = {
        "boot": batch.boot_id,
        "sequence": batch.sequence,
        "at": at,
        "node": node.pk,
    }
    with connection.cursor() as cursor:
        cursor.execute(_FRESH, words)
        if cursor.rowcount:
            return True
        cursor.execute(_ALIVE, words)
    return False


def _ran(node: Node, batch: SampleBatch) -> dict[str, tuple[int, str]]:
    """Attempts of the node that the batch names, each with its key and its workload's uid."""
    named = {one.attempt for one in batch.readings if one.attempt}
    mine = Attempt.objects.filter(part_on(node), uid__in=named)
    told = mine.values_list("uid", "pk", "workload__uid")
    return {uid: (pk, workload) for uid, pk, workload in told}


def _rows(
    node: Node, batch: SampleBatch, at: datetime, ran: dict[str, tuple[int, str]]
) -> list[tuple[Any, ...]]:
    """The readings as rows, each moment brought to our clock by its age on the node's."""
    cards = card_keys(node=node)
    named = {one.slice for one in batch.readings if one.slice}
    cut = Slice.objects.filter(uid__in=named, card__node=node)
    told = cut.values_list("uid", "pk", "mode", "card__facts__architecture")
    slices = {uid: (pk, blind(mode=mode, architecture=arch or "")) for uid, pk, mode, arch in told}
    return [
        (
            at + timedelta(seconds=one.at - batch.sent_at),
            cards[one.card],
            slices.get(one.slice or "", NONE)[0],
            ran.get(one.attempt or "", NOBODY)[0],
            *_values(one, blind=slices.get(one.slice or "", NONE)[1]),
        )
        for one in batch.readings
        if one.card in cards and -EARLIEST_S <= one.at - batch.sent_at <= LATEST_S
    ]


def _values(one: Reading, *, blind: bool) -> tuple[Any, ...]:
    """The numbers in their order. A measured 0 where there is no counter is unknown, never 0."""
    if not blind or one.fidelity != Fidelity.MEASURED or one.sm_mean:
        return (one.seconds, *(getattr(one, name) for name in WIDE), str(one.fidelity))
    kept = (None if name in COUNTED else getattr(one, name) for name in WIDE)
    return (one.seconds, *kept, str(Fidelity.UNAVAILABLE))


def _copy(rows: list[tuple[Any, ...]]) -> None:
    with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        for row in rows:
            copy.write_row(row)

"""The newest readings and the pool in numbers, for scrapers: few queries, whatever the size."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.db import connection
from django.db.models import Count, Sum

from pool.clock import now
from pool.lifecycle.workloads import ENDED
from pool.models.cards import Card
from pool.models.nodes import Node
from pool.models.placements import Hold
from pool.models.slices import Slice
from pool.models.workloads import Workload

FRESH = timedelta(seconds=60)
"""Older readings say nothing of now: the card is left out, not shown as 0."""

READ = {
    "util": "util_mean",
    "sm": "sm_mean",
    "occupancy": "occupancy_mean",
    "memory_mib": "memory_mib_mean",
    "bandwidth": "bandwidth_mean",
    "power_w": "power_w_mean",
    "temperature_c": "temperature_c_max",
    "ecc_corrected": "ecc_corrected",
    "ecc_uncorrected": "ecc_uncorrected",
    "pcie_width": "pcie_width",
    "pcie_generation": "pcie_generation",
}
"""What a scraper is told of each card, by the raw column it is read from."""


@dataclass(frozen=True, slots=True)
class CardNow:
    """One card with its newest readings; what is unknown is not among `values`."""

    node: str
    index: int
    uuid: str
    model: str
    memory_mib: int
    values: dict[str, float]


def cards_now(*, most: int) -> list[CardNow]:
    """The first `most` cards that were measured within a minute, by node and index."""
    columns = ", ".join(f"s.{column}" for column in READ.values())
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT n.name, c.index, c.uuid, c.label, c.memory_mib, {columns} "  # noqa: S608
            "FROM pool_card c JOIN pool_node n ON n.id = c.node_id "
            "JOIN (SELECT DISTINCT ON (card_id) * FROM pool_sample "
            "      WHERE slice_id IS NULL AND at > %s ORDER BY card_id, at DESC) s "
            "ON s.card_id = c.id WHERE c.state <> 'retired' ORDER BY n.name, c.index LIMIT %s",
            [now() - FRESH, most],
        )
        rows = cursor.fetchall()
    return [
        CardNow(
            node=node,
            index=index,
            uuid=uuid,
            model=model,
            memory_mib=memory_mib,
            values={n: float(v) for n, v in zip(READ, told, strict=True) if v is not None},
        )
        for node, index, uuid, model, memory_mib, *told in rows
    ]


def link_now(*, card: int) -> tuple[int | None, int | None]:
    """Lanes and generation of a card's PCIe link, as told within a minute; None is unknown."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pcie_width, pcie_generation FROM pool_sample "
            "WHERE card_id = %s AND slice_id IS NULL AND at > %s ORDER BY at DESC LIMIT 1",
            [card, now() - FRESH],
        )
        width, generation = cursor.fetchone() or (None, None)
    return width, generation


def node_states() -> Sequence[tuple[str, int]]:
    """Nodes by state."""
    rows = Node.objects.exclude(state="retired").values_list("state")
    return list(rows.annotate(many=Count("pk")).order_by("state"))


def card_states() -> Sequence[tuple[str, str, int]]:
    """Cards by model and state."""
    rows = Card.objects.exclude(state="retired").values_list("label", "state")
    return list(rows.annotate(many=Count("pk")).order_by("label", "state"))


def slice_states() -> Sequence[tuple[str, str, int]]:
    """Slices that are not gone, by mode and state."""
    rows = Slice.objects.filter(lived__upper_inf=True).values_list("mode", "state")
    return list(rows.annotate(many=Count("pk")).order_by("mode", "state"))


def work_states() -> Sequence[tuple[str, str, int]]:
    """Work that has not ended, by kind and state."""
    rows = Workload.objects.exclude(state__in=sorted(ENDED)).values_list("kind", "state")
    return list(rows.annotate(many=Count("pk")).order_by("kind", "state"))


def held_micro(*, most: int) -> Sequence[tuple[str, str, int]]:
    """Card equivalents held now by organization and project, in millionths; the largest first."""
    owner = "placement__attempt__workload__project"
    rows = Hold.objects.filter(held__upper_inf=True, card__isnull=False)
    named = rows.values_list(f"{owner}__organization__slug", f"{owner}__slug")
    return list(named.annotate(sum=Sum("equivalents_micro")).order_by("-sum")[:most])


@dataclass(frozen=True, slots=True)
class SliceNow:
    """One slice with its newest reading; None is unknown."""

    node: str
    index: int
    uid: str
    mode: str
    sm: float | None
    memory_mib: float | None


@dataclass(frozen=True, slots=True)
class WorkNow:
    """One workload over its slices: SM is the mean, memory is summed; None is unknown."""

    organization: str
    project: str
    uid: str
    kind: str
    held_mib: int
    sm: float | None
    memory_mib: float | None


_SLICES = """
SELECT n.name, c.index, sl.uid, sl.mode, s.sm_mean, s.memory_mib_mean
FROM (SELECT DISTINCT ON (slice_id) * FROM pool_sample
      WHERE slice_id IS NOT NULL AND at > %s ORDER BY slice_id, at DESC) s
JOIN pool_slice sl ON sl.id = s.slice_id AND upper_inf(sl.lived)
JOIN pool_card c ON c.id = sl.card_id JOIN pool_node n ON n.id = c.node_id
ORDER BY n.name, c.index, sl.id LIMIT %s
"""
_WORK = """
SELECT o.slug, p.slug, w.uid, w.kind, sum(sl.memory_mib), avg(s.sm_mean), sum(s.memory_mib_mean)
FROM (SELECT DISTINCT ON (slice_id) * FROM pool_sample
      WHERE slice_id IS NOT NULL AND at > %s ORDER BY slice_id, at DESC) s
JOIN pool_slice sl ON sl.id = s.slice_id
JOIN pool_attempt a ON a.id = s.attempt_id JOIN pool_workload w ON w.id = a.workload_id
JOIN pool_project p ON p.id = w.project_id JOIN pool_organization o ON o.id = p.organization_id
WHERE w.state = 'running'
GROUP BY w.id, o.slug, p.slug ORDER BY 5 DESC, w.id LIMIT %s
"""


def slices_now(*, most: int) -> list[SliceNow]:
    """The first `most` slices that were measured within a minute, by node and card."""
    with connection.cursor() as cursor:
        cursor.execute(_SLICES, [now() - FRESH, most])
        return [SliceNow(*row) for row in cursor.fetchall()]


def work_now(*, most: int) -> list[WorkNow]:
    """Of what runs and was measured within a minute, the `most` that hold the most memory."""
    with connection.cursor() as cursor:
        cursor.execute(_WORK, [now() - FRESH, most])
        return [_work(*row) for row in cursor.fetchall()]


def _work(
    organization: str,
    project: str,
    uid: str,
    kind: str,
    held: Decimal,
    sm: float | None,
    memory_mib: float | None,
) -> WorkNow:
    return WorkNow(organization, project, uid, kind, int(held), sm, memory_mib)


def readings_age_s() -> float | None:
    """How long ago anything was measured; None when nothing was within a day."""
    at = now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT max(at) FROM pool_sample WHERE at > %s", [at - timedelta(days=1)])
        newest = cursor.fetchone()[0]
    return None if newest is None else max(0.0, (at - newest).total_seconds())

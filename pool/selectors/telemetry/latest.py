"""The newest readings and the pool in numbers, for scrapers: few queries, whatever the size."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

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

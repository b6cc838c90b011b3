"""Partitions for the cards that are there: one a family, each with the modes that suit it."""

from collections import Counter
from typing import Any

from pool.events import Actor
from pool.models import Partition
from pool.services.partitions import partition_create
from portal.first_run.fleet import Machine

NO_WHOLE_INFERENCE = {
    "per_workload": [{"purposes": ["inference"], "compute_milli": 500, "memory_milli": 1000}]
}
"""One inference replica takes at most half of a card's compute (requirement P7)."""

ROOM_FOR_BURSTS = NO_WHOLE_INFERENCE | {
    "card_sum": [{"purposes": ["finetuning"], "compute_milli": 800, "memory_milli": 1000}]
}
"""Besides, a fifth of each card is kept free of fine-tuning for bursts of inference."""

FAMILIES: tuple[dict[str, Any], ...] = (
    {
        "slug": "a100",
        "name": "A100",
        "labels": ["A100-80GB", "A100-40GB", "A100-80GB-PCIe", "A800-80GB", "A30"],
        "modes": ["whole", "mig", "mps"],
        "ceilings": NO_WHOLE_INFERENCE,
    },
    {
        "slug": "h100",
        "name": "H100 and H200",
        "labels": ["H100-80GB", "H100-80GB-PCIe", "H200"],
        "modes": ["whole", "mig"],
    },
    {
        "slug": "graphics",
        "name": "Graphics cards",
        "labels": ["L40S", "L4", "RTX-4090", "RTX-3090", "T4"],
        "modes": ["whole", "mps", "timeslice"],
        "ceilings": ROOM_FOR_BURSTS,
    },
    {
        "slug": "ascend",
        "name": "Ascend",
        "labels": ["Ascend-910B"],
        "modes": ["whole", "vnpu"],
    },
    {
        "slug": "amd",
        "name": "AMD Instinct",
        "labels": ["MI300X"],
        "modes": ["whole", "amd_partition"],
    },
)
OWN_MODES = ["whole", "mig", "mps", "timeslice", "vnpu", "amd_partition"]


def partitions_seed(
    *, machines: tuple[Machine, ...], actor: Actor, example: bool
) -> dict[Partition, Counter[str]]:
    """A partition for each family among the cards, with how many cards of each label come.

    A machine whose cards nobody knows yet gets a partition of its own, for whatever it brings;
    labels outside every family share one.
    """
    coming: Counter[str] = Counter()
    for machine in machines:
        coming.update(machine.labels)
    made: dict[Partition, Counter[str]] = {}
    known = {label for family in FAMILIES for label in family["labels"]}
    families = [*FAMILIES]
    strange = sorted(set(coming) - known)
    if strange:
        families.append(
            {"slug": "other", "name": "Other cards", "labels": strange, "modes": OWN_MODES}
        )
    for rank, family in enumerate(families, start=1):
        here = Counter({label: coming[label] for label in family["labels"] if coming[label]})
        if here:
            selector = {"labels": family["labels"]}
            made[_partition(family, selector, rank, actor, example)] = here
    unknown = [machine.name for machine in machines if not machine.labels]
    if unknown and not coming:
        local = {"slug": "local", "name": "Local cards", "modes": OWN_MODES}
        made[_partition(local, {"nodes": unknown}, 1, actor, example)] = Counter()
    return made


def _partition(
    family: dict[str, Any], selector: dict[str, list[str]], rank: int, actor: Actor, example: bool
) -> Partition:
    return partition_create(
        slug=family["slug"],
        name=family["name"],
        selector=selector,
        modes=family["modes"],
        rank=rank * 10,
        policy="fragmentation",
        ceilings=family.get("ceilings", {}),
        actor=actor,
        example=example,
    )

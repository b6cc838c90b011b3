"""Partitions that a person or a project may use."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from pool.lifecycle.cards import CardState
from pool.lifecycle.roles import Role
from pool.models.cards import Card
from pool.models.partitions import Partition
from pool.models.placements import Hold
from pool.models.tenants import Project
from pool.rules.partitions import Traits, disjoint, matches
from pool.selectors.memberships import Standing


def partition_list(*, standing: Standing) -> QuerySet[Partition]:
    """Partitions open to everybody or to one's organizations."""
    rows = Partition.objects.all()
    if standing.platform:
        return rows
    direct = rows.filter(organizations__in=standing.in_organizations(*Role))
    through = rows.filter(organizations__projects__in=standing.in_projects(*Role))
    return (rows.filter(open_to_all=True) | direct | through).distinct()


def partitions_of(*, project: Project) -> QuerySet[Partition]:
    """Partitions in which the project may run, in order of preference."""
    rows = Partition.objects.all()
    own = rows.filter(organizations=project.organization_id)
    return (rows.filter(open_to_all=True) | own).distinct()


@dataclass(frozen=True, slots=True)
class Taken:
    """Cards of one kind on one node that a selector takes, by where they are now.

    `here` are in the partition already, `free` in none, `elsewhere` in another one: these stay
    there. `leaving` are in the partition and would leave it.
    """

    node: str
    label: str
    here: int = 0
    free: int = 0
    elsewhere: int = 0
    leaving: int = 0


@dataclass(frozen=True, slots=True)
class Reach:
    """What a selector would take, by node and kind; whom it overlaps; how many in use move."""

    taken: tuple[Taken, ...]
    overlaps: tuple[str, ...]
    in_use: int

    @property
    def cards(self) -> int:
        """How many cards the partition would have."""
        return sum(one.here + one.free for one in self.taken)


def selector_reach(*, selector: Mapping[str, Any], partition: Partition | None = None) -> Reach:
    """What saving the selector would do to which cards; three queries, nothing is written."""
    mine = partition.pk if partition else 0
    found: dict[tuple[str, str], Counter[str]] = {}
    moving: list[int] = []
    cards = Card.objects.select_related("node").exclude(state=CardState.RETIRED)
    for card in cards.order_by("node__name_folded", "index"):
        traits = Traits(vendor=card.vendor, label=card.label, node=card.node.name, card=card.uuid)
        belongs = matches(selector, traits)
        if not belongs and card.partition_id != mine:
            continue
        way = _way(belongs, card.partition_id, mine)
        found.setdefault((card.node.name, card.label), Counter())[way] += 1
        if way in ("free", "leaving"):
            moving.append(card.pk)
    others = Partition.objects.exclude(pk=mine).order_by("slug")
    overlaps = tuple(one.name for one in others if not disjoint(selector, one.selector))
    held = Hold.objects.filter(card__in=moving, held__upper_inf=True)
    in_use = held.values("card").distinct().count() if moving else 0
    taken = tuple(Taken(node, label, **ways) for (node, label), ways in found.items())
    return Reach(taken, overlaps, in_use)


def _way(belongs: bool, now_in: int | None, mine: int) -> str:
    if not belongs:
        return "leaving"
    if now_in is None:
        return "free"
    return "here" if now_in == mine else "elsewhere"

"""What the advisor needs to know of this installation: its templates, its cards, its advice."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count

from pool.lifecycle.cards import CardState
from pool.models.cards import Card
from pool.models.partitions import Partition
from pool.models.templates import TemplateVersion
from pool.models.tenants import Project
from pool.rules.advisor import Advised, Answers, advise, pool_advice
from pool.selectors.memberships import Standing
from pool.selectors.partitions import partitions_of
from pool.selectors.templates import usable_templates


@dataclass(frozen=True, slots=True)
class PoolSize:
    """How many cards of a kind a partition has, and how they are best cut."""

    partition: Partition
    label: str
    cards: int
    text: str


@dataclass(frozen=True, slots=True)
class Advice:
    """The advised need with the version of the template that serves it, if any does."""

    advised: Advised
    version: TemplateVersion | None
    partitions: tuple[Partition, ...]


def advice_for(*, project: Project, standing: Standing, answers: Answers) -> Advice:
    """What the answers come to where this project may run; nothing is judged or priced yet.

    `answers` have passed `answers_problems`.
    """
    versions = usable_templates(standing=standing, project=project)
    places = tuple(partitions_of(project=project))
    offered = [(one.template.slug, one.work_class) for one in versions]
    advised = advise(answers, offered, usual_card_gb(places))
    found = {one.template.slug: one for one in versions}
    return Advice(advised, found.get(advised.template), places)


def usual_card_gb(partitions: Iterable[Partition]) -> int:
    """The nominal size most cards there have; 80 where there are none."""
    rows = Card.objects.filter(partition__in=list(partitions)).exclude(state=CardState.RETIRED)
    sizes = Counter(rows.values_list("nominal_gb", flat=True))
    return int(max(sizes, key=lambda size: (sizes[size], size), default=80) or 80)


def pool_sizes(*, partitions: Iterable[Partition]) -> list[PoolSize]:
    """Each kind of card in each partition with the advice for so many."""
    by_key = {one.pk: one for one in partitions}
    rows = Card.objects.filter(partition__in=list(by_key)).exclude(state=CardState.RETIRED)
    counted = rows.order_by("partition__rank", "label").values_list("partition", "label")
    found = counted.annotate(n=Count("pk"))
    return [
        PoolSize(by_key[place], label, n, pool_advice(n))
        for place, label, n in found
        if place is not None
    ]

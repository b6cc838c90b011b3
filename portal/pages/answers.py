"""The living answer beside a form: what a need becomes, what it costs, who must say yes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from billing.services.quotes import Quote, quote
from nodeagent.protocol.vocabulary import MODE_ISOLATION, Isolation
from pool.carving.recommend import Option, Why
from pool.lifecycle.roles import Role
from pool.models.partitions import Partition
from pool.models.templates import TemplateVersion
from pool.models.tenants import Project
from pool.rules.approval import Asked, policy_from, steps_for
from pool.rules.needs import Need, from_mapping, merged
from pool.rules.problems import Problems
from pool.rules.quotas import Allowance
from pool.selectors.allowances import Judged, allowance_judged
from pool.selectors.offers import PlacedOption, card_facts, geometry_of, options_for
from pool.selectors.partitions import partitions_of
from portal.access.weights import weights_for

WHY = {
    Why.NOT_TRUSTED: gettext_lazy("neighbours would not be kept apart"),
    Why.NOT_OFFERED: gettext_lazy("not offered in this partition"),
    Why.EXTERNAL_ONLY: gettext_lazy("needs a virtual machine"),
    Why.TOO_SMALL: gettext_lazy("no part of it is big enough"),
}


@dataclass(frozen=True, slots=True)
class Priced:
    """One way to meet the need, with its price; `slower_hours` is the loss over the duration."""

    placed: PlacedOption
    quote: Quote
    need: Need

    @property
    def option(self) -> Option:
        return self.placed.option

    @property
    def isolation(self) -> Isolation:
        """What keeps neighbours apart there."""
        mode = self.option.mode
        geometry = geometry_of(card_facts(self.placed.sample), mode)
        return geometry.isolation if geometry else MODE_ISOLATION[mode]

    @property
    def slower(self) -> tuple[float, float]:
        """Seconds lost to sharing over the declared duration, from … to …."""
        low, high = self.option.loss_percent
        return self.quote.seconds * low / 100, self.quote.seconds * high / 100


@dataclass(frozen=True, slots=True)
class Answer:
    """What the right-hand side shows. `problems` name what is wrong, field by field."""

    need: Need | None = None
    best: Priced | None = None
    others: list[Priced] = field(default_factory=list)
    refused: list[tuple[PlacedOption, str]] = field(default_factory=list)
    judged: Judged | None = None
    steps: tuple[Role, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    problems: Mapping[str, Any] = field(default_factory=dict)
    copies: int = 1

    @property
    def total_micro(self) -> int | None:
        """What all copies of the best way cost over the time; None without a known price."""
        one = self.best.quote.total_micro if self.best else None
        return None if one is None else one * self.copies

    @property
    def free(self) -> bool:
        """Inside the project's allowance: nobody needs to be asked."""
        return self.judged is not None and self.judged.answer is not Allowance.BEYOND


def answer(
    *,
    project: Project,
    version: TemplateVersion,
    overrides: Mapping[str, Any],
    partitions: list[Partition],
    seconds: int,
    copies: int = 1,
    reserved: bool = False,
) -> Answer:
    """Judge one need; nothing is written."""
    try:
        need = merged(from_mapping(version.need), overrides)
    except Problems as wrong:
        return Answer(problems=wrong.fields)
    chosen = partitions or list(partitions_of(project=project))
    options = options_for(
        need=need,
        partitions=chosen,
        trust=project.trust_group_id,
        unlimited_modes=version.unlimited_modes,
        version=version,
    )
    usable = [one for one in options if one.holds(need)]
    priced = [_priced(one, project, version, need, seconds) for one in usable[:3]]
    weights = weights_for(
        project=project,
        version=version,
        overrides=overrides,
        partitions=partitions,
        seconds=seconds,
        copies=copies,
    )
    asked = Asked(
        cards=copies * usable[0].micro(need) / 1_000_000 if usable else 0,
        days=seconds / 86400,
        reserved=reserved,
        partitions=frozenset(one.partition.slug for one in usable),
        weights=weights,
    )
    return Answer(
        need=need,
        best=priced[0] if priced else None,
        others=priced[1:],
        refused=[(one, _why(one, need)) for one in options if not one.holds(need)],
        judged=allowance_judged(
            project=project, need=need, options=options, partitions=chosen, seconds=seconds
        ),
        steps=steps_for(policy_from(version.approval), asked),
        weights=weights,
        copies=copies,
    )


def _priced(
    one: PlacedOption, project: Project, version: TemplateVersion, need: Need, seconds: int
) -> Priced:
    price = quote(
        project=project,
        partition=one.partition,
        card_model=one.option.label,
        mode=one.option.mode,
        equivalents_micro=one.option.card_micro,
        seconds=seconds,
        cpu_milli=need.cpu_milli or 0,
        ram_mib=need.ram_mib or 0,
        price_class=version.price_class,
        parts=need.parts,
    )
    return Priced(one, price, need)


def _why(one: PlacedOption, need: Need) -> str:
    if one.option.usable and not one.carries(need):
        return _("no machine there has so much CPU, memory or disk")
    if one.option.usable:
        return _("not so many parts in one place")
    return str(WHY.get(one.option.why, one.option.why))

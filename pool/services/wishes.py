"""What a person asks for, judged once for requests and workloads alike; writes nothing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext, gettext_lazy

from pool.carving.recommend import Why
from pool.errors import Impossible, Invalid, QuotaExceeded, Suspended
from pool.lifecycle.roles import QuotaKind, QuotaUnit
from pool.models.partitions import Partition
from pool.models.quotas import Quota
from pool.models.templates import TemplateVersion
from pool.models.tenants import Project
from pool.models.users import User
from pool.rules.access import Door, usable
from pool.rules.needs import Need, from_mapping, merged
from pool.rules.problems import Problem
from pool.selectors.offers import PlacedOption, asked_where, host_holds, options_for
from pool.services.refusals import refuse, refusing

WHY = {
    Why.EXTERNAL_ONLY: gettext_lazy("these cards are only for virtual machines"),
    Why.NOT_TRUSTED: gettext_lazy("these cards keep tenants not well enough apart"),
    Why.TOO_SMALL: gettext_lazy("every card there is too small"),
    Why.NOT_OFFERED: gettext_lazy("the partition does not share cards that way"),
}


@dataclass(frozen=True, slots=True)
class Wish:
    """A need within the partitions where it could ever be met, in order of preference.

    `options` are all ways to meet it there; `micro` the least card equivalents of one copy, in
    millionths, 0 for work without a card.
    """

    project: Project
    template_version: TemplateVersion
    need: Need
    partitions: tuple[Partition, ...]
    options: tuple[PlacedOption, ...]

    @property
    def micro(self) -> int:
        return min((one.micro(self.need) for one in self.options), default=0)


def need_wished(*, template_version: TemplateVersion, overrides: Mapping[str, Any]) -> Need:
    """The template's need with the person's changes.

    Raises:
        Invalid: a field is wrong, or the template does not allow it.
    """
    with refusing():
        return merged(from_mapping(template_version.need), overrides)


def template_usable(*, template_version: TemplateVersion, project: Project) -> None:
    """Pass when the project may use the template now.

    Raises:
        Invalid: it is not offered any more, or belongs to another organization.
    """
    template = template_version.template
    if template.organization_id not in (None, project.organization_id):
        raise Invalid(template=gettext("There is no such template."))
    if not template.active:
        why = template.inactive_reason or gettext("it has ended")
        raise Invalid(template=gettext("The template is not offered: %(why)s.") % {"why": why})


def project_open(*, project: Project) -> Project:
    """The project's row, locked against other submissions; quotas and foreign keys go on.

    Raises:
        Suspended: it may start nothing new.
    """
    locked = Project.objects.select_for_update(no_key=True, of=("self",))
    found = locked.select_related("organization").get(pk=project.pk)
    if found.suspended:
        raise Suspended(project=found.name, why=found.suspended_reason or gettext("suspended"))
    return found


def partitions_wished(*, project: Project, wanted: Iterable[Partition]) -> tuple[Partition, ...]:
    """The partitions the project may use, in the wanted order, or all by rank.

    Raises:
        Invalid: one of the wanted is not open to it.
    """
    rows = {p.slug: p for p in Partition.objects.prefetch_related("organizations")}
    doors = [
        Door(p.slug, p.open_to_all, frozenset(o.pk for o in p.organizations.all()))
        for p in rows.values()
    ]
    names = [one.slug for one in wanted]
    chosen = usable(doors, organization=project.organization_id, wanted=names)
    if isinstance(chosen, Problem):
        refuse({"partitions": chosen})
        return ()
    return tuple(rows[slug] for slug in chosen)


def wish_judged(
    *,
    project: Project,
    template_version: TemplateVersion,
    overrides: Mapping[str, Any],
    partitions: Iterable[Partition] = (),
) -> Wish:
    """The wish with every way to meet it, or the reason why it can never be met.

    Raises:
        Invalid: a field is wrong.
        Impossible: no card, or no machine, of the partitions could ever hold it.
    """
    need = need_wished(template_version=template_version, overrides=overrides)
    chosen = partitions_wished(project=project, wanted=partitions)
    if need.parts == 0:
        if not host_holds(need=need, partitions=chosen):
            raise Impossible(why=_no_host(need, chosen))
        return Wish(project, template_version, need, chosen, ())
    options = options_for(
        need=need,
        partitions=chosen,
        trust=project.trust_group_id,
        unlimited_modes=template_version.unlimited_modes,
        version=template_version,
    )
    holding = tuple(one for one in options if one.holds(need))
    if not holding:
        raise Impossible(why=_why(options, need))
    places = {one.partition.pk for one in holding}
    kept = tuple(one for one in chosen if one.pk in places)
    return Wish(project, template_version, need, kept, holding)


def wish_within_limits(*, wish: Wish, user: User | None, copies: int = 1) -> Wish:
    """The wish cut down to the partitions whose limits could ever admit it; one query.

    Limits are compared with the wish alone: what is held now only makes it wait.

    Raises:
        QuotaExceeded: no partition is left; the first limit that is too small is told.
    """
    asked = asked_where(
        need=wish.need, copies=copies, options=wish.options, partitions=wish.partitions
    )
    mine = Q(organization=wish.project.organization_id) | Q(project=wish.project, user=None)
    if user is not None:
        mine |= Q(project=wish.project, user=user)
    rows = Quota.objects.filter(mine, kind=QuotaKind.LIMIT, partition__in=wish.partitions)
    limits = list(rows.select_related("organization", "project", "user"))
    refusals: dict[int, QuotaExceeded] = {}
    for partition, amounts in asked:
        for row in limits:
            wants = (
                _amount(row, wish, dict(amounts), copies) if row.partition_id == partition.pk else 0
            )
            if wants > row.limit_value:
                refusals.setdefault(partition.pk, _exceeded(row, wants))
    kept = tuple(p for p in wish.partitions if p.pk not in refusals)
    if not kept:
        raise next(iter(refusals.values()))
    inside = {p.pk for p in kept}
    options = tuple(one for one in wish.options if one.partition.pk in inside)
    return Wish(wish.project, wish.template_version, wish.need, kept, options)


def _amount(row: Quota, wish: Wish, amounts: dict[tuple[str, str], int], copies: int) -> int:
    host = {
        QuotaUnit.CPU_MILLI: (wish.need.cpu_milli or 0) * copies,
        QuotaUnit.RAM_MIB: (wish.need.ram_mib or 0) * copies,
        QuotaUnit.DISK_MIB: (wish.need.disk_mib or 0) * copies,
        QuotaUnit.WORKLOADS: copies,
    }
    if row.unit in host:
        return host[QuotaUnit(row.unit)]
    if row.unit == QuotaUnit.CARDS_EACH:
        return amounts.get((row.card_model, QuotaUnit.CARDS_MICRO), 0) // copies
    return amounts.get((row.card_model, row.unit), 0)


def _exceeded(row: Quota, asked: int) -> QuotaExceeded:
    tenant = row.organization or row.user or row.project
    return QuotaExceeded(
        tenant=str(tenant), unit=row.unit, limit=row.limit_value, held=row.held, asked=asked
    )


def _no_host(need: Need, partitions: Iterable[Partition]) -> str:
    """Why no machine carries work without a card; its cores are named where they alone do."""
    if not host_holds(need=Need(parts=0, cpu_milli=need.cpu_milli), partitions=partitions):
        return gettext("no machine there has so many cores")
    return gettext("no machine there is so large, or has such labels")


def _why(options: list[PlacedOption], need: Need) -> str:
    """The reason that holds for the best of the refused options."""
    if not options:
        return gettext("there is no card of that kind in the partitions you may use")
    usable = [one for one in options if one.option.usable]
    if usable and not any(one.carries(need) for one in usable):
        return gettext("no machine with such cards has so much CPU, memory or disk")
    if usable:
        return gettext("there are not enough such cards together in one place")
    return str(WHY.get(options[0].option.why, options[0].option.why))

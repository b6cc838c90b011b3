"""The example's limits and allowances."""

from collections import Counter

from pool.events import Actor
from pool.lifecycle.roles import QuotaKind, QuotaUnit
from pool.models import Organization, Partition, Project
from pool.services.quotas import quota_set
from portal.first_run.people import EXAMPLE, Tenants

CARD = 1_000_000
ALLOWED_CORES = 32_000
OVERBOOKED = 3
"""Leases and pending requests together may ask for so many times the limit of what runs."""

UNKNOWN = Counter({"": 1})
"""A partition whose cards are not known yet: one card of any kind."""


def quotas_seed(
    *, tenants: Tenants, partitions: dict[Partition, Counter[str]], actor: Actor
) -> None:
    """Per partition and kind of card: every organization may hold all, a project half of them
    (the example project all), and start a quarter without asking; 32 cores need no request.

    All is guaranteed to the example project, and through it to its organization; others borrow.
    """
    home = tenants.projects[EXAMPLE].organization
    for partition, cards in partitions.items():
        for label, number in (cards or UNKNOWN).items():
            for organization in tenants.organizations.values():
                _set(organization, partition, label, number * CARD, actor, organization == home)
            for slug, project in tenants.projects.items():
                share = number if slug == EXAMPLE else max(1, number // 2)
                _set(project, partition, label, share * CARD, actor, slug == EXAMPLE)
                _allow(project, partition, label, max(1, number // 4) * CARD, actor)
        for project in tenants.projects.values():
            quota_set(
                tenant=project,
                partition=partition,
                unit=QuotaUnit.CPU_MILLI,
                kind=QuotaKind.ALLOWANCE,
                limit=ALLOWED_CORES,
                actor=actor,
            )


def _set(
    tenant: Organization | Project,
    partition: Partition,
    label: str,
    limit: int,
    actor: Actor,
    guaranteed: bool,
) -> None:
    kinds = [(QuotaKind.LIMIT, 1), (QuotaKind.ENTITLEMENT, OVERBOOKED)]
    for kind, times in kinds if guaranteed else kinds[:1]:
        quota_set(
            tenant=tenant,
            partition=partition,
            unit=QuotaUnit.CARDS_MICRO,
            kind=kind,
            card_model=label,
            limit=limit * times,
            actor=actor,
        )


def _allow(project: Project, partition: Partition, label: str, limit: int, actor: Actor) -> None:
    quota_set(
        tenant=project,
        partition=partition,
        unit=QuotaUnit.CARDS_MICRO,
        kind=QuotaKind.ALLOWANCE,
        card_model=label,
        limit=limit,
        actor=actor,
    )

"""Who lives in the demo: organizations, teams, people, limits, prices; all by the services."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from billing.services.prices import price_book_seed
from pool.events import SYSTEM
from pool.lifecycle.roles import QuotaKind, QuotaUnit, Role
from pool.models import Membership, Organization, Partition, Project, User
from pool.services.memberships import membership_add
from pool.services.quotas import quota_set
from pool.services.tenants import organization_create, project_create
from pool.services.users import user_create
from portal.demo.teams import ADMINS, EXTRA_ORGANIZATIONS, EXTRA_PROJECTS, GUARANTEED, NAMES
from portal.first_run.fleet import Machine
from portal.first_run.partitions import partitions_seed
from portal.first_run.people import Entry, Tenants, people_seed, tenants_seed
from portal.first_run.templates import templates_seed

CARD = 1_000_000
CORES = 512_000


@dataclass(frozen=True, slots=True)
class Town:
    """What is there when the month begins; `people` of a team are those who bring work."""

    projects: Mapping[str, Project]
    people: Mapping[str, tuple[User, ...]]
    partitions: Mapping[str, Partition]
    cards: Mapping[str, int]


def town_build(machines: tuple[Machine, ...]) -> tuple[Town, list[Entry]]:
    """Everybody and everything that is needed before the first job; with the passwords."""
    templates_seed(actor=SYSTEM)
    partitions = partitions_seed(machines=machines, actor=SYSTEM, example=True)
    tenants = _tenants()
    _limits(tenants, partitions)
    price_book_seed(partitions=partitions, actor=SYSTEM, currency="EUR")
    entries = people_seed(tenants=tenants, actor=SYSTEM)
    _more_people(tenants)
    town = Town(
        projects=tenants.projects,
        people={slug: _bringers(one) for slug, one in tenants.projects.items()},
        partitions={one.slug: one for one in partitions},
        cards={one.slug: sum(labels.values()) for one, labels in partitions.items()},
    )
    return town, entries


def _tenants() -> Tenants:
    first = tenants_seed(actor=SYSTEM)
    organizations: dict[str, Organization] = dict(first.organizations)
    for slug, name, zone in EXTRA_ORGANIZATIONS:
        organizations[slug] = organization_create(
            slug=slug, name=name, zone=zone, actor=SYSTEM, example=True
        )
    projects = dict(first.projects)
    for home, slug, name, cost_centre in EXTRA_PROJECTS:
        projects[slug] = project_create(
            organization=organizations[home],
            slug=slug,
            name=name,
            cost_centre=cost_centre,
            actor=SYSTEM,
            example=True,
        )
    return Tenants(organizations, projects)


def _more_people(tenants: Tenants) -> None:
    """Colleagues without passwords: nobody logs in as them."""
    led = set(
        Membership.objects.filter(role=Role.LEAD).values_list("project__slug", flat=True).distinct()
    )
    for slug, names in NAMES.items():
        for number, name in enumerate(names):
            role = Role.LEAD if number == 0 and slug not in led else Role.MEMBER
            user = _person(name)
            membership_add(user=user, role=role, project=tenants.projects[slug], actor=SYSTEM)
    for slug, name in ADMINS.items():
        home = tenants.organizations[slug]
        membership_add(user=_person(name), role=Role.ORG_ADMIN, organization=home, actor=SYSTEM)


def _person(name: str) -> User:
    return user_create(
        username=name.lower().replace(" ", "."), display_name=name, actor=SYSTEM, example=True
    )


def _bringers(project: Project) -> tuple[User, ...]:
    found = User.objects.filter(
        memberships__project=project, memberships__role__in=[Role.MEMBER, Role.LEAD]
    )
    return tuple(found.order_by("username"))


def _limits(tenants: Tenants, partitions: Mapping[Partition, Counter[str]]) -> None:
    """Everybody may hold up to three fifths of each kind, and is guaranteed what was agreed."""
    for partition, labels in partitions.items():
        for label, number in labels.items():
            for organization in tenants.organizations.values():
                _set(organization, partition, label, number, QuotaKind.LIMIT)
            for slug, project in tenants.projects.items():
                share = GUARANTEED.get(slug, {}).get(partition.slug, 0.0)
                most = max(1, round(number * max(0.6, share)))
                most = max(most, min(number, 8))
                _set(project, partition, label, most, QuotaKind.LIMIT)
                _set(project, partition, label, most, QuotaKind.ALLOWANCE)
                if share:
                    sure = max(1, round(number * share))
                    _set(project, partition, label, sure, QuotaKind.ENTITLEMENT)
        for project in tenants.projects.values():
            quota_set(
                tenant=project,
                partition=partition,
                unit=QuotaUnit.CPU_MILLI,
                kind=QuotaKind.ALLOWANCE,
                limit=CORES,
                actor=SYSTEM,
            )


def _set(
    tenant: Organization | Project, partition: Partition, label: str, cards: int, kind: QuotaKind
) -> None:
    quota_set(
        tenant=tenant,
        partition=partition,
        unit=QuotaUnit.CARDS_MICRO,
        kind=kind,
        card_model=label,
        limit=cards * CARD,
        actor=SYSTEM,
    )

"""One partition's tree: organizations, projects, members, each with what it has, holds and used."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from django.db.models import Q, Sum

from pool.lifecycle.cards import CardState
from pool.lifecycle.roles import QuotaKind, QuotaUnit, Role
from pool.models.cards import Card
from pool.models.partitions import Partition
from pool.models.quotas import Quota
from pool.models.tenants import Membership, Organization, Project
from pool.models.users import User
from pool.rules.quotatree.oddities import Level
from pool.selectors.memberships import Standing
from pool.selectors.quotas import quota_list
from pool.selectors.quotatree.used import Use, use_by_member

CARD = 1_000_000


@dataclass(slots=True)
class Node:
    """One tenant in the tree. `rows` by kind; `use` is None where the unit is not of holds.

    `key` names it in forms; `folded` says that its members are not shown.
    """

    key: str
    parent: str | None
    depth: int
    name: str
    tenant: Organization | Project
    user: User | None = None
    folded: bool = False
    rows: dict[str, Quota] = field(default_factory=dict)
    use: Use = field(default_factory=Use)

    @property
    def project(self) -> Project | None:
        return self.tenant if isinstance(self.tenant, Project) else None

    @property
    def limit(self) -> Quota | None:
        return self.rows.get(QuotaKind.LIMIT)

    @property
    def guarantee(self) -> Quota | None:
        return self.rows.get(QuotaKind.ENTITLEMENT)

    @property
    def allowance(self) -> Quota | None:
        return self.rows.get(QuotaKind.ALLOWANCE)

    @property
    def held(self) -> int:
        """What is held now: as the limit's row counts it, kept cards too, else as holds say."""
        return self.limit.held if self.limit else self.use.held

    def said(self, kind: str) -> int | None:
        """What people set, without what grants add for a time."""
        row = self.rows.get(kind)
        return None if row is None else row.limit_value - row.granted


@dataclass(slots=True)
class Tree:
    """The tree of one unit in one partition; `capacity` is what there is of it, None if unknown."""

    partition: Partition
    unit: str
    card_model: str
    nodes: list[Node]
    capacity: int | None = None

    def node(self, key: str) -> Node | None:
        """The node of that key."""
        return next((one for one in self.nodes if one.key == key), None)

    def levels(self) -> list[Level]:
        """The tree as the rule of oddities reads it: what counts, grants included."""
        return [
            Level(
                key=one.key,
                parent=one.parent,
                held=one.held,
                said={kind: row.limit_value for kind, row in one.rows.items()},
            )
            for one in self.nodes
        ]


def quota_tree(
    *,
    standing: Standing,
    partition: Partition,
    unit: str,
    card_model: str = "",
    unfolded: Collection[str] = (),
) -> Tree:
    """What the person may see of the tree; members of the projects whose slugs are unfolded.

    Seven queries, whatever the size. Members with a row of their own are always shown.
    """
    rows = quota_list(standing=standing).filter(
        partition=partition, unit=unit, card_model=card_model
    )
    projects = Project.objects.filter(standing.spends("")).select_related("organization")
    organizations = {one.pk: one for one in _organizations(standing)}
    found: dict[tuple[int | None, int | None, int | None], Node] = {}
    by_home: dict[int, list[Project]] = {pk: [] for pk in organizations}
    for project in projects.order_by("slug"):
        organizations.setdefault(project.organization_id, project.organization)
        by_home.setdefault(project.organization_id, []).append(project)
    people = _people(by_home, unfolded, rows)
    for home in sorted(organizations.values(), key=lambda one: one.slug):
        found[home.pk, None, None] = Node(home.uid, None, 0, str(home), home)
        for project in by_home[home.pk]:
            node = Node(project.uid, home.uid, 1, str(project), project)
            node.folded = project.slug not in unfolded
            found[None, project.pk, None] = node
            for person in people.get(project.pk, ()):
                found[None, project.pk, person.pk] = Node(
                    f"{project.uid}~{person.uid}", project.uid, 2, str(person), project, person
                )
    for row in rows:
        place = (row.organization_id, row.project_id, row.user_id)
        if place in found:
            found[place].rows[row.kind] = row
    _use(found, partition, unit, card_model)
    return Tree(
        partition, unit, card_model, list(found.values()), _capacity(partition, unit, card_model)
    )


def _organizations(standing: Standing) -> Iterable[Organization]:
    if standing.platform:
        return Organization.objects.all()
    return Organization.objects.filter(pk__in=standing.in_organizations(*Role))


def _people(
    by_home: dict[int, list[Project]], unfolded: Collection[str], rows: Iterable[Quota]
) -> dict[int, list[User]]:
    """Members by project: those of unfolded ones, and whoever has a row."""
    wanted = [one.pk for each in by_home.values() for one in each if one.slug in unfolded]
    roles = Membership.objects.filter(
        project__in=wanted, role__in=[Role.LEAD, Role.MEMBER], user__is_active=True
    ).select_related("user")
    found: dict[int, dict[int, User]] = {}
    for role in roles:
        found.setdefault(role.project_id or 0, {})[role.user_id] = role.user
    for row in rows:
        if row.user is not None and row.project_id is not None:
            found.setdefault(row.project_id, {})[row.user.pk] = row.user
    return {
        pk: sorted(people.values(), key=lambda one: one.username) for pk, people in found.items()
    }


def _use(
    found: dict[tuple[int | None, int | None, int | None], Node],
    partition: Partition,
    unit: str,
    card_model: str,
) -> None:
    """Add what members held to their own node, their project's and their organization's."""
    for (home, project, owner), use in use_by_member(
        partition=partition, unit=unit, card_model=card_model
    ).items():
        for place in ((home, None, None), (None, project, None), (None, project, owner)):
            if place in found:
                found[place].use = found[place].use.plus(use)


def _capacity(partition: Partition, unit: str, card_model: str) -> int | None:
    cards = Card.objects.filter(partition=partition).exclude(state=CardState.RETIRED)
    if card_model:
        cards = cards.filter(label=card_model)
    if unit == QuotaUnit.CARDS_MICRO:
        return cards.count() * CARD
    if unit == QuotaUnit.COMPUTE_MILLI:
        return cards.count() * 1000
    if unit == QuotaUnit.MEMORY_MIB:
        return int(cards.aggregate(sum=Sum("memory_mib"))["sum"] or 0)
    return None


def quota_of_row(row: Quota) -> Q:
    """The same place as a row's, for what is planned for it."""
    return Q(
        organization=row.organization_id,
        project=row.project_id,
        user=row.user_id,
        partition=row.partition_id,
        card_model=row.card_model,
        unit=row.unit,
        kind=row.kind,
    )

"""What of the catalogues a person may see, and what one project's work may use."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Count, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from pool.lifecycle.nodes import NodeState
from pool.lifecycle.roles import Role
from pool.lifecycle.workloads import ENDED
from pool.models.catalogue.environments import Environment
from pool.models.catalogue.secrets import Secret
from pool.models.catalogue.storage import Storage
from pool.models.catalogue.uses import SecretUse, StorageUse
from pool.models.nodes import Node
from pool.models.tenants import Project
from pool.models.users import User
from pool.models.workloads import Workload
from pool.rules.catalogue import root_of
from pool.selectors.memberships import Standing


def _live(uses: type[StorageUse] | type[SecretUse], name: str) -> Any:
    """How much work that has not ended uses the row: what ended is never read, however long ago."""
    living = Workload.objects.exclude(state__in=sorted(ENDED)).values("pk")
    found = uses.objects.filter(**{name: OuterRef("pk"), "workload__in": living})
    counted = found.order_by().values(name).annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def storage_list(*, standing: Standing) -> QuerySet[Storage]:
    """Everybody's, one's own, and that of the places where one works."""
    rows = Storage.objects.select_related("organization", "project", "user")
    rows = rows.annotate(live=_live(StorageUse, "storage"))
    if standing.platform:
        return rows
    everybody = Q(organization=None, project=None, user=None)
    projects = Q(project__isnull=False) & standing.sees()
    return rows.filter(everybody | projects | _inside(standing) | Q(user=standing.user))


def storage_for(*, user: User, project: Project) -> QuerySet[Storage]:
    """What the person's work in the project may be given."""
    whose = Q(organization=None, project=None, user=None) | Q(project=project) | Q(user=user)
    whose |= Q(organization=project.organization_id)
    return Storage.objects.filter(whose, active=True)


def secret_list(*, standing: Standing) -> QuerySet[Secret]:
    """One's own, and those of the projects in which one may run work; never the values."""
    rows = Secret.objects.filter(removed_at=None).select_related("user", "project__organization")
    rows = rows.defer("sealed").annotate(live=_live(SecretUse, "secret"))
    works = Q(project__in=standing.in_projects(Role.LEAD, Role.MEMBER))
    works |= Q(project__organization__in=standing.in_organizations(Role.ORG_ADMIN))
    if standing.platform:
        works = Q(project__isnull=False)
    return rows.filter(works | Q(user=standing.user))


def secrets_for(*, user: User, project: Project) -> QuerySet[Secret]:
    """What the person's work in the project may be told."""
    mine = Q(user=user) | Q(project=project)
    return Secret.objects.filter(mine, removed_at=None).defer("sealed")


def environment_list(*, standing: Standing) -> QuerySet[Environment]:
    """Everybody's, and those of the organizations one belongs to."""
    rows = Environment.objects.select_related("organization", "owner")
    if standing.platform:
        return rows
    return rows.filter(Q(organization=None) | _inside(standing))


def environments_for(*, project: Project) -> QuerySet[Environment]:
    """What work of the project may choose."""
    whose = Q(organization=None) | Q(organization=project.organization_id)
    return Environment.objects.filter(whose, active=True)


def with_nodes(rows: Iterable[Storage]) -> list[Storage]:
    """The same with `nodes_with` and `nodes_without` (name, why), as nodes told; one query."""
    listed = list(rows)
    told = Node.objects.exclude(state=NodeState.RETIRED).order_by("name")
    hosts = [
        (name, frozenset(host.get("mounts", ())), host.get("absent", {}))
        for name, host in told.values_list("name", "host")
    ]
    for row in listed:
        root = root_of(row.path)
        row.nodes_with = [n for n, mounts, _ in hosts if root in mounts]  # type: ignore[attr-defined]
        row.nodes_without = [  # type: ignore[attr-defined]
            (name, absent.get(root, "")) for name, mounts, absent in hosts if root not in mounts
        ]
    return listed


def roots_somewhere() -> set[str]:
    """Every watched folder that some node in service has; one query."""
    hosts = Node.objects.filter(state=NodeState.READY).values_list("host", flat=True)
    return {path for host in hosts for path in host.get("mounts", ())}


def given_to(*, workload: Workload) -> tuple[Sequence[StorageUse], Sequence[SecretUse]]:
    """What a workload, or the array it is a piece of, was given; two queries."""
    of = workload.parent_id or workload.pk
    storage = StorageUse.objects.filter(workload=of).select_related("storage")
    secrets = SecretUse.objects.filter(workload=of).select_related("secret__project")
    return list(storage), list(secrets.defer("secret__sealed"))


def _inside(standing: Standing) -> Q:
    """Things of the organizations in which one holds a role, or works in a project."""
    works = Project.objects.filter(pk__in=standing.in_projects(*Role)).values("organization")
    return Q(organization__in=standing.in_organizations(*Role)) | Q(organization__in=works)

"""What one person is, and where: the answer every scoped list starts from."""

from dataclasses import dataclass, field

from django.db.models import Q, QuerySet

from pool.lifecycle.roles import Role
from pool.models.tenants import Membership, Project
from pool.models.users import User


@dataclass(frozen=True, slots=True)
class Standing:
    """A person's roles as sets of ids; nothing here asks the database again.

    `user` is the person's key, 0 for nobody.
    """

    user: int = 0
    platform: bool = False
    organizations: dict[Role, frozenset[int]] = field(default_factory=dict)
    projects: dict[Role, frozenset[int]] = field(default_factory=dict)

    def in_organizations(self, *roles: Role) -> frozenset[int]:
        """Organizations in which the person has one of the roles."""
        return frozenset().union(*(self.organizations.get(role, frozenset()) for role in roles))

    def in_projects(self, *roles: Role) -> frozenset[int]:
        """Projects in which the person has one of the roles."""
        return frozenset().union(*(self.projects.get(role, frozenset()) for role in roles))

    def sees(self, prefix: str = "project") -> Q:
        """Rows whose project's work this person may read.

        `prefix` leads to the project; empty where the row is one.
        """
        if self.platform:
            return Q()
        projects = self.in_projects(Role.LEAD, Role.MEMBER, Role.VIEWER)
        return _within(prefix, projects, self.in_organizations(Role.ORG_ADMIN))

    def spends(self, prefix: str = "project") -> Q:
        """Rows whose project's cost this person may read."""
        if self.platform:
            return Q()
        readers = self.in_organizations(Role.BILLING_READER)
        return self.sees(prefix) | _within(prefix, frozenset(), readers)

    def works_in(self, project: Project) -> bool:
        """May ask for and run work in the project."""
        return (
            self.platform
            or project.organization_id in self.in_organizations(Role.ORG_ADMIN)
            or project.pk in self.in_projects(Role.LEAD, Role.MEMBER)
        )

    def roles_in(self, project: Project) -> frozenset[Role]:
        """Every role that counts in the project: its own, its organization's, the platform's."""
        here = {role for role, ids in self.projects.items() if project.pk in ids}
        above = {role for role, ids in self.organizations.items() if project.organization_id in ids}
        return frozenset(here | above | ({Role.PLATFORM_ADMIN} if self.platform else set()))

    def leads(self, project: Project) -> bool:
        """May decide about requests and stop other people's work in the project."""
        return (
            self.platform
            or project.organization_id in self.in_organizations(Role.ORG_ADMIN)
            or project.pk in self.in_projects(Role.LEAD)
        )

    @property
    def decides(self) -> bool:
        """Decides about requests somewhere."""
        return (
            self.platform
            or bool(self.in_organizations(Role.ORG_ADMIN))
            or bool(self.in_projects(Role.LEAD))
        )

    @property
    def works(self) -> bool:
        """Runs work somewhere."""
        return self.decides or bool(self.in_projects(Role.MEMBER))

    @property
    def first_role(self) -> Role | None:
        """The strongest role, for a label beside the name."""
        held = set(self.organizations) | set(self.projects)
        if self.platform:
            return Role.PLATFORM_ADMIN
        return next((role for role in Role if role in held), None)


def _within(prefix: str, projects: frozenset[int], organizations: frozenset[int]) -> Q:
    one = f"{prefix}__in" if prefix else "pk__in"
    all_of = f"{prefix}__organization__in" if prefix else "organization__in"
    return Q(**{one: projects}) | Q(**{all_of: organizations})


def standing(*, user: User) -> Standing:
    """The person's roles in one query; an inactive person has none."""
    organizations: dict[Role, set[int]] = {}
    projects: dict[Role, set[int]] = {}
    platform = False
    rows = Membership.objects.filter(user=user, user__is_active=True)
    for role, organization, project in rows.values_list("role", "organization_id", "project_id"):
        if organization is not None:
            organizations.setdefault(Role(role), set()).add(organization)
        elif project is not None:
            projects.setdefault(Role(role), set()).add(project)
        else:
            platform = platform or role == Role.PLATFORM_ADMIN
    return Standing(
        user=user.pk or 0,
        platform=platform,
        organizations={role: frozenset(ids) for role, ids in organizations.items()},
        projects={role: frozenset(ids) for role, ids in projects.items()},
    )


def memberships_seen(*, standing: Standing) -> QuerySet[Membership]:
    """Roles held in the places where this person holds one; a platform admin sees all."""
    rows = Membership.objects.select_related("user", "organization", "project")
    if standing.platform:
        return rows
    return rows.filter(
        Q(user=standing.user)
        | standing.sees()
        | Q(organization__in=standing.in_organizations(*Role))
    )


def membership_list(*, user: User) -> QuerySet[Membership]:
    """The person's own roles, for saying who one is."""
    rows = Membership.objects.select_related("user", "organization", "project")
    return rows.filter(user=user).order_by("pk")

"""The example's organizations, projects and people, with passwords and tokens of this one run."""

import secrets
from dataclasses import dataclass
from typing import Any

from pool.events import Actor
from pool.lifecycle.roles import Role
from pool.models import Organization, Project
from pool.rules.tenants import OF_ORGANIZATION, OF_PROJECT
from pool.services.memberships import membership_add
from pool.services.tenants import organization_create, project_create
from pool.services.users import user_create
from portal.access.tokens import token_issue

Entry = dict[str, str | None]
"""One person of credentials.json: username, role, organization, project, password, token."""

ORGANIZATIONS = (
    ("aurora", "Aurora Research", "Europe/Berlin"),
    ("harbor", "Harbor Media", "Asia/Shanghai"),
)
PROJECTS = (
    ("aurora", "vision", "Computer vision", "AR-100"),
    ("aurora", "speech", "Speech", "AR-200"),
    ("harbor", "render", "Rendering", "HM-300"),
)
EXAMPLE = "vision"
"""The project for which there is exactly one person of each role."""

PEOPLE = (
    ("pat", "Pat Platform", Role.PLATFORM_ADMIN, "vision"),
    ("olga", "Olga Organization", Role.ORG_ADMIN, "vision"),
    ("lena", "Lena Lead", Role.LEAD, "vision"),
    ("mei", "Mei Member", Role.MEMBER, "vision"),
    ("victor", "Victor Viewer", Role.VIEWER, "vision"),
    ("bo", "Bo Billing", Role.BILLING_READER, "vision"),
    ("sam", "Sam Lead", Role.LEAD, "speech"),
    ("sofia", "Sofia Member", Role.MEMBER, "speech"),
    ("rita", "Rita Lead", Role.LEAD, "render"),
    ("ravi", "Ravi Member", Role.MEMBER, "render"),
)


@dataclass(frozen=True)
class Tenants:
    """The example's tenants by slug."""

    organizations: dict[str, Organization]
    projects: dict[str, Project]


def tenants_seed(*, actor: Actor) -> Tenants:
    """Two organizations with three projects between them."""
    organizations = {
        slug: organization_create(slug=slug, name=name, zone=zone, actor=actor, example=True)
        for slug, name, zone in ORGANIZATIONS
    }
    projects = {
        slug: project_create(
            organization=organizations[home],
            slug=slug,
            name=name,
            cost_centre=cost_centre,
            actor=actor,
            example=True,
        )
        for home, slug, name, cost_centre in PROJECTS
    }
    return Tenants(organizations, projects)


def people_seed(*, tenants: Tenants, actor: Actor) -> list[Entry]:
    """Everybody of PEOPLE, each with a random password and one API token, told once."""
    return [
        person_seed(
            username=username,
            name=name,
            role=role,
            project=tenants.projects[slug],
            actor=actor,
            example=True,
        )
        for username, name, role, slug in PEOPLE
    ]


def person_seed(
    *,
    username: str,
    name: str,
    role: Role,
    project: Project | None,
    actor: Actor,
    example: bool,
) -> Entry:
    """One person with a role where it belongs; without a project a platform admin."""
    password = secrets.token_urlsafe(15)
    user = user_create(
        username=username, display_name=name, password=password, actor=actor, example=example
    )
    place: dict[str, Any] = {}
    if project is not None and role in OF_PROJECT:
        place["project"] = project
    elif project is not None and role in OF_ORGANIZATION:
        place["organization"] = project.organization
    membership_add(user=user, role=role, actor=actor, **place)
    _, plain = token_issue(user=user, name="first run", actor=actor)
    return {
        "username": username,
        "role": role.value,
        "organization": project.organization.slug if project else None,
        "project": project.slug if project else None,
        "password": password,
        "token": plain,
    }

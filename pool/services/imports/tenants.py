"""Sections of tenants: organizations, people, projects with their cost centres, roles."""

from collections.abc import Callable, Iterable
from typing import Any

from django.utils.translation import gettext as _

from pool.errors import Invalid
from pool.events import Actor
from pool.models.tenants import Membership, Organization, Project
from pool.models.users import User
from pool.services.imports.sections import Section, Words, whole
from pool.services.memberships import membership_add
from pool.services.people.places import organization_change, project_change
from pool.services.tenants import organization_create, project_create
from pool.services.users import KEPT, user_create, user_edit


def organization_named(slug: Any, field: str = "organization") -> Organization:
    """The organization of that slug.

    Raises:
        Invalid: there is none.
    """
    row = Organization.objects.filter(slug=str(slug or "")).first()
    if row is None:
        raise Invalid(**{field: _("No such organization.")})
    return row


def project_named(slug: Any) -> Project:
    """The project of that slug.

    Raises:
        Invalid: there is none.
    """
    row = Project.objects.filter(slug=str(slug or "")).select_related("organization").first()
    if row is None:
        raise Invalid(project=_("No such project."))
    return row


def user_named(name: Any) -> User:
    """The person of that user name.

    Raises:
        Invalid: there is none.
    """
    row = User.objects.filter(username=str(name or "")).first()
    if row is None:
        raise Invalid(user=_("No such person."))
    return row


def _organizations() -> Iterable[Words]:
    for row in Organization.objects.order_by("slug"):
        yield {"slug": row.slug, "name": row.name, "zone": row.zone, "currency": row.currency}


def _organization(words: Words, actor: Actor, fixed: Callable[[Organization], bool]) -> None:
    row = Organization.objects.filter(slug=words["slug"]).first() if words.get("slug") else None
    given = {k: words[k] for k in ("name", "zone", "currency") if words.get(k)}
    if row is None:
        given.setdefault("name", "")
        organization_create(slug=words.get("slug", ""), actor=actor, **given)
    else:
        organization_change(organization=row, actor=actor, currency_fixed=fixed(row), **given)


def _users() -> Iterable[Words]:
    for row in User.objects.filter(is_active=True).order_by("username"):
        yield {name: getattr(row, name) for name in ("username", *KEPT)}


def _user(words: Words, actor: Actor) -> None:
    name = words.get("username", "")
    row = User.objects.filter(username=name).first()
    if row is None:
        row = user_create(username=name, actor=actor, source="file")
    given = {k: words[k] for k in KEPT if k in words}
    user_edit(user=row, actor=actor, allowed=KEPT, **given)


def _projects() -> Iterable[Words]:
    for row in Project.objects.select_related("organization").order_by("slug"):
        yield {
            "slug": row.slug,
            "organization": row.organization.slug,
            "name": row.name,
            "cost_centre": row.cost_centre,
            "most_live": row.most_live,
        }


def _project(words: Words, actor: Actor) -> None:
    row = Project.objects.filter(slug=words.get("slug", "")).first()
    home = organization_named(words.get("organization"))
    if row is not None and row.organization_id != home.pk:
        raise Invalid(organization=_("A project is not moved by a file."))
    if row is None:
        row = project_create(
            organization=home, slug=words.get("slug", ""), name=words.get("name", ""), actor=actor
        )
    given = {k: words[k] for k in ("name", "cost_centre", "most_live") if words.get(k) is not None}
    project_change(project=row, actor=actor, **given)


def _memberships() -> Iterable[Words]:
    rows = Membership.objects.select_related("user", "organization", "project")
    for row in rows.filter(user__is_active=True).order_by("user__username", "pk"):
        yield {
            "user": row.user.username,
            "role": row.role,
            "organization": row.organization.slug if row.organization else "",
            "project": row.project.slug if row.project else "",
        }


def _membership(words: Words, actor: Actor) -> None:
    membership_add(
        user=user_named(words.get("user")),
        role=words.get("role", ""),
        organization=(
            organization_named(words["organization"]) if words.get("organization") else None
        ),
        project=project_named(words["project"]) if words.get("project") else None,
        actor=actor,
    )


def tenants(*, currency_fixed: Callable[[Organization], bool]) -> tuple[Section, ...]:
    """Sections of tenants, in the order in which they can be loaded.

    `currency_fixed` tells whether amounts of an organization exist: the pool has no word for money.
    """

    def load(words: Words, actor: Actor) -> None:
        _organization(words, actor, currency_fixed)

    organizations = Section(
        name="organizations",
        keys=("slug",),
        words=("slug", "name", "zone", "currency"),
        rows=_organizations,
        load=load,
        plain={},
    )
    return (organizations, *_INSIDE)


_INSIDE = (
    Section(
        name="users",
        keys=("username",),
        words=("username", *KEPT),
        rows=_users,
        load=_user,
        plain={},
    ),
    Section(
        name="projects",
        keys=("slug",),
        words=("slug", "organization", "name", "cost_centre", "most_live"),
        rows=_projects,
        load=_project,
        plain={"most_live": whole},
    ),
    Section(
        name="memberships",
        keys=("user", "role", "organization", "project"),
        words=("user", "role", "organization", "project"),
        rows=_memberships,
        load=_membership,
        plain={},
    ),
)
"""What belongs to organizations, in the order in which it can be loaded."""

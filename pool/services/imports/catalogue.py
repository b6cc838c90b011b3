"""Sections of the catalogue: registries, environments, storage. Secrets are in no file."""

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _

from pool.errors import Invalid
from pool.events import Actor
from pool.models.catalogue.environments import Environment, Registry
from pool.models.catalogue.storage import Storage
from pool.services.catalogue.environments import (
    CHANGEABLE,
    WORDS,
    environment_change,
    environment_create,
    registry_allow,
)
from pool.services.catalogue.storage import CHANGEABLE as STORAGE_CHANGEABLE
from pool.services.catalogue.storage import storage_change, storage_create
from pool.services.imports.sections import Section, Words, tree, yes_no
from pool.services.imports.tenants import organization_named, project_named, user_named

STORAGE = ("kind", "backing", "path", "source", "mode", "create", "note", "active")
"""Words of a storage object besides its name and whose it is."""


def _registries() -> Iterable[Words]:
    for row in Registry.objects.order_by("prefix"):
        yield {"prefix": row.prefix, "note": row.note}


def _registry(words: Words, actor: Actor) -> None:
    registry_allow(prefix=words.get("prefix", ""), note=words.get("note", ""), actor=actor)


def _environments() -> Iterable[Words]:
    for row in Environment.objects.select_related("organization", "owner").order_by("slug"):
        yield {
            "slug": row.slug,
            "organization": row.organization.slug if row.organization else "",
            "owner": row.owner.username if row.owner else "",
            **{name: getattr(row, name) for name in WORDS},
            "active": row.active,
        }


def _environment(words: Words, actor: Actor) -> None:
    row = Environment.objects.filter(slug=words.get("slug", "")).first()
    given = {name: words[name] for name in WORDS if words.get(name) is not None}
    if row is None:
        whose = words.get("organization")
        row = environment_create(
            slug=words.get("slug", ""),
            organization=organization_named(whose) if whose else None,
            owner=user_named(words["owner"]) if words.get("owner") else None,
            actor=actor,
            **given,
        )
    _same(given, row, tuple(name for name in WORDS if name not in CHANGEABLE))
    changed = {name: words[name] for name in CHANGEABLE if words.get(name) is not None}
    environment_change(environment=row, actor=actor, **changed)


def _storage() -> Iterable[Words]:
    rows = Storage.objects.select_related("organization", "project", "user").order_by("pk")
    for row in rows:
        yield {
            "name": row.name,
            "organization": row.organization.slug if row.organization else "",
            "project": row.project.slug if row.project else "",
            "user": row.user.username if row.user else "",
            **{name: getattr(row, name) for name in STORAGE},
        }


def _stored(words: Words, actor: Actor) -> None:
    place: dict[str, Any] = {
        "organization": organization_named(words["organization"])
        if words.get("organization")
        else None,
        "project": project_named(words["project"]) if words.get("project") else None,
        "user": user_named(words["user"]) if words.get("user") else None,
    }
    name = words.get("name", "")
    given = {one: words[one] for one in STORAGE if words.get(one) is not None}
    active = given.pop("active", None)
    row = Storage.objects.filter(name=name, **place).first()
    if row is None:
        needed = {"kind": "", "path": ""} | given
        row = storage_create(name=name, actor=actor, **place, **needed)
    _same(given, row, tuple(one for one in given if one not in STORAGE_CHANGEABLE))
    changed = {one: value for one, value in given.items() if one in STORAGE_CHANGEABLE}
    storage_change(storage=row, actor=actor, active=active, **changed)


def _same(given: Words, row: Environment | Storage, names: tuple[str, ...]) -> None:
    """Pass where what stays for good is as it is.

    Raises:
        Invalid: a file would change it: old work would not be what it says.
    """
    moved = [name for name in names if name in given and given[name] != getattr(row, name)]
    if moved:
        raise Invalid(**{moved[0]: _("This stays: another one is another entry.")})


CATALOGUE = (
    Section(
        name="registries",
        keys=("prefix",),
        words=("prefix", "note"),
        rows=_registries,
        load=_registry,
        plain={},
    ),
    Section(
        name="environments",
        keys=("slug",),
        words=("slug", "organization", "owner", *WORDS, "active"),
        rows=_environments,
        load=_environment,
        plain={"tested": tree, "active": yes_no},
    ),
    Section(
        name="storage",
        keys=("name", "organization", "project", "user"),
        words=("name", "organization", "project", "user", *STORAGE),
        rows=_storage,
        load=_stored,
        plain={"create": yes_no, "active": yes_no},
    ),
)
"""Before templates, which name environments."""

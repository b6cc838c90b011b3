"""Environments and the registries of images: allowed, changed, deprecated by administrators."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from pool.clock import now
from pool.errors import InUse, Invalid, NotYours
from pool.events import Actor, record
from pool.lifecycle.catalogue import EnvironmentKind
from pool.lifecycle.events import EventKind
from pool.lifecycle.workloads import ENDED
from pool.models.catalogue.environments import Environment, Registry
from pool.models.templates import TemplateVersion
from pool.models.tenants import Organization
from pool.models.users import User
from pool.rules.catalogue import note_problem
from pool.rules.catalogue_images import environment_problems, from_allowed, registry_problem
from pool.services.catalogue.watched import nodes_look
from pool.services.moves import locked
from pool.services.refusals import refuse

WORDS = ("name", "kind", "reference", "digest", "instruction_set", "min_driver", "tested", "note")
CHANGEABLE = ("name", "min_driver", "tested", "note", "active")
"""What may change: another image or folder is another entry, so that old work stays true."""


@transaction.atomic
def environment_create(
    *,
    slug: str,
    actor: Actor,
    organization: Organization | None = None,
    owner: User | None = None,
    **words: Any,
) -> Environment:
    """Put an image or a folder of programs into the catalogue.

    Raises:
        Invalid: a word is wrong, the image's registry is not allowed, or the slug is taken.
    """
    said = {"digest": "", "min_driver": "", "tested": [], "note": ""} | words
    refuse(environment_problems(slug=slug, registries=registries(), **said))
    if Environment.objects.filter(slug=slug).exists():
        raise Invalid(slug=gettext("There is one of this name already."))
    row = Environment.objects.create(slug=slug, organization=organization, owner=owner, **said)
    record(
        EventKind.ENVIRONMENT_CHANGED,
        row,
        actor=actor,
        slug=slug,
        reference=row.reference,
        digest=row.digest,
        after="allowed",
    )
    if row.kind == EnvironmentKind.FOLDER:
        nodes_look()
    return row


@transaction.atomic
def environment_change(*, environment: Environment, actor: Actor, **words: Any) -> Environment:
    """Change what people read of it, what it needs, or whether it is offered to new work.

    Raises:
        Invalid: a word is wrong.
    """
    row = locked(Environment.objects.filter(pk=environment.pk))[0]
    before = {name: getattr(row, name) for name in CHANGEABLE}
    for name in CHANGEABLE:
        if words.get(name) is not None:
            setattr(row, name, words[name])
    said = {name: getattr(row, name) for name in WORDS}
    refuse(environment_problems(slug=row.slug, registries=registries(), **said))
    row.save()
    after = {name: getattr(row, name) for name in CHANGEABLE if getattr(row, name) != before[name]}
    if after:
        was = {name: before[name] for name in after}
        record(EventKind.ENVIRONMENT_CHANGED, row, actor=actor, before=was, after=after)
        nodes_look()
    return row


@transaction.atomic
def environment_deprecate(
    *, environment: Environment, actor: Actor, note: str = "", undo: bool = False
) -> Environment:
    """Warn whoever chooses it from now on, and say what to take instead; `undo` takes it back.

    Raises:
        Invalid: the note is too long.
    """
    refuse({"note": note_problem(note)})
    row = locked(Environment.objects.filter(pk=environment.pk))[0]
    if bool(row.deprecated_at) != undo and (undo or row.deprecated_note == note):
        return row
    row.deprecated_at = None if undo else (row.deprecated_at or now())
    row.deprecated_note = "" if undo else note
    row.save(update_fields=["deprecated_at", "deprecated_note"])
    word = "in use again" if undo else "deprecated"
    record(EventKind.ENVIRONMENT_CHANGED, row, actor=actor, slug=row.slug, after=word, note=note)
    return row


@transaction.atomic
def environment_remove(*, environment: Environment, actor: Actor) -> None:
    """Take it out of the catalogue; one that work or a template ever named is only closed.

    Raises:
        InUse: live work uses it.
    """
    row = locked(Environment.objects.filter(pk=environment.pk))[0]
    if count := row.workloads.exclude(state__in=sorted(ENDED)).count():
        raise InUse(what=row.name, count=count)
    record(EventKind.ENVIRONMENT_CHANGED, row, actor=actor, slug=row.slug, after="removed")
    if row.workloads.exists() or TemplateVersion.objects.filter(environment=row).exists():
        row.active = False
        row.save(update_fields=["active"])
    else:
        row.delete()
    nodes_look()


@transaction.atomic
def registry_allow(*, prefix: str, actor: Actor, note: str = "") -> Registry:
    """Images may come from there; the same again changes only the note.

    Raises:
        Invalid: it is no registry.
    """
    refuse({"prefix": registry_problem(prefix), "note": note_problem(note)})
    row, made = Registry.objects.get_or_create(prefix=prefix, defaults={"note": note})
    if not made and row.note == note:
        return row
    row.note = note
    row.save(update_fields=["note"])
    record(EventKind.REGISTRY_CHANGED, row, actor=actor, prefix=prefix, after="allowed")
    return row


@transaction.atomic
def registry_remove(*, registry: Registry, actor: Actor) -> None:
    """No new work gets an image from there; what runs goes on.

    Raises:
        NotYours: it is gone already.
    """
    rows = locked(Registry.objects.filter(pk=registry.pk))
    if not rows:
        raise NotYours
    record(EventKind.REGISTRY_CHANGED, rows[0], actor=actor, prefix=rows[0].prefix, after="removed")
    rows[0].delete()


def registries() -> Sequence[str]:
    """Where images may come from."""
    return tuple(Registry.objects.values_list("prefix", flat=True))


def still_allowed(environment: Environment) -> bool:
    """Whether its image may be fetched today."""
    if environment.kind == EnvironmentKind.FOLDER:
        return True
    return from_allowed(environment.reference, registries())

"""What work is to use, judged before it waits for anything: storage, secrets, an environment."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.utils.translation import gettext, gettext_lazy

from pool.errors import Invalid
from pool.lifecycle.catalogue import Access, Backing, EnvironmentKind, InstructionSet
from pool.models.catalogue.environments import Environment
from pool.models.catalogue.secrets import Secret
from pool.models.catalogue.storage import Storage
from pool.models.catalogue.uses import SecretUse, StorageUse
from pool.models.templates import TemplateVersion
from pool.models.tenants import Project
from pool.models.users import User
from pool.rules.catalogue import (
    Mounted,
    Told,
    mounts_problem,
    root_of,
    tail_of,
    told_problem,
)
from pool.rules.catalogue_images import Inside, fitted, from_allowed, image_name
from pool.rules.needs import Need
from pool.rules.problems import Problem
from pool.selectors.catalogue.lists import (
    environments_for,
    roots_somewhere,
    secrets_for,
    storage_for,
)
from pool.services.catalogue.environments import registries, still_allowed
from pool.services.refusals import refuse, said
from pool.services.wishes import need_wished

BACKING = {
    Backing.HOST: gettext_lazy("a folder"),
    Backing.NFS: gettext_lazy("an NFS mount"),
    Backing.LUSTRE: gettext_lazy("a Lustre mount"),
    Backing.S3: gettext_lazy("a mounted S3 bucket"),
}


@dataclass(frozen=True, slots=True)
class Given:
    """What a person names beside the need: storage and secrets by uid, an environment by slug.

    An `environment` of "" is the template's.
    """

    mounts: Sequence[Mounted] = ()
    secrets: Sequence[Told] = ()
    environment: str = ""


@dataclass(frozen=True, slots=True)
class Ready:
    """The same as rows, with what the need must also say."""

    storage: Sequence[StorageUse]
    secrets: Sequence[SecretUse]
    environment: Environment | None
    need: Mapping[str, Any]

    @property
    def image(self) -> str:
        """What a container engine shall fetch; "" for none."""
        one = self.environment
        if one is None or one.kind != EnvironmentKind.IMAGE:
            return ""
        return image_name(one.reference, one.digest)


def given_judged(
    *,
    given: Given,
    user: User,
    project: Project,
    version: TemplateVersion,
    need: Mapping[str, Any],
    env: Mapping[str, str],
    files: Iterable[str],
    image: str = "",
) -> Ready:
    """What was named, as far as the person's work in the project may use it.

    Raises:
        Invalid: by field, what is wrong with it.
    """
    refuse(
        {
            "storage": mounts_problem(given.mounts, files),
            "secrets": told_problem(given.secrets, env),
        }
    )
    storage = _storage(given.mounts, user, project)
    environment = _environment(given.environment, version, project, image)
    merged = need_wished(template_version=version, overrides=need)
    words = dict(need)
    if storage:
        roots = {root_of(use.storage.path): None for use in storage}
        words["storage"] = [*merged.storage, *(one for one in roots if one not in merged.storage)]
        merged = replace(merged, storage=tuple(words["storage"]))
    if environment is not None:
        fit = _fit(environment, merged, {"env": env})
        words |= fit
    return Ready(storage, _secrets(given.secrets, user, project), environment, words)


def given_kept(given: Given) -> dict[str, Any]:
    """What was named as plain words for a row: names only, never a value."""
    listed = replace(given, mounts=list(given.mounts), secrets=list(given.secrets))
    return asdict(listed)


def given_from(words: Mapping[str, Any]) -> Given:
    """Back from a row."""
    return Given(
        mounts=[Mounted(**one) for one in words.get("mounts", ())],
        secrets=[Told(**one) for one in words.get("secrets", ())],
        environment=words.get("environment", ""),
    )


def given_for(given: Given, *, user: User) -> Given:
    """The same without the personal secrets and folders of anybody else."""
    foreign = _of_others(Secret, [one.secret for one in given.secrets], user)
    foreign |= _of_others(Storage, [one.storage for one in given.mounts], user)
    return replace(
        given,
        secrets=[one for one in given.secrets if one.secret not in foreign],
        mounts=[one for one in given.mounts if one.storage not in foreign],
    )


def _of_others(model: type[Secret | Storage], uids: list[str], user: User) -> set[str]:
    if not uids:
        return set()
    rows = model._default_manager.filter(uid__in=uids).exclude(user=None).exclude(user=user)
    return set(rows.values_list("uid", flat=True))


def inside_of(environment: Environment) -> Inside:
    """The entry as the rules read it."""
    folder = environment.reference if environment.kind == EnvironmentKind.FOLDER else ""
    return Inside(
        slug=environment.slug,
        instruction_set=InstructionSet(environment.instruction_set),
        min_driver=environment.min_driver,
        tested=tuple(environment.tested),
        folder=folder,
        deprecated=environment.deprecated_at is not None,
        note=environment.deprecated_note,
    )


def _storage(asked: Sequence[Mounted], user: User, project: Project) -> list[StorageUse]:
    rows = {row.uid: row for row in storage_for(user=user, project=project)} if asked else {}
    present = roots_somewhere() if asked else set()
    return [_use(one, rows.get(one.storage), present, user, project) for one in asked]


def _use(
    one: Mounted, row: Storage | None, present: set[str], user: User, project: Project
) -> StorageUse:
    if row is None:
        raise Invalid(storage=gettext("No such storage: %(uid)s.") % {"uid": one.storage[:48]})
    if one.mode == Access.WRITE and row.mode == Access.READ:
        raise Invalid(storage=gettext("%(name)s can only be read.") % {"name": row.name})
    if root_of(row.path) not in present:
        words = {
            "name": row.name,
            "path": root_of(row.path),
            "backing": BACKING[Backing(row.backing)],
        }
        raise Invalid(
            storage=gettext("No node has %(name)s now: %(path)s is not there as %(backing)s.")
            % words
        )
    try:
        tail = tail_of(row.path, _words(row, user, project))
    except ValueError as bad:
        raise Invalid(storage=str(bad)) from bad
    path = f"{root_of(row.path)}/{tail}".rstrip("/")
    return StorageUse(storage=row, at=one.at, path=path, mode=one.mode or row.mode)


def _words(row: Storage, user: User, project: Project) -> dict[str, str]:
    return {
        "user": row.named_for or user.unix_account or user.username,
        "project": project.slug,
        "organization": project.organization.slug,
    }


def _secrets(asked: Sequence[Told], user: User, project: Project) -> list[SecretUse]:
    rows: dict[str, Secret] = {}
    if asked:
        rows = {row.uid: row for row in secrets_for(user=user, project=project)}
    missing = [one.secret for one in asked if one.secret not in rows]
    if missing:
        raise Invalid(secrets=gettext("No such secret: %(uid)s.") % {"uid": missing[0][:48]})
    return [SecretUse(secret=rows[one.secret], form=one.form, name=one.name) for one in asked]


def _environment(
    slug: str, version: TemplateVersion, project: Project, image: str
) -> Environment | None:
    if image and slug:
        raise Invalid(image=gettext("Name an image or an environment, not both."))
    if image and not from_allowed(image, registries()):
        words = {"known": ", ".join(registries())}
        raise Invalid(image=gettext("Images may come from: %(known)s.") % words)
    if image:
        return None
    if not slug:
        return version.environment
    found = environments_for(project=project).filter(slug=slug).first()
    if found is None:
        raise Invalid(environment=gettext("No such environment."))
    return found


def _fit(environment: Environment, need: Need, words: Mapping[str, Any]) -> dict[str, Any]:
    """What the need must also say; refused when the work can never run in there."""
    if not still_allowed(environment):
        text = gettext("Images from the registry of %(name)s are not allowed any more.")
        raise Invalid(environment=text % {"name": environment.name})
    if environment.kind == EnvironmentKind.IMAGE:
        long = next((name for name, value in words["env"].items() if "\n" in value), "")
        if long:
            raise Invalid(env=gettext("In an image %(name)s must be one line.") % {"name": long})
    fit = fitted(need, inside_of(environment))
    if isinstance(fit, Problem):
        raise Invalid(environment=said(fit))
    return fit

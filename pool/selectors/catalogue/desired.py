"""What a node shall look for, and what the attempts on it are given of the catalogues."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from nodeagent.protocol.places import Mount, Watched
from pool.lifecycle.catalogue import Access, Backing, EnvironmentKind, SecretForm
from pool.lifecycle.found import FoundState
from pool.lifecycle.workloads import WorkloadState
from pool.models.adoption.found import FoundWork
from pool.models.catalogue.environments import Environment
from pool.models.catalogue.storage import Storage
from pool.models.catalogue.uses import SecretUse, StorageUse
from pool.models.workloads import Attempt
from pool.rules.catalogue import MOUNTED_AS, root_of
from pool.sealing import CannotOpen, NoKey, unseal

MOST_PLACES = 2000
BEFORE = (WorkloadState.PLACED, WorkloadState.STARTING)
"""Only work that has not begun is told its secrets: nobody needs them again."""


@dataclass(slots=True)
class Given:
    """What one workload is given, in the words of the wire."""

    mounts: list[Mount] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    @property
    def words(self) -> dict[str, Any]:
        """Fields of a wanted attempt."""
        return {
            "mounts": tuple(self.mounts),
            "secret_env": self.env,
            "secret_files": self.files,
            "missing": tuple(self.missing),
        }


def watched() -> tuple[Watched, ...]:
    """Every folder that the catalogues name, once; two queries whatever the number of nodes."""
    storage = Storage.objects.filter(active=True).order_by("pk")
    folders = Environment.objects.filter(active=True, kind=EnvironmentKind.FOLDER).order_by("pk")
    found: dict[str, Watched] = {}
    for path, backing in storage.values_list("path", "backing"):
        root = root_of(path)
        found.setdefault(root, Watched(path=root, types=MOUNTED_AS[Backing(backing)]))
    for path in folders.values_list("reference", flat=True):
        found.setdefault(path, Watched(path=path))
    return tuple(found.values())[:MOST_PLACES]


def given_on(*, attempts: Sequence[Attempt]) -> dict[int, Given]:
    """By attempt, what it is given; three queries, however many there are."""
    of = {row.pk: row.workload.parent_id or row.workload_id for row in attempts}
    found = {workload: Given() for workload in of.values()}
    if not found:
        return {}
    storage = StorageUse.objects.filter(workload__in=found).select_related("storage")
    for use in storage.order_by("pk"):
        found[use.workload_id].mounts.append(_mount(use))
    fresh = _not_adopted([row for row in attempts if _unbegun(row)])
    told = {of[row.pk] for row in fresh}
    secrets = SecretUse.objects.filter(workload__in=told).select_related("secret", "workload")
    for one in secrets.order_by("pk"):
        _tell(found[one.workload_id], one)
    whole = {row.pk for row in fresh}
    return {pk: found[of[pk]] if pk in whole else _later(found[of[pk]]) for pk in of}


def _not_adopted(attempts: list[Attempt]) -> list[Attempt]:
    """Without those that a node said it runs: they were told their secrets when they began."""
    uids = [row.uid for row in attempts]
    rows = FoundWork.objects.filter(attempt__in=uids, state=FoundState.ADOPTED) if uids else ()
    adopted = {row.attempt for row in rows}
    return [row for row in attempts if row.uid not in adopted]


def _unbegun(row: Attempt) -> bool:
    """Ranks of a gang begin one after the other, under one state."""
    return row.workload.state in BEFORE or (row.size > 1 and row.workload.state == "running")


def _later(given: Given) -> Given:
    return Given(mounts=given.mounts)


def _mount(use: StorageUse) -> Mount:
    row = use.storage
    root = root_of(row.path)
    return Mount(
        root=root,
        tail=use.path[len(root) :].strip("/"),
        at=use.at,
        name=row.name,
        read_only=use.mode == Access.READ,
        create=row.create,
        shared=not row.path.endswith("{user}"),
        types=MOUNTED_AS[Backing(row.backing)],
    )


def _tell(given: Given, use: SecretUse) -> None:
    """A personal secret is told to its person's own work only, whoever owned it before."""
    known = bool(use.secret.sealed) and use.secret.user_id in (None, use.workload.owner_id)
    try:
        value = unseal(use.secret.sealed) if known else ""
    except (CannotOpen, NoKey):
        value = ""
    if not value:
        given.missing.append(use.secret.name)
    elif use.form == SecretForm.ENV:
        given.env[use.name] = value
    else:
        given.files[use.name] = value

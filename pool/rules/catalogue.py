"""Pure: what storage objects, their places in work, and secrets may look like."""

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pool.lifecycle.catalogue import Access, Backing, SecretForm, StorageKind
from pool.rules.problems import Problem
from pool.rules.problems import marked as _
from pool.rules.workloads import is_text, name_problem

MOST_PATH = 400
MOST_AT = 200
MOST_NOTE = 200
MOST_GIVEN = 32
"""Storage objects, and secrets, that one workload may be given."""

MOST_SECRET_BYTES = 64 * 1024
WORDS = ("{user}", "{project}", "{organization}")
CLOSED = ("/", "/proc", "/sys", "/dev", "/etc", "/boot", "/root", "/run", "/usr", "/bin", "/lib")
"""Folders of the system: neither they nor what lies below them is ever given to work."""

MOUNTED_AS: Mapping[Backing, tuple[str, ...]] = {
    Backing.HOST: (),
    Backing.NFS: ("nfs",),
    Backing.LUSTRE: ("lustre",),
    Backing.S3: ("fuse",),
}
"""How the type of file system begins that a node must have mounted there."""

_STEP = re.compile(r"[A-Za-z0-9._@+-]{1,100}\Z")
_SECRET = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,62}\Z")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}\Z")


@dataclass(frozen=True, slots=True)
class Mounted:
    """What work asks for: a storage object by uid, where, and how ("": as the object allows)."""

    storage: str
    at: str
    mode: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """A secret by uid, as a variable or a file of that name."""

    secret: str
    name: str
    form: str = SecretForm.ENV


def storage_problems(
    *, name: Any, kind: Any, backing: Any, path: Any, source: Any, mode: Any, note: Any
) -> dict[str, Problem]:
    """Everything wrong with a storage object, by field."""
    wrong = {
        "name": name_problem(name),
        "kind": _one_of(kind, tuple(StorageKind)),
        "backing": _one_of(backing, tuple(Backing)),
        "path": path_problem(path),
        "source": note_problem(source),
        "mode": _one_of(mode, tuple(Access)),
        "note": note_problem(note),
    }
    if wrong["backing"] is None and backing != Backing.HOST and not source:
        wrong["source"] = Problem(_("Say what is mounted there: an export, a bucket."))
    return {field: one for field, one in wrong.items() if one is not None}


def path_problem(path: Any) -> Problem | None:
    """A whole path of plain steps, outside the system's own folders."""
    if not is_text(path) or not path.startswith("/") or len(path) > MOST_PATH:
        return Problem(
            _("A whole path of at most %(most)s characters is needed."), {"most": MOST_PATH}
        )
    steps = path.strip("/").split("/")
    if posixpath.normpath(path) != path or not all(
        step in WORDS or (_STEP.match(step) and step not in (".", "..")) for step in steps
    ):
        return Problem(
            _("A path has plain names between its slashes, or one of: %(words)s."),
            {"words": ", ".join(WORDS)},
        )
    if path in CLOSED or any(path.startswith(f"{one}/") for one in CLOSED[1:]):
        return Problem(_("This folder belongs to the system of a node."))
    if root_of(path) == "/":
        return Problem(_("A path begins with a folder that every node has in the same place."))
    return None


def root_of(path: str) -> str:
    """The part of a path that must be there on a node: up to the first word in braces."""
    return path.partition("/{")[0] or "/"


def tail_of(path: str, words: Mapping[str, str]) -> str:
    """What comes after the root, with the words in braces filled in; "" when nothing does.

    Raises:
        ValueError: a word has a value that is no plain name.
    """
    steps = [step for step in path[len(root_of(path)) :].split("/") if step]
    filled = [words[step[1:-1]] if step in WORDS else step for step in steps]
    if any(not _STEP.match(step) or step in (".", "..") for step in filled):
        raise ValueError("a name cannot be part of a path")
    return "/".join(filled)


def mounts_problem(asked: Sequence[Mounted], files: Iterable[str] = ()) -> Problem | None:
    """Places are relative, apart from each other, and apart from the files of the work."""
    if len(asked) > MOST_GIVEN:
        return Problem(_("At most %(most)s are possible."), {"most": MOST_GIVEN})
    for one in asked:
        if not _inside(one.at):
            return Problem(
                _("%(at)s is not a plain path inside the work's own folder."), {"at": one.at[:63]}
            )
        if one.mode not in ("", *Access):
            return Problem(_("Choose from: %(known)s."), {"known": ", ".join(Access)})
    return _apart([one.at for one in asked], tuple(files))


def _apart(places: Sequence[str], files: Sequence[str]) -> Problem | None:
    """No place lies in another, nor in the way of a file."""
    for number, at in enumerate(places):
        if any(_nested(at, other) for other in places[number + 1 :]):
            return Problem(_("%(at)s is taken twice."), {"at": at})
        if any(_nested(at, file) for file in files):
            return Problem(_("%(at)s is also one of the files."), {"at": at})
    return None


def _nested(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")


def secret_problems(*, name: Any, value: Any, note: Any = "") -> dict[str, Problem]:
    """Everything wrong with a secret that is set, by field. The value stands in no text."""
    wrong: dict[str, Problem | None] = {"note": note_problem(note)}
    if not isinstance(name, str) or not _SECRET.match(name):
        wrong["name"] = Problem(_("A name is letters, digits, dots, dashes and underscores."))
    if not is_text(value) or not value:
        wrong["value"] = Problem(_("A value is a text that is not empty."))
    elif len(value.encode()) > MOST_SECRET_BYTES:
        wrong["value"] = Problem(
            _("A value is at most %(most)s bytes."), {"most": MOST_SECRET_BYTES}
        )
    return {field: one for field, one in wrong.items() if one is not None}


def told_problem(asked: Sequence[Told], env: Iterable[str] = ()) -> Problem | None:
    """Each name once; a variable's is one that a shell takes and that nothing else sets."""
    if len(asked) > MOST_GIVEN:
        return Problem(_("At most %(most)s are possible."), {"most": MOST_GIVEN})
    taken = set(env)
    seen: set[tuple[str, str]] = set()
    for one in asked:
        fine = _VARIABLE if one.form == SecretForm.ENV else _SECRET
        if one.form not in tuple(SecretForm) or not fine.match(one.name):
            return Problem(_("%(name)s is no name for it."), {"name": one.name[:63]})
        if one.form == SecretForm.ENV and one.name.startswith("GPUPOOL_"):
            return Problem(_("Names that begin with GPUPOOL_ are the pool's own."))
        if (one.form, one.name) in seen or (one.form == SecretForm.ENV and one.name in taken):
            return Problem(_("%(name)s is set twice."), {"name": one.name})
        seen.add((one.form, one.name))
    return None


def note_problem(note: Any) -> Problem | None:
    """One printable line of at most 200 characters, or none."""
    if is_text(note) and len(note) <= MOST_NOTE and (note.isprintable() or not note):
        return None
    return Problem(_("At most %(most)s characters are possible."), {"most": MOST_NOTE})


def _inside(at: Any) -> bool:
    if not is_text(at) or not 0 < len(at) <= MOST_AT:
        return False
    return all(_STEP.match(step) and step not in (".", "..") for step in at.split("/"))


def _one_of(value: Any, known: tuple[str, ...]) -> Problem | None:
    if isinstance(value, str) and value in known:
        return None
    return Problem(_("Choose from: %(known)s."), {"known": ", ".join(known)})

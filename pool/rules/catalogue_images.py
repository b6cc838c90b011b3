"""Pure: what an environment may look like, and whether work may run in it."""

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nodeagent.protocol.vocabulary import Vendor
from pool.lifecycle.catalogue import EnvironmentKind, InstructionSet
from pool.rules.catalogue import note_problem, path_problem
from pool.rules.needs import Need
from pool.rules.problems import Problem
from pool.rules.problems import marked as _
from pool.rules.workloads import is_text

VENDOR: Mapping[InstructionSet, Vendor | None] = {
    InstructionSet.CUDA: Vendor.NVIDIA,
    InstructionSet.ROCM: Vendor.AMD,
    InstructionSet.CANN: Vendor.ASCEND,
    InstructionSet.CPU: None,
}
"""Whose cards each instruction set runs on; None: on no card."""

MOST_TESTED = 64
_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\Z")
_IMAGE = re.compile(r"[a-z0-9][A-Za-z0-9._:/-]{0,179}\Z")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}\Z")
_DRIVER = re.compile(r"[0-9]+(?:\.[0-9]+){0,3}\Z")


@dataclass(frozen=True, slots=True)
class Inside:
    """What matters of an environment when work asks for it."""

    slug: str
    instruction_set: InstructionSet
    min_driver: str = ""
    tested: tuple[str, ...] = ()
    folder: str = ""
    deprecated: bool = False
    note: str = ""


def environment_problems(
    *,
    slug: Any,
    name: Any,
    kind: Any,
    reference: Any,
    digest: Any,
    instruction_set: Any,
    min_driver: Any,
    tested: Any,
    note: Any,
    registries: Iterable[str],
) -> dict[str, Problem]:
    """Everything wrong with an entry of the catalogue, by field."""
    wrong: dict[str, Problem | None] = {"note": note_problem(note)}
    if not isinstance(slug, str) or not _SLUG.match(slug):
        wrong["slug"] = Problem(_("A short name has small letters, digits and dashes."))
    if not is_text(name) or not 0 < len(name.strip()) <= 120:
        wrong["name"] = Problem(_("A name of 1 to %(most)s characters is needed."), {"most": 120})
    if instruction_set not in tuple(InstructionSet):
        known = ", ".join(InstructionSet)
        wrong["instruction_set"] = Problem(_("Choose from: %(known)s."), {"known": known})
    if min_driver and not (isinstance(min_driver, str) and _DRIVER.match(min_driver)):
        wrong["min_driver"] = Problem(_("A version is numbers with dots, for example 550.54."))
    if not _models(tested):
        wrong["tested"] = Problem(_("A list of at most %(most)s names is needed."), {"most": 64})
    if kind == EnvironmentKind.FOLDER:
        wrong["reference"] = _folder_problem(reference)
        wrong["digest"] = Problem(_("A folder has no digest.")) if digest else None
    elif kind == EnvironmentKind.IMAGE:
        wrong |= _image_problems(reference, digest, tuple(registries))
    else:
        known = ", ".join(EnvironmentKind)
        wrong["kind"] = Problem(_("Choose from: %(known)s."), {"known": known})
    return {field: one for field, one in wrong.items() if one is not None}


def _models(tested: Any) -> bool:
    return (
        isinstance(tested, list | tuple)
        and len(tested) <= MOST_TESTED
        and all(is_text(one) and 0 < len(one) <= 96 for one in tested)
    )


def _folder_problem(path: Any) -> Problem | None:
    if isinstance(path, str) and path.startswith(("/usr/", "/opt/")):
        return None if posixpath.normpath(path) == path and "{" not in path else _bad_path()
    if isinstance(path, str) and "{" in path:
        return _bad_path()
    return path_problem(path)


def _bad_path() -> Problem:
    return Problem(_("A whole path without words in braces is needed."))


def _image_problems(
    reference: Any, digest: Any, registries: tuple[str, ...]
) -> dict[str, Problem | None]:
    wrong: dict[str, Problem | None] = {}
    if not isinstance(reference, str) or not _IMAGE.match(reference):
        wrong["reference"] = Problem(_("This is not the name of an image."))
    elif not from_allowed(reference, registries):
        wrong["reference"] = Problem(
            _("Images may come from: %(known)s."),
            {"known": ", ".join(registries)},
        )
    if not isinstance(digest, str) or not _DIGEST.match(digest):
        wrong["digest"] = Problem(
            _("A digest is needed: sha256: and 64 hexadecimal digits. A tag can change, it cannot.")
        )
    return wrong


def registry_problem(prefix: Any) -> Problem | None:
    """A host with a dot, a port or the name localhost, and perhaps a path."""
    if isinstance(prefix, str) and 0 < len(prefix) <= 200 and _IMAGE.match(prefix):
        host = prefix.partition("/")[0]
        if "." in host or ":" in host or host == "localhost":
            return None
    return Problem(_("A registry is a host, for example registry.example.com/team."))


def from_allowed(reference: str, registries: Iterable[str]) -> bool:
    """Whether the image comes from one of the registries, at a whole step of its name.

    While no registry is named, all are allowed.
    """
    named = [one.rstrip("/") for one in registries]
    return not named or any(reference.startswith(f"{one}/") for one in named)


def image_name(reference: str, digest: str) -> str:
    """The name by which an engine fetches exactly this image: the tag gives way to the digest."""
    head, slash, last = reference.rpartition("/")
    bare = f"{head}{slash}{last.partition(':')[0]}"
    return f"{bare}@{digest}"


def fitted(need: Need, inside: Inside) -> dict[str, Any] | Problem:
    """What the need must also say so that the work runs in there, or why it never can."""
    vendor = VENDOR[inside.instruction_set]
    words: dict[str, Any] = {}
    if vendor is None and need.parts:
        return Problem(
            _("%(name)s has programs for processors only, and the work asks for cards."),
            {"name": inside.slug},
        )
    if vendor is not None and need.parts:
        if need.vendors and vendor not in need.vendors:
            return Problem(
                _("%(name)s is built for %(set)s, which runs on %(vendor)s cards, not on these."),
                {"name": inside.slug, "set": inside.instruction_set, "vendor": vendor},
            )
        words["vendors"] = [str(vendor)]
    if need.parts and newer(inside.min_driver, need.min_driver):
        words["min_driver"] = inside.min_driver
    if inside.folder and inside.folder not in need.storage:
        words["storage"] = [*need.storage, inside.folder]
    return words


def newer(first: str, second: str) -> bool:
    """Whether one version is higher than the other; none is the lowest."""
    return _numbers(first) > _numbers(second)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(one) for one in re.findall(r"\d+", version))


def warnings_of(inside: Inside, labels: Iterable[str]) -> list[Problem]:
    """What a person should know though it is no reason to refuse: deprecated, or not tested."""
    found = []
    if inside.deprecated:
        found.append(
            Problem(
                _("%(name)s should not be used any more: %(note)s."),
                {"name": inside.slug, "note": inside.note or _("no reason is given")},
            )
        )
    models = sorted(set(labels) - set(inside.tested))
    if models:
        found.append(
            Problem(
                _("%(name)s was not tested on %(models)s."),
                {"name": inside.slug, "models": ", ".join(models)},
            )
        )
    return found

"""What a piece of work may look like at the door: sizes, names, files; nothing about cards."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from nodeagent.protocol.vocabulary import Silence, WorkloadKind
from pool.lifecycle.roles import Priority
from pool.rules.problems import Problem
from pool.rules.problems import marked as _

MOST_NAME = 63
MOST_COMMENT = 4000
MOST_REASON = 200
MOST_COMMAND_BYTES = 32 * 1024
MOST_WORDS = 1024
MOST_VARIABLES = 256
MOST_VARIABLE_BYTES = 32 * 1024
MOST_FILES = 256
MOST_FILES_BYTES = 1024 * 1024
MOST_RUNS = 100
LEAST_SECONDS = 1
MOST_LIVE = 1000
"""Live workloads of one member in one project, where the project says nothing else."""

LARGEST_MOST_LIVE = 50_000
"""What a project may say at the most."""

NOTEBOOK_COMMAND = ("jupyter", "lab")
"""Stands for what the node starts: its own environment, at a socket of the attempt."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def name_problem(name: Any) -> Problem | None:
    """A name is one line of 1 to 63 printable characters."""
    if is_text(name) and len(name.strip()) > 0 and len(name) <= MOST_NAME and name.isprintable():
        return None
    return Problem(
        _("A name of 1 to %(most)s printable characters is needed."), {"most": MOST_NAME}
    )


def comment_problem(comment: Any) -> Problem | None:
    """A comment is a text of at most 4,000 characters."""
    if is_text(comment) and len(comment) <= MOST_COMMENT:
        return None
    return Problem(_("At most %(most)s characters are possible."), {"most": MOST_COMMENT})


def reason_problem(reason: Any) -> Problem | None:
    """A reason is a text of at most 200 characters, or none."""
    if is_text(reason) and len(reason) <= MOST_REASON:
        return None
    return Problem(_("At most %(most)s characters are possible."), {"most": MOST_REASON})


def command_problem(command: Any) -> Problem | None:
    """A command is a list of words; together at most 32 KiB, the first not empty."""
    if not isinstance(command, (list, tuple)) or not all(is_text(word) for word in command):
        return Problem(_("A command is a list of words, without zero bytes."))
    if not command or not command[0].strip():
        return Problem(_("A command is needed."))
    size = sum(len(word.encode()) + 1 for word in command)
    if size > MOST_COMMAND_BYTES or len(command) > MOST_WORDS:
        return Problem(
            _("The command is too long: %(size)s bytes of at most %(most)s."),
            {"size": size, "most": MOST_COMMAND_BYTES},
        )
    return None


def command_of(kind: str, given: Any) -> Any:
    """What is run: a notebook is the same command for everybody."""
    return NOTEBOOK_COMMAND if kind == WorkloadKind.NOTEBOOK else given


def env_problem(env: Any) -> Problem | None:
    """At most 256 variables of at most 32 KiB each, names as a shell takes them."""
    if not isinstance(env, Mapping) or len(env) > MOST_VARIABLES:
        return Problem(_("At most %(most)s variables are possible."), {"most": MOST_VARIABLES})
    for name, value in env.items():
        if not isinstance(name, str) or not _VARIABLE.match(name) or not is_text(value):
            return Problem(_("%(name)s is not a variable with a text."), {"name": str(name)[:63]})
        if len(name) + 1 + len(value.encode()) > MOST_VARIABLE_BYTES:
            return Problem(
                _("%(name)s is longer than %(most)s bytes."),
                {"name": name[:63], "most": MOST_VARIABLE_BYTES},
            )
    return None


def files_problem(files: Any) -> Problem | None:
    """Texts by relative path, together at most 1 MiB; no path leaves the job's own folder."""
    if not isinstance(files, Mapping) or len(files) > MOST_FILES:
        return Problem(_("At most %(most)s files are possible."), {"most": MOST_FILES})
    size = 0
    for path, text in files.items():
        if not _inside(path) or not is_text(text):
            return Problem(
                _("%(path)s is not a relative path with a text."), {"path": str(path)[:63]}
            )
        size += len(text.encode())
    if size > MOST_FILES_BYTES:
        return Problem(
            _("The files are too large: %(size)s bytes of at most %(most)s."),
            {"size": size, "most": MOST_FILES_BYTES},
        )
    return None


def seconds_problem(seconds: Any, most: int) -> Problem | None:
    """A duration is a whole number of seconds, within what the template allows."""
    if isinstance(seconds, int) and not isinstance(seconds, bool):
        if LEAST_SECONDS <= seconds <= most:
            return None
        if seconds > most:
            return Problem(_("The template allows at most %(most)s seconds."), {"most": most})
    return Problem(_("A duration of at least one second is needed."))


def priority_problem(priority: Any) -> Problem | None:
    """One of the classes. Whether critical is granted is not seen here: its budget says it."""
    known = [one.value for one in Priority]
    if priority in known:
        return None
    return Problem(_("Choose from: %(known)s."), {"known": ", ".join(known)})


def runs_problem(runs: Any) -> Problem | None:
    """How often a failed run is repeated."""
    if isinstance(runs, int) and not isinstance(runs, bool) and 0 <= runs <= MOST_RUNS:
        return None
    return Problem(_("A whole number from 0 to %(most)s is needed."), {"most": MOST_RUNS})


IMAGE = re.compile(r"[a-z0-9][A-Za-z0-9._:/@-]{0,254}\Z")
"""The name of an image: no blank, and never a dash in front, where an option would stand."""


def image_problem(image: Any) -> Problem | None:
    """An image's name as container engines take it; empty is none, and that is fine."""
    if image == "" or isinstance(image, str) and IMAGE.match(image):
        return None
    text = _("A name like registry.example.org/team/image:tag is needed.")
    return Problem(text)


def work_problems(
    *,
    name: Any,
    comment: Any,
    command: Any,
    env: Any,
    files: Any,
    priority: Any,
    runs: Any,
    seconds: Any,
    most_seconds: int,
    silence: Any = Silence.KEEP,
    when_full: Any = "",
) -> dict[str, Problem]:
    """Everything wrong with the words of a submission, by field."""
    found = {
        "name": name_problem(name),
        "comment": comment_problem(comment),
        "command": command_problem(command),
        "env": env_problem(env),
        "files": files_problem(files),
        "priority": priority_problem(priority),
        "runs": runs_problem(runs),
        "expected_seconds": seconds_problem(seconds, most_seconds),
        "silence": _one_of(silence, tuple(Silence)),
        "when_full": _one_of(when_full, ("", "wait", "ask")),
    }
    return {field: wrong for field, wrong in found.items() if wrong is not None}


def host_defaults(
    *, host: Sequence[int], cards: int, micro: int, parts: int
) -> tuple[int, int, int]:
    """CPU (thousandths), RAM and disk (MiB) of all parts where the need names none.

    A whole card brings the node's resources divided by its cards, a share brings as much of that
    as it is of the card, and never less than half a core, 512 MiB and 1 GiB (requirement P13).
    """
    least = (500, 512, 1024)
    each = [amount * micro // (max(1, cards) * 1_000_000) for amount in host]
    cpu, ram, disk = (max(low, one) * parts for low, one in zip(least, each, strict=True))
    return cpu, ram, disk


def _one_of(value: Any, known: tuple[str, ...]) -> Problem | None:
    if isinstance(value, str) and value in known:
        return None
    return Problem(_("Choose from: %(known)s."), {"known": ", ".join(filter(None, known))})


def is_text(value: Any) -> bool:
    """A text that any database and any program can carry."""
    if not isinstance(value, str) or "\x00" in value:
        return False
    return not any("\ud800" <= one <= "\udfff" for one in value) if not value.isascii() else True


def _inside(path: Any) -> bool:
    if not is_text(path) or not 0 < len(path) <= 255 or not path.isprintable():
        return False
    steps = path.split("/")
    return all(step not in ("", ".", "..") and "\\" not in step for step in steps)

"""The permission table as people read it: `docs/security.md` is written from it, and checked."""

from pool.lifecycle.roles import Role
from portal.access.roles import MAY, Verb

BEGIN = "<!-- rights: written by manage.py rights -->"
END = "<!-- /rights -->"


def rights_table() -> str:
    """Verbs down, roles across, as Markdown; the order is the code's."""
    roles = list(Role)
    lines = [
        "| may | " + " | ".join(f"`{role}`" for role in roles) + " |",
        "|---|" + "---|" * len(roles),
    ]
    for verb in Verb:
        marks = " | ".join("yes" if verb in MAY[role] else "" for role in roles)
        lines.append(f"| `{verb}` | {marks} |")
    return "\n".join(lines)


def written(text: str) -> str:
    """A document with the table between its two marks renewed.

    Raises:
        ValueError: a mark is missing.
    """
    before, _mark, rest = text.partition(BEGIN)
    _old, found, after = rest.partition(END)
    if not found:
        raise ValueError(f"{BEGIN} … {END} is missing")
    return f"{before}{BEGIN}\n{rights_table()}\n{END}{after}"

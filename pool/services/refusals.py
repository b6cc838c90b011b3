"""From a pure room's problems to one refusal in the reader's language."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from django.utils.translation import gettext

from pool.errors import Invalid
from pool.rules.problems import Problem, Problems


def said(problem: Problem) -> str:
    """The sentence, translated and filled."""
    text = gettext(problem.text)
    return text % dict(problem.values) if problem.values else text


def refuse(wrong: Mapping[str, Problem | None]) -> None:
    """Raise Invalid with every field that has a problem; pass when none has."""
    found = {field: said(one) for field, one in wrong.items() if one is not None}
    if found:
        raise Invalid(**found)


@contextmanager
def refusing() -> Iterator[None]:
    """Problems raised inside become Invalid."""
    try:
        yield
    except Problems as problems:
        raise Invalid(**{f: said(one) for f, one in problems.fields.items()}) from problems

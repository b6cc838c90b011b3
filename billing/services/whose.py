"""Whose an hour was is written once: a later move or change of hands leaves past rows alone."""

from billing.models.usage import Usage

WHOSE = ("organization_id", "cost_centre", "owner_id", "preemptible")
"""Columns that follow the project and the work of the day on which an hour was first written."""


def stays(found: Usage, wanted: Usage) -> None:
    """Let the new words of a row name whose the row says it was."""
    for name in WHOSE:
        setattr(wanted, name, getattr(found, name))

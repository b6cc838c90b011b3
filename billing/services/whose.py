"""Whose an hour was is written once: a later move or change of hands leaves past rows alone."""

from billing.models.usage import Usage

WHOSE = ("organization_id", "cost_centre", "owner_id")
"""Columns that follow the project of the day on which an hour was first written."""

MONEY = ("currency", "charges", "amount_micro")


def stays(found: Usage, wanted: Usage) -> None:
    """Let the new words of a row name whose the row says it was.

    Its money stays as well where the project has moved to another currency meanwhile and neither
    the time nor what is billable has changed.
    """
    for name in WHOSE:
        setattr(wanted, name, getattr(found, name))
    same = (found.reserved_us, found.billable) == (wanted.reserved_us, wanted.billable)
    if same and found.currency != wanted.currency:
        for name in MONEY:
            setattr(wanted, name, getattr(found, name))

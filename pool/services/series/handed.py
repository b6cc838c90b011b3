"""Schedules and requests that change hands: what of whoever had them the next one may not use."""

from pool.models.requests import Request
from pool.models.schedules import Schedule
from pool.models.users import User
from pool.services.catalogue.judging import given_for, given_from, given_kept


def secrets_forgotten(*, row: Schedule | Request, owner: User) -> int:
    """Drop personal secrets of anybody but the owner; how many were. The row is not saved.

    Secrets are their person's own. A schedule that still named them would be refused at each of
    its times, a request when it is sent again.
    """
    had = given_from(row.given)
    kept = given_for(had, user=owner)
    lost = len(had.secrets) - len(kept.secrets)
    if lost:
        row.given = row.given | {"secrets": given_kept(kept)["secrets"]}
    return lost

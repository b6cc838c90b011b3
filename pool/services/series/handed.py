"""Schedules and requests that change hands: what of whoever had them the next one may not use."""

from pool.models.requests import Request
from pool.models.schedules import Schedule
from pool.models.users import User
from pool.services.catalogue.judging import given_for, given_from, given_kept


def personal_forgotten(*, row: Schedule | Request, owner: User) -> int:
    """Drop secrets and folders that are anybody's but the owner; how many. The row is not saved.

    A schedule that still named them would be refused at each of its times, a request when it is
    sent again.
    """
    had = given_from(row.given)
    kept = given_for(had, user=owner)
    lost = len(had.secrets) - len(kept.secrets) + len(had.mounts) - len(kept.mounts)
    if lost:
        row.given = row.given | given_kept(kept)
    return lost

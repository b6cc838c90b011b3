"""A schedule that changes hands: what of the one who had it the next one may not use."""

from pool.models.catalogue.secrets import Secret
from pool.models.schedules import Schedule
from pool.models.users import User


def secrets_forgotten(*, schedule: Schedule, owner: User) -> int:
    """Drop personal secrets of anybody but the owner; how many were. The row is not saved.

    Secrets are their person's own. A schedule that still named them would be refused at each of
    its times.
    """
    told = schedule.given.get("secrets", [])
    uids = [one["secret"] for one in told]
    others = Secret.objects.filter(uid__in=uids).exclude(user=None).exclude(user=owner)
    foreign = set(others.values_list("uid", flat=True))
    kept = [one for one in told if one["secret"] not in foreign]
    if len(kept) < len(told):
        schedule.given = schedule.given | {"secrets": kept}
    return len(told) - len(kept)

"""Whom a group of a directory concerns here: who holds its role through that directory."""

from django.db.models import QuerySet

from pool.models.people.groups import GroupRole
from pool.models.users import User


def group_role_holders(*, group_role: GroupRole) -> QuerySet[User]:
    """People who hold the role in that place because the directory says so.

    Another group may bring them the same role too: which one did is not kept, only that one did.
    """
    return User.objects.filter(
        memberships__source=group_role.source,
        memberships__role=group_role.role,
        memberships__organization=group_role.organization,
        memberships__project=group_role.project,
    ).order_by("username")


def group_role_has(*, group_role: GroupRole, usernames: list[str]) -> set[str]:
    """Which of these people, by user name in small letters, hold the role there in any way."""
    found = User.objects.filter(
        memberships__role=group_role.role,
        memberships__organization=group_role.organization,
        memberships__project=group_role.project,
    ).values_list("username", flat=True)
    wanted = {one.casefold() for one in usernames}
    return {one.casefold() for one in found} & wanted

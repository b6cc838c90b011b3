"""Who administers whom: a person is in reach when every place they hold a role in is."""

from pool.models import User
from pool.selectors.memberships import Standing
from portal.access.guards import may
from portal.access.roles import Verb


def manages_person(standing: Standing, person: User) -> bool:
    """Whether every role of the person lies in places whose people the caller administers.

    Somebody without any role is the platform's to administer; a service account is its project's.
    """
    if person.service_project_id is not None:
        return may(standing, Verb.ACCOUNT_MANAGE, person.service_project)
    places = [row.project or row.organization for row in person.memberships.all()]
    return all(may(standing, Verb.USER_MANAGE, one) for one in places or [None])

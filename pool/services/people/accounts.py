"""Service accounts: owned by a project, without a login, acting by tokens only."""

from django.db import transaction

from pool.errors import TooMany
from pool.events import Actor
from pool.models.tenants import Project
from pool.models.users import User
from pool.rules.problems import Problem
from pool.rules.problems import marked as _
from pool.rules.tenants import ACCOUNT_ROLES
from pool.services.memberships import membership_add
from pool.services.people.places import project_locked
from pool.services.refusals import refuse
from pool.services.users import user_create

MOST = 50


@transaction.atomic
def account_create(
    *, project: Project, username: str, role: str, actor: Actor, display_name: str = ""
) -> User:
    """A new service account of the project; nobody can ever log in as it.

    Raises:
        Invalid: the name is wrong or taken, a role other than member or viewer, or the project is
            archived.
        TooMany: the project has 50 of them.
    """
    row = project_locked(project)
    known = Problem(_("Choose from: %(known)s."), {"known": ", ".join(ACCOUNT_ROLES)})
    away = Problem(_("It is archived."))
    refuse(
        {
            "role": None if role in ACCOUNT_ROLES else known,
            "project": None if row.archived_at is None else away,
        }
    )
    if User.objects.filter(service_project=row).count() >= MOST:
        raise TooMany(what="service accounts", limit=MOST)
    user = user_create(
        username=username,
        display_name=display_name,
        service_account=True,
        actor=actor,
    )
    user.service_project = row
    user.save(update_fields=["service_project"])
    membership_add(user=user, role=role, project=row, actor=actor)
    return user

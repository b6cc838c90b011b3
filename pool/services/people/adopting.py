"""An account that is the directory's from now on: its person logs in with the word it has there."""

from django.db import transaction
from django.utils.translation import gettext

from pool.errors import Invalid
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models.users import User

DIRECTORY = "ldap"


@transaction.atomic
def directory_adopt(*, username: str, actor: Actor) -> User:
    """Let the directory speak of the account of that name from now on; twice changes nothing.

    Raises:
        Invalid: nobody has the name, it is a service account, or it has a password here: the
            directory speaks of none of these.
    """
    rows = User.objects.select_for_update(no_key=True)
    row = rows.filter(username=username, service_account=False).first()
    if row is None:
        raise Invalid(username=gettext("No such person."))
    if row.has_usable_password():
        raise Invalid(username=gettext("It has a password of its own here: take that away first."))
    if row.source != DIRECTORY:
        before, row.source = row.source, DIRECTORY
        row.save(update_fields=["source"])
        record(EventKind.USER_CHANGED, row, actor=actor, source=[before, DIRECTORY])
    return row

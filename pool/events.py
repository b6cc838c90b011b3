"""The one way to write the log, and who can act."""

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from django.db import connection, models

from pool.announce import announce
from pool.lifecycle.events import EventKind
from pool.models.events import Event
from pool.models.users import User

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the page, call, task or report that is being served (requirement M7)."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who did it: kind is user, token, node or system; the label is for people."""

    kind: str
    id: str
    label: str

    @classmethod
    def of(cls, user: User) -> "Actor":
        """A person at a page."""
        return cls("user", user.uid, user.username)

    @property
    def user_uid(self) -> str:
        """The uid of the person behind it; empty for nodes and the system."""
        return self.id if self.kind in {"user", "token"} else ""


SYSTEM = Actor("system", "system", "system")


_INSERT = """
INSERT INTO pool_event
    (epoch, kind, subject, organization_id, project_id,
     actor_kind, actor_id, actor_label, request_id, data)
SELECT epoch, %s, %s, %s, %s, %s, %s, %s, %s, %s::jsonb FROM pool_installation
RETURNING id
"""


def record(
    kind: EventKind,
    subject: models.Model,
    *,
    actor: Actor,
    project: models.Model | None = None,
    **data: Any,
) -> int:
    """Write one event, and tell the browsers once the transaction commits; returns its number.

    Call it inside the transaction that makes it true. `project` (or the subject's own) places the
    event in its tenant, so that readers of one tenant never see another's.
    """
    name = f"{subject._meta.model_name}:{getattr(subject, 'uid', subject.pk)}"
    home = project if project is not None else getattr(subject, "project", None)
    body = Event._meta.get_field("data").get_db_prep_save(data, connection)
    with connection.cursor() as cursor:
        cursor.execute(
            _INSERT,
            [
                kind,
                name,
                getattr(home, "organization_id", None),
                getattr(home, "pk", None),
                actor.kind,
                actor.id[:64],
                actor.label[:160],
                request_id.get()[:64],
                body,
            ],
        )
        number = int(cursor.fetchone()[0])
    announce(number, kind=kind, subject=name, project_id=getattr(home, "pk", None), data=data)
    return number

"""Ways into notebooks on the gateway: a ticket for one minute, then a cookie for one workload."""

import secrets
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Q

from nodeagent.protocol.vocabulary import WorkloadKind
from pool import clock
from pool.errors import Forbidden
from pool.events import Actor
from pool.lifecycle.workloads import AttemptState
from pool.models import Attempt, User, Workload
from pool.selectors.memberships import standing
from pool.selectors.notebooks.shares import share_open
from portal.access.guards import may
from portal.access.roles import Verb
from portal.access.second_factor import lacking
from portal.access.sessions import session_lives
from portal.access.tokens import token_hash
from portal.models import ApiToken, GatewayPass

TICKET_S = 60
PASS_S = 12 * 3600


@dataclass(frozen=True, slots=True)
class Guest:
    """Who was let in, where to. `attempt` and `node` are empty while it does not run.

    One who `reads` sees its files alone; `language` is what they chose, or empty.
    """

    user: int
    actor: Actor
    workload: str
    attempt: str
    node: str
    reads: bool = False
    language: str = ""


def ticket_issue(
    *,
    workload: Workload,
    user: User,
    session_key: str = "",
    token: ApiToken | None = None,
    reads: bool = False,
) -> str:
    """A new ticket, told once; it is worth nothing after a minute, or once it was used.

    One that `reads` opens only the pages about the files of a notebook that was shared.

    Raises:
        Forbidden: it is no notebook of this person's own, or none that they may look at.
    """
    if not (lets_look if reads else lets_in)(user, workload):
        raise Forbidden
    passes_forget()
    plain = secrets.token_urlsafe(32)
    at = clock.now()
    GatewayPass.objects.create(
        user=user,
        workload=workload,
        session_key=session_key,
        token=token,
        reads=reads,
        ticket_hash=token_hash(plain),
        ticket_until=at + timedelta(seconds=TICKET_S),
        until=at + timedelta(seconds=PASS_S),
    )
    return plain


def ticket_spend(*, plain: str, uid: str, reads: bool = False) -> str | None:
    """The cookie for a ticket to this workload; None when it is wrong, old, or was used before.

    A ticket that only reads is worth nothing where one that lets in is wanted, and the other way.
    """
    cookie = secrets.token_urlsafe(32)
    spent = GatewayPass.objects.filter(
        ticket_hash=token_hash(plain),
        ticket_until__gt=clock.now(),
        cookie_hash=None,
        workload__uid=uid,
        reads=reads,
    ).update(cookie_hash=token_hash(cookie))
    return cookie if spent else None


def guest_of(*, cookie: str, uid: str, reads: bool = False) -> Guest | None:
    """Who holds this cookie for this workload; None as soon as login, right or share is over."""
    found = (
        GatewayPass.objects.filter(
            Q(token=None) | Q(token__revoked_at=None),
            cookie_hash=token_hash(cookie),
            until__gt=clock.now(),
            workload__uid=uid,
            user__is_active=True,
            reads=reads,
        )
        .select_related("user", "workload__project", "workload__owner", "token")
        .first()
    )
    lets = lets_look if reads else lets_in
    if found is None or not _login_lives(found) or not lets(found.user, found.workload):
        return None
    run = Attempt.objects.filter(workload=found.workload, state=AttemptState.OPEN)
    now = run.values_list("uid", "node__uid").first() or ("", "")
    return Guest(
        user=found.user.pk,
        actor=Actor.of(found.user),
        workload=uid,
        attempt=str(now[0]),
        node=str(now[1]),
        reads=reads,
        language=found.user.language,
    )


def lets_in(user: User, workload: Workload) -> bool:
    """A notebook acts as its owner: nobody else is ever let in, whatever their role."""
    own = workload.owner_id == user.pk and workload.kind == WorkloadKind.NOTEBOOK
    return own and may(standing(user=user), Verb.NOTEBOOK_OPEN, workload)


def lets_look(user: User, workload: Workload) -> bool:
    """Whether they may read its files: its owner, who may still go in, lets their project.

    The word of whoever owned it before is worth nothing.
    """
    share = share_open(workload=workload)
    if share is None or share.by_id != workload.owner_id:
        return False
    if not lets_in(workload.owner, workload):
        return False
    return workload.owner.is_active and may(standing(user=user), Verb.WORK_SEE, workload)


def passes_forget() -> int:
    """Remove passes that are over; how many there were."""
    return GatewayPass.objects.filter(until__lt=clock.now()).delete()[0]


def _login_lives(found: GatewayPass) -> bool:
    if found.token is not None:
        return found.token.expires_at is None or found.token.expires_at > clock.now()
    return session_lives(found.session_key) and not lacking(found.user)

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
    """Who was let in, where to. `attempt` and `node` are empty while it does not run."""

    user: int
    actor: Actor
    workload: str
    attempt: str
    node: str


def ticket_issue(
    *, workload: Workload, user: User, session_key: str = "", token: ApiToken | None = None
) -> str:
    """A new ticket, told once; it is worth nothing after a minute, or once it was used.

    Raises:
        Forbidden: it is no notebook of this person's own.
    """
    if not lets_in(user, workload):
        raise Forbidden
    passes_forget()
    plain = secrets.token_urlsafe(32)
    at = clock.now()
    GatewayPass.objects.create(
        user=user,
        workload=workload,
        session_key=session_key,
        token=token,
        ticket_hash=token_hash(plain),
        ticket_until=at + timedelta(seconds=TICKET_S),
        until=at + timedelta(seconds=PASS_S),
    )
    return plain


def ticket_spend(*, plain: str, uid: str) -> str | None:
    """The cookie for a ticket to this workload; None when it is wrong, old, or was used before."""
    cookie = secrets.token_urlsafe(32)
    spent = GatewayPass.objects.filter(
        ticket_hash=token_hash(plain),
        ticket_until__gt=clock.now(),
        cookie_hash=None,
        workload__uid=uid,
    ).update(cookie_hash=token_hash(cookie))
    return cookie if spent else None


def guest_of(*, cookie: str, uid: str) -> Guest | None:
    """Who holds this cookie for this workload; None as soon as login or right is over."""
    found = (
        GatewayPass.objects.filter(
            Q(token=None) | Q(token__revoked_at=None),
            cookie_hash=token_hash(cookie),
            until__gt=clock.now(),
            workload__uid=uid,
            user__is_active=True,
        )
        .select_related("user", "workload__project", "token")
        .first()
    )
    if found is None or not _login_lives(found) or not lets_in(found.user, found.workload):
        return None
    run = Attempt.objects.filter(workload=found.workload, state=AttemptState.OPEN)
    now = run.values_list("uid", "node__uid").first() or ("", "")
    return Guest(found.user.pk, Actor.of(found.user), uid, str(now[0]), str(now[1]))


def lets_in(user: User, workload: Workload) -> bool:
    """A notebook acts as its owner: nobody else is ever let in, whatever their role."""
    own = workload.owner_id == user.pk and workload.kind == WorkloadKind.NOTEBOOK
    return own and may(standing(user=user), Verb.NOTEBOOK_OPEN, workload)


def passes_forget() -> int:
    """Remove passes that are over; how many there were."""
    return GatewayPass.objects.filter(until__lt=clock.now()).delete()[0]


def _login_lives(found: GatewayPass) -> bool:
    if found.token is not None:
        return found.token.expires_at is None or found.token.expires_at > clock.now()
    return session_lives(found.session_key) and not lacking(found.user)

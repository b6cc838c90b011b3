"""What the hub reads, in the one thread that has the database: rights, fragments, log text."""

from dataclasses import dataclass

from django.db.models import Q
from django.utils import translation

from pool import clock
from pool.lifecycle.workloads import ENDED
from pool.models import Attempt, Event, User, Workload
from pool.selectors.logs import LogPart, log_after, log_size, log_tail
from pool.selectors.memberships import standing
from pool.selectors.tenants import project_list
from pool.selectors.workloads import workload_list
from portal.access.second_factor import lacking
from portal.access.sessions import session_lives
from portal.live.relevance import LOG, log_of
from portal.models import ApiToken
from portal.pages.panels import panel_key, panel_render

CHUNKS = 64


@dataclass(frozen=True, slots=True)
class Sight:
    """Who somebody still is: None for `projects` sees all."""

    user: User
    projects: frozenset[int] | None


@dataclass(frozen=True, slots=True)
class LogNews:
    """The next piece of a log. `more` when another piece can be read at once."""

    attempt: int
    part: LogPart
    end: bool
    more: bool


def sight(user_id: int, session: str) -> Sight | None:
    """The person with the projects that live pages may show; None when the login is over."""
    user = User.objects.filter(pk=user_id, is_active=True).first()
    if user is None or not session_lives(session) or lacking(user):
        return None
    seen = standing(user=user)
    if seen.platform:
        return Sight(user, None)
    return Sight(user, frozenset(project_list(standing=seen).values_list("pk", flat=True)))


def still_reads(user_id: int, token_id: int | None, session: str, uid: str) -> bool:
    """Whether who began to read a log may go on: login, token and rights are as they were."""
    user = User.objects.filter(pk=user_id, is_active=True).first()
    living = Q(expires_at=None) | Q(expires_at__gt=clock.now())
    token = ApiToken.objects.filter(living, pk=token_id or 0, revoked_at=None)
    let_in = token.exists() if token_id is not None else session_lives(session)
    return user is not None and let_in and key_of(user, LOG + uid) is not None


def newest_event() -> int:
    """The number of the newest event that can be read."""
    return Event.objects.order_by("-id").values_list("id", flat=True).first() or 0


def key_of(user: User, topic: str) -> str | None:
    """The permission class of a topic for this person; None: not theirs to know."""
    if topic.startswith(LOG):
        uid, _ = log_of(topic)
        rows = workload_list(standing=standing(user=user)).filter(uid=uid)
        return topic if "\x00" not in uid and rows.exists() else None
    return panel_key(user, topic)


def draw(user: User, topic: str, language: str) -> str:
    """The fragment of a topic, in one language; the same for everybody of that key."""
    with translation.override(language):
        return panel_render(user, topic)


def log_news(uid: str, attempt: int, offset: int | None, rank: int = 0) -> LogNews | None:
    """What a rank wrote after a place; None before there is a run.

    `attempt` 0 means the newest run, `offset` None its tail. When all of a run was read, its
    successor begins at 0.
    """
    runs = list(Attempt.objects.filter(workload__uid=uid).order_by("number"))
    if not runs:
        return None
    current = next((run for run in runs if run.number == attempt), runs[-1])
    start = offset if attempt in (0, current.number) else 0
    if start is None:
        part = log_tail(attempt=current, chunks=CHUNKS, rank=rank)
    else:
        part = log_after(attempt=current, offset=start, chunks=CHUNKS, rank=rank)
    later = [run.number for run in runs if run.number > current.number]
    if later and not part.text:
        return log_news(uid, later[0], 0, rank)
    whole = part.end >= log_size(attempt=current, rank=rank)
    end = whole and not later and ended(uid)
    return LogNews(current.number, part, end, more=bool(part.text) and (bool(later) or not whole))


def ended(uid: str) -> bool:
    """Whether the workload holds nothing any more."""
    return Workload.objects.filter(uid=uid, state__in=sorted(ENDED)).exists()

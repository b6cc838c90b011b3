"""What time does to requests and leases before anybody decides: reminders, escalation, notices."""

from datetime import datetime, timedelta

from django.db import transaction

from pool.clock import now
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.leases import LeaseState
from pool.lifecycle.requests import RequestState
from pool.lifecycle.roles import Role
from pool.models.leases import Lease
from pool.models.requests import Request
from pool.models.users import User
from pool.rules.approval import DECIDERS
from pool.rules.notices import NoticeKind
from pool.rules.problems import marked as _
from pool.rules.working import working_hours
from pool.selectors.approvals.policies import Terms, terms_of
from pool.selectors.approvals.powers import deciders_of
from pool.services.approvals.told import name_of, tell_of_lease
from pool.services.moves import locked
from pool.services.notices.send import notice_send
from pool.sweeps import each

MOST_REMINDERS = 3
"""So often those whose word is due are reminded of one step."""

NOTICE_DAYS = (7, 3, 1)
"""So many days before its end a lease is spoken of, where that lies after its start."""


def requests_reminded(*, actor: Actor) -> int:
    """Remind those whose word is due, and call the next stronger ones; how many requests it was.

    Hours are working hours of the organization's calendar, counted since the step became due.
    """
    at = now()
    rows = Request.objects.filter(
        state=RequestState.SUBMITTED,
        pending_until=None,
        step_since__lt=at - timedelta(hours=1),
        reminded__lte=MOST_REMINDERS,
    ).select_related("project__organization")
    terms: dict[int, Terms] = {}

    def act(one: Request) -> bool:
        home = one.project.organization
        if home.pk not in terms:
            terms[home.pk] = terms_of(organization=home)
        return _if_late(one.pk, terms[home.pk], at, actor)

    return each(rows.order_by("pk").iterator(), act, of="request.reminder")


def leases_spoken_of(*, actor: Actor) -> int:
    """Tell of leases that end within 7, 3 and 1 days, each once for each end; how many it was."""
    at = now()
    rows = Lease.objects.filter(
        state=LeaseState.ACTIVE, valid__endswith__lte=at + timedelta(days=NOTICE_DAYS[0])
    )
    due = [
        pk
        for pk, valid, sent in rows.order_by("pk").values_list("pk", "valid", "notices_sent")
        if set(_days(valid.lower, valid.upper, at)) - set(sent)
    ]
    return each(due, lambda pk: _spoken_of(pk, at), of="lease.notice")


@transaction.atomic
def _if_late(key: int, terms: Terms, at: datetime, actor: Actor) -> bool:
    rows = Request.objects.filter(pk=key, state=RequestState.SUBMITTED).select_related(
        "project__organization", "requester", "template_version__template"
    )
    for request in locked(rows):
        if request.step_since is None:
            return False
        waited = working_hours(terms.calendar, request.step_since, at)
        reminded = waited >= terms.remind_hours * (request.reminded + 1)
        escalated = waited >= terms.escalate_hours and request.escalated_at is None
        if reminded and request.reminded < MOST_REMINDERS:
            request.reminded += 1
            _tell(request, _due(request), f"remind:{request.reminded}", waited)
        if escalated:
            request.escalated_at = at
            record(EventKind.REQUEST_ESCALATED, request, actor=actor, hours=round(waited, 1))
            _tell(request, _stronger(request), "escalate", waited)
        if reminded or escalated:
            request.save(update_fields=["reminded", "escalated_at"])
        return reminded or escalated
    return False


def _tell(request: Request, to: list[User], cause: str, waited: float) -> None:
    notice_send(
        kind=NoticeKind.REMINDER,
        to=to,
        about=request,
        text=_("The request of %(who)s for %(title)s has waited %(hours)s working hours."),
        key=f"{cause}:{request.uid}:{request.step_since:%Y%m%dT%H%M%S.%f}",
        who=str(request.requester),
        title=name_of(request),
        hours=round(waited),
    )


def _due(request: Request) -> list[User]:
    """Those whose word is due."""
    return deciders_of(project=request.project, step=_step(request), but=request.requester_id)


def _step(request: Request) -> str:
    return request.steps[request.step] if request.step < len(request.steps) else str(DECIDERS[0])


def _stronger(request: Request) -> list[User]:
    """Those of the next stronger role, which may always act for a weaker one."""
    at = min(DECIDERS.index(Role(_step(request))) + 1, len(DECIDERS) - 1)
    return deciders_of(project=request.project, step=DECIDERS[at], but=request.requester_id)


@transaction.atomic
def _spoken_of(key: int, at: datetime) -> bool:
    rows = Lease.objects.filter(pk=key, state=LeaseState.ACTIVE)
    for lease in locked(
        rows.select_related("project", "request__requester", "request__template_version__template")
    ):
        due = _days(lease.valid.lower, lease.valid.upper, at)
        fresh = set(due) - set(lease.notices_sent)
        if not fresh:
            return False
        tell_of_lease(
            lease=lease,
            kind=NoticeKind.EXPIRY,
            text=_(
                "Your lease %(title)s ends at %(until_at)s. Ask for more time before that; what"
                " still runs then goes on for at most 24 h, as low priority."
            ),
            key=f"expiry:{min(due)}:{lease.valid.upper.isoformat()}",
            until_at=lease.valid.upper.isoformat(),
        )
        lease.notices_sent = sorted(set(lease.notices_sent) | set(due))
        lease.save(update_fields=["notices_sent"])
        return True
    return False


def _days(start: datetime, end: datetime, at: datetime) -> list[int]:
    """The notices that are due by now, in days before the end."""
    return [
        days
        for days in NOTICE_DAYS
        if end - start > timedelta(days=days) and at >= end - timedelta(days=days) and at < end
    ]

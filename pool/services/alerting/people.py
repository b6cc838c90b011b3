"""The people of an alert: who takes care of the pool, of the team, of the work itself."""

from django.db import transaction
from django.db.models import Q

from pool.lifecycle.roles import Role
from pool.models.alerts import Alert
from pool.models.placements import Hold
from pool.models.users import User
from pool.models.workloads import Workload
from pool.rules.alerting.terms import Word
from pool.rules.notices import NoticeKind
from pool.rules.problems import marked as _
from pool.services.notices.send import notice_send

FIRED = _("Alert: %(title)s")
ENDED = _("Over: %(title)s")


def people_of(alert: Alert) -> list[User]:
    """Platform admins for what is the pool's; owner and leads for what is a team's."""
    work = _work(alert)
    project = work.project_id if work is not None else alert.project_id
    if project is None:
        at = Q(memberships__role=Role.PLATFORM_ADMIN)
    else:
        at = Q(memberships__role=Role.LEAD, memberships__project=project)
    if work is not None:
        at |= Q(pk=work.owner_id)
    return list(User.objects.filter(at, is_active=True).distinct())


@transaction.atomic
def people_tell(*, alert: Alert, word: str) -> int:
    """A line in their inbox, and the letters they chose; once a word. How many were told."""
    text = FIRED if word == Word.FIRED else ENDED
    key = f"alert:{alert.uid}:{word}"
    return notice_send(
        kind=NoticeKind.ALERT,
        to=people_of(alert),
        about=alert,
        text=text,
        key=key,
        title=alert.title,
    )


@transaction.atomic
def owners_tell(*, alert: Alert) -> int:
    """Tell the owners of all work on the card or node of an alert; how many were told."""
    noun, _colon, uid = alert.subject.partition(":")
    paths = {"card": "card__uid", "node": "node__uid", "partition": "card__partition__uid"}
    if noun not in paths:
        to = people_of(alert)
    else:
        holds = Hold.objects.filter(**{paths[noun]: uid}, held__upper_inf=True)
        owners = holds.values("placement__attempt__workload__owner")
        to = list(User.objects.filter(pk__in=owners, is_active=True))
    text = _("Your work may be hit: %(title)s")
    key = f"alert:{alert.uid}:owners"
    return notice_send(
        kind=NoticeKind.ALERT, to=to, about=alert, text=text, key=key, title=alert.title
    )


def _work(alert: Alert) -> Workload | None:
    noun, _colon, uid = alert.subject.partition(":")
    if noun != "workload":
        return None
    return Workload.objects.filter(uid=uid).first()

"""What people are told of a request: those who decide, and whoever asked."""

from collections.abc import Iterable
from typing import Any

from pool.models.leases import Lease
from pool.models.requests import Request
from pool.models.users import User
from pool.rules.notices import NoticeKind
from pool.rules.problems import marked as _
from pool.selectors.approvals.powers import deciders_of
from pool.services.notices.send import notice_send

DECIDED = {
    "approved": _("%(who)s approved your request %(title)s. You may use it now."),
    "rejected": _("%(who)s rejected your request %(title)s: %(reason)s"),
    "returned": _("%(who)s asks about your request %(title)s: %(reason)s"),
}


def name_of(request: Request) -> str:
    """What the request is called in a sentence: its title, else its template's name."""
    return request.title or request.template_version.template.name


def tell_deciders(*, request: Request) -> int:
    """The step that is due waits for somebody: tell those who can say yes to it."""
    step = request.steps[request.step] if request.step < len(request.steps) else "lead"
    return notice_send(
        kind=NoticeKind.TO_DECIDE,
        to=deciders_of(project=request.project, step=step, but=request.requester_id),
        about=request,
        text=_("%(who)s asks for %(title)s in %(project)s. Your word is needed."),
        key=f"to_decide:{request.uid}:{request.step_since:%Y%m%dT%H%M%S.%f}",
        who=str(request.requester),
        title=name_of(request),
        project=request.project.name,
    )


def tell_requester(*, request: Request, by: User, reason: str) -> int:
    """It is decided, or there is a question: tell whoever asked."""
    back = request.state == "returned"
    return notice_send(
        kind=NoticeKind.ASKED_BACK if back else NoticeKind.DECIDED,
        to=[request.requester],
        about=request,
        text=DECIDED[request.state],
        key=f"{request.state}:{request.uid}:{request.revision}",
        who=str(by),
        title=name_of(request),
        reason=reason[:1000],
    )


def tell_of_comment(*, request: Request, author: User, text: str, comment: str) -> int:
    """The other side of a word: whoever asked, and those who spoke before."""
    others = set(User.objects.filter(pk__in=request.comments.values("author")))
    return notice_send(
        kind=NoticeKind.COMMENTED,
        to=(others | {request.requester}) - {author},
        about=request,
        text=_("%(who)s wrote about %(title)s: %(words)s"),
        key=f"comment:{comment}",
        who=str(author),
        title=name_of(request),
        words=text[:300],
    )


def tell_of_lease(
    *, lease: Lease, kind: NoticeKind, text: str, key: str, to: Iterable[User] = (), **values: Any
) -> int:
    """Something of a lease: tell whoever asked for it, and `to`."""
    return notice_send(
        kind=kind,
        to={lease.request.requester, *to},
        about=lease,
        text=text,
        key=f"{key}:{lease.uid}",
        title=name_of(lease.request),
        **values,
    )

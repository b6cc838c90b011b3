"""One's notices: the list, the bell, marking as read, and the way to what one is about."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from pool.models.approvals.notices import Notice
from pool.models.users import User
from pool.rules.notices import NoticeKind
from pool.selectors.approvals.notices import notice_list, notices_unread
from pool.services.notices.choices import notice_read
from portal.access.guards import found
from portal.notices.words import KINDS, path_of, words_of
from portal.pages.htmx import HtmxRequest, fragment, go, page, toast
from portal.pages.lists import newest_first

IN_BELL = 6


@dataclass(frozen=True, slots=True)
class Line:
    """One notice as the list shows it."""

    notice: Notice
    text: str
    kind: str


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """The person's notices, newest first; filtered by kind, or to what is not read."""
    rows = notice_list(user=request.user)
    unread = request.GET.get("which") == "unread"
    kind = request.GET.get("kind", "")
    rows = rows.filter(read_at=None) if unread else rows
    rows = rows.filter(kind=kind) if kind in set(NoticeKind) else rows
    shown = newest_first(request, rows)
    context = {
        "page": shown,
        "lines": [line_of(one, request.user.zone) for one in shown.rows],
        "unread": unread,
        "kind": kind,
        "kinds": KINDS,
        "waiting": notices_unread(user=request.user),
    }
    return fragment(request, "pages/notices/index.html", "pages/notices/_rows.html", context)


@page("GET")
def bell(request: HtmxRequest) -> HttpResponse:
    """Only the bell with its number."""
    return render(request, "pages/notices/_bell.html", bell_context(request.user))


def bell_context(user: User) -> dict[str, Any]:
    """How many are unread, and the newest of them."""
    newest = notice_list(user=user).filter(read_at=None)[:IN_BELL]
    return {
        "unread": notices_unread(user=user),
        "lines": [line_of(one, user.zone) for one in newest],
    }


@page("POST")
def read(request: HtmxRequest) -> HttpResponse:
    """Mark one, or all, as read."""
    uid = request.POST.get("uid", "")
    notice_read(user=request.user, uids=[uid] if uid else None)
    response = go(request, reverse("notices"))
    return response if uid else toast(response, "success", _("All are read."))


@page("POST")
def follow(request: HtmxRequest, uid: str) -> HttpResponse:
    """Mark it as read and go where it leads."""
    notice = found(notice_list(user=request.user), uid)
    notice_read(user=request.user, uids=[uid])
    return go(request, path_of(notice))


def line_of(notice: Notice, zone: str) -> Line:
    """The notice in the reader's words."""
    return Line(notice, words_of(notice, zone), str(KINDS[NoticeKind(notice.kind)]))

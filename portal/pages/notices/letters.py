"""What left the house: deliveries with their fate, and the letters that lie in the mail folder."""

import email
import email.policy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import render

from pool.models.approvals.notices import NoticeDelivery
from portal.access.guards import may
from portal.access.roles import Verb
from portal.notices.words import words_of
from portal.pages.htmx import HtmxRequest, page, refuse_unless
from portal.pages.lists import newest_first

SHOWN = 100


@dataclass(frozen=True, slots=True)
class Letter:
    """One letter of the mail folder."""

    name: str
    to: str
    subject: str
    date: str
    body: str


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """Deliveries, newest first, and the letters of the folder where mail goes to files."""
    refuse_unless(may(request.standing, Verb.USER_MANAGE))
    rows = NoticeDelivery.objects.select_related("notice__user")
    which = request.GET.get("which", "")
    if which == "failed":
        rows = rows.exclude(error="").filter(sent_at=None)
    shown = newest_first(request, rows)
    context: dict[str, Any] = {
        "page": shown,
        "lines": [(one, words_of(one.notice, request.user.zone)) for one in shown.rows],
        "which": which,
        "letters": _letters(),
        "folder": _folder() is not None,
    }
    return render(request, "pages/notices/letters.html", context)


@page("GET")
def letter(request: HtmxRequest, name: str) -> HttpResponse:
    """One letter, as its reader sees it."""
    refuse_unless(may(request.standing, Verb.USER_MANAGE))
    found = next((one for one in _letters() if one.name == name), None)
    if found is None:
        raise Http404
    return render(request, "pages/notices/letter.html", {"letter": found})


def _folder() -> Path | None:
    """The folder of letters, where this installation writes mail to files."""
    path = getattr(settings, "EMAIL_FILE_PATH", None)
    return Path(path) if path else None


def _letters() -> list[Letter]:
    folder = _folder()
    if folder is None or not folder.is_dir():
        return []
    files = sorted(folder.glob("*.log"), key=lambda one: one.stat().st_mtime, reverse=True)
    return [letter for file in files[:SHOWN] for letter in _parts(file)][:SHOWN]


def _parts(file: Path) -> list[Letter]:
    """The letters of one file; Django parts them by a line of dashes."""
    texts = file.read_bytes().split(b"\n" + b"-" * 79 + b"\n")
    found = []
    for number, text in enumerate(part for part in texts if part.strip()):
        said = email.message_from_bytes(text, policy=email.policy.default)
        body = said.get_body(("plain",))
        found.append(
            Letter(
                name=f"{file.stem}.{number}",
                to=str(said["To"] or ""),
                subject=str(said["Subject"] or ""),
                date=str(said["Date"] or ""),
                body=str(body.get_content()) if body is not None else "",
            )
        )
    return found

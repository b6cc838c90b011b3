"""A notice in its reader's language, and the page it leads to."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import gettext, gettext_lazy

from pool.models.approvals.notices import Notice
from pool.rules.notices import NoticeKind

KINDS = {
    NoticeKind.TO_DECIDE: gettext_lazy("Requests that wait for you"),
    NoticeKind.DECIDED: gettext_lazy("Decisions on your requests"),
    NoticeKind.ASKED_BACK: gettext_lazy("Questions about your requests"),
    NoticeKind.COMMENTED: gettext_lazy("Words about requests"),
    NoticeKind.REMINDER: gettext_lazy("Reminders of what waits"),
    NoticeKind.EXPIRY: gettext_lazy("Leases that end"),
    NoticeKind.RECALL: gettext_lazy("Leases that are recalled"),
    NoticeKind.DEPUTY: gettext_lazy("Deputies"),
    NoticeKind.WORK: gettext_lazy("Your work ended"),
    NoticeKind.IDLE: gettext_lazy("Idle cards"),
    NoticeKind.ALERT: gettext_lazy("Alerts"),
    NoticeKind.MONEY: gettext_lazy("Budgets and bills"),
    NoticeKind.PEOPLE: gettext_lazy("Your roles, and people who come and go"),
}
"""What people call the kinds, in the order of their page."""

PAGES = {
    "request": "request",
    "workload": "workload",
    "node": "node",
    "lease": "lease",
    "reservation": "reservation",
    "window": "window",
    "schedule": "schedule",
    "alert": "alert",
    "month": "statement",
    "project": "project",
    "organization": "organization",
}
"""Nouns with a page of their own; others lead to the inbox."""


def words_of(notice: Notice, zone: str = "") -> str:
    """The sentence, translated, its times in the reader's zone; a broken one is shown as it is."""
    said = gettext(notice.text)
    try:
        values = {name: _shown(name, value, zone) for name, value in notice.values.items()}
        return said % values if values else said
    except (KeyError, ValueError, TypeError):
        return notice.text


def path_of(notice: Notice) -> str:
    """The page to open: for what waits for a decision the inbox, else that of what it is about."""
    noun, _, uid = notice.about.partition(":")
    if notice.kind in {NoticeKind.TO_DECIDE, NoticeKind.REMINDER} and noun == "request":
        return f"{reverse('approvals')}?open={uid}"
    if noun == "budget":
        return reverse("budgets")
    return reverse(PAGES[noun], args=[uid]) if noun in PAGES else reverse("notices")


def address_of(notice: Notice) -> str:
    """The same with the portal's own address before it, as letters need it."""
    return settings.PUBLIC_URL.rstrip("/") + path_of(notice)


def _shown(name: str, value: Any, zone: str) -> Any:
    if not name.endswith("_at") or not isinstance(value, str):
        return value
    at = datetime.fromisoformat(value).astimezone(ZoneInfo(zone or "UTC"))
    return f"{date_format(at, 'DATETIME_FORMAT')} ({at.tzname()})"

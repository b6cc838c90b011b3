"""Alerts that the pool raised at once and whose cause has quietly gone: nobody else ends them."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from pool.clock import now
from pool.lifecycle.alerts import AlertState
from pool.lifecycle.events import EventKind
from pool.models.alerts import Alert
from pool.models.events import Event
from pool.models.placements import Hold
from pool.models.workloads import Workload
from pool.services.alerting.conditions import condition_end
from pool.services.hardware.errors import CLEAN_S
from pool.sweeps import each

ERRORS, STRUCK, OVERDUE, UNCLEAN = "card-errors:", "neighbour:", "overdue:", "unclean:"


def stale_ended() -> int:
    """End those whose cause is gone; how many were. Safe to repeat."""
    at, ended = now(), 0
    for prefix, over, reason in (
        (ERRORS, _cards_without_errors, _("no error for half an hour")),
        (STRUCK, _cards_in_peace, _("nothing ended together for half an hour")),
        (OVERDUE, _moved_work, _("it went on")),
        (UNCLEAN, _clean_slices, _("it went on")),
    ):
        rows = Alert.objects.filter(key__startswith=prefix).exclude(state=AlertState.RESOLVED)
        open_rows = {row.key.removeprefix(prefix): row for row in rows}
        gone = over(open_rows, at) if open_rows else set()
        rest = [(open_rows[uid], reason) for uid in sorted(gone)]
        ended += each(rest, _end, of="alerting.stale")
    return ended


def _end(one: tuple[Alert, str]) -> bool:
    row, reason = one
    condition_end(row=row, reason=reason)
    return True


Over = Callable[[dict[str, Alert], datetime], set[str]]


def _cards_without_errors(rows: dict[str, Alert], at: datetime) -> set[str]:
    return _quiet_cards(rows, at, EventKind.CARD_ERRED)


def _cards_in_peace(rows: dict[str, Alert], at: datetime) -> set[str]:
    return _quiet_cards(rows, at, EventKind.CARD_STRUCK)


def _quiet_cards(rows: dict[str, Alert], at: datetime, kind: EventKind) -> set[str]:
    """Cards of which no such event tells for a clean period."""
    since = at - timedelta(seconds=CLEAN_S)
    subjects = [f"card:{uid}" for uid in rows]
    told = Event.objects.filter(kind=kind, subject__in=subjects, at__gt=since)
    loud = {subject.removeprefix("card:") for subject in told.values_list("subject", flat=True)}
    return {uid for uid, row in rows.items() if uid not in loud and row.first_seen_at <= since}


def _moved_work(rows: dict[str, Alert], at: datetime) -> set[str]:
    return _moved(rows, Workload.objects.all())


def _clean_slices(rows: dict[str, Alert], at: datetime) -> set[str]:
    """Slices that nobody holds any more: their node said that they are clean, or is given up."""
    held = Hold.objects.filter(slice__uid__in=rows, held__upper_inf=True)
    return rows.keys() - set(held.values_list("slice__uid", flat=True))


def _moved(rows: dict[str, Alert], things: QuerySet[Workload]) -> set[str]:
    """Things whose state has changed since the alert, or that are not there."""
    since = dict(things.filter(uid__in=rows).values_list("uid", "state_since"))
    return {uid for uid, row in rows.items() if uid not in since or since[uid] > row.first_seen_at}

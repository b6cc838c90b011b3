"""Errors of a card: each is taken once; it keeps the card out for a clean period or until a reset.

A node tells its newest errors in every report. Their numbers grow, and the card remembers the
newest that was taken: a repeat, a restart of the agent or a person's clearing changes nothing.
"""

from datetime import timedelta
from typing import Any

import msgspec
from django.utils.translation import gettext as _

from nodeagent.protocol.report import CardError, CardHealth
from pool.clock import now
from pool.events import Actor, record
from pool.lifecycle.cards import CARD, CardState
from pool.lifecycle.events import EventKind
from pool.models.cards import Card
from pool.models.placements import Hold
from pool.models.workloads import Workload
from pool.rules.notices import NoticeKind
from pool.rules.problems import marked
from pool.services.alerts import alert_raise
from pool.services.moves import move
from pool.services.notices.send import notice_send

CLEAN_S = 1800
"""A card that told of such an error is offered again after so long without another one."""

MOST_WORDS = 200
"""Letters of a node's words for one error that are kept, told to owners and put into titles."""

CLEAN_PERIOD, RESET_NEEDED = "clean_period", "reset_needed"
"""Reasons of a cordon; under the second the card costs nobody anything until it is reset."""

ASKS = {"clean_period": CLEAN_PERIOD, "reset": RESET_NEEDED}

SAID = {
    "workload": marked(
        "The card %(card)s says that %(name)s made it fail: %(words)s. Its output may be wrong."
    ),
    "clean_period": marked(
        "The card %(card)s under %(name)s told of an error: %(words)s. What runs goes on, but its"
        " results may be wrong; nothing new starts there for half an hour."
    ),
    "reset": marked(
        "The card %(card)s under %(name)s failed: %(words)s. Nothing new starts there until it was"
        " reset; what runs may hang or end."
    ),
}
"""What the owner of the work is told, by what the error asks for; warnings alone are for operators.
"""


def fresh(row: Card, told: CardHealth) -> list[CardError]:
    """The errors that were not taken yet, oldest first, in words that the books can keep."""
    new = (one for one in told.errors if one.seq > row.errors_seen)
    return [
        msgspec.structs.replace(one, words=_plain(one.words))
        for one in sorted(new, key=lambda one: one.seq)
    ]


def ill_of(told: CardHealth) -> str:
    """The words of the newest error that asks for something; of a warning where none does.

    A warning that came with what keeps the card out does not say why it is out.
    """
    asking = [one for one in told.errors if one.asks in ASKS]
    newest = max(asking or told.errors, key=lambda one: one.seq)
    return _plain(newest.words)


def _plain(words: str) -> str:
    return words.replace("\x00", "")[:MOST_WORDS]


def errors_taken(*, row: Card, errors: list[CardError], node_uid: str, actor: Actor) -> bool:
    """Take new errors of a locked card: events for it and for the work on it; a cordon if asked.

    Returns whether the card's state changed. Call it inside a transaction.
    """
    for one in errors:
        _tell(row, one, node_uid, actor)
    reason = _reason(row, errors)
    values: dict[str, object] = {"errors_seen": errors[-1].seq}
    if reason:
        until = now() + timedelta(seconds=CLEAN_S) if reason == CLEAN_PERIOD else None
        values["clean_until"] = until
    if reason and row.state != _OUT:
        told = {"node": node_uid, "xids": [one.number for one in errors], "why": errors[-1].words}
        move(row, _OUT, actor=actor, reason=reason, changes=values, told=told)
        return True
    if reason:
        values["state_reason"] = reason
    Card.objects.filter(pk=row.pk).update(**values)
    for name, value in values.items():
        setattr(row, name, value)
    return False


def _reason(row: Card, errors: list[CardError]) -> str:
    """Why the card has to stay out from now on; nothing where a person keeps it out already."""
    asked = {ASKS[one.asks] for one in errors if one.asks in ASKS}
    if row.state == _OUT and row.state_reason not in ASKS.values():
        return ""
    if not asked or not (row.state == _OUT or CARD.allows(CardState(row.state), _OUT)):
        return ""
    lasts = RESET_NEEDED in asked or (row.state == _OUT and row.state_reason == RESET_NEEDED)
    return RESET_NEEDED if lasts else CLEAN_PERIOD


_OUT = CardState.CORDONED


def _tell(row: Card, one: CardError, node_uid: str, actor: Actor) -> None:
    words: dict[str, Any] = {"number": one.number, "asks": one.asks, "words": one.words}
    words["node"] = node_uid
    record(EventKind.CARD_ERRED, row, actor=actor, slice=one.slice, **words)
    for hold in _holds(row, one.slice):
        workload = hold.placement.attempt.workload
        record(
            EventKind.WORKLOAD_WARNED,
            workload,
            actor=actor,
            project=workload.project,
            card=row.label,
            **words,
        )
        _tell_owner(workload, row, one)
    # Counted memory errors have no number: the rule over the counters raises their alert.
    if one.asks == "warn" and one.number:
        alert_raise(
            key=f"card-errors:{row.uid}",
            subject=f"card:{row.uid}",
            title=_("%(card)s told of an error: %(words)s")
            % {"card": row.label, "words": one.words},
            detail=words,
            actor=actor,
        )


def _tell_owner(workload: Workload, row: Card, one: CardError) -> None:
    """Into the owner's inbox; one kind of error of one card once an hour, for they come in rows."""
    text = SAID.get(one.asks)
    if text is None:
        return
    notice_send(
        kind=NoticeKind.ALERT,
        to=[workload.owner],
        about=workload,
        text=text,
        key=f"card-error:{workload.uid}:{row.uid}:{one.number}:{now():%Y%m%d%H}",
        card=row.label,
        name=workload.name,
        words=one.words,
    )


def _holds(row: Card, slice_uid: str) -> list[Hold]:
    """Who is on the card now; of one slice alone when the error names it."""
    holds = Hold.objects.filter(card=row, held__upper_inf=True, placement__state="open")
    if slice_uid:
        holds = holds.filter(slice__uid=slice_uid)
    work = "placement__attempt__workload"
    return list(holds.select_related(f"{work}__project", f"{work}__owner").order_by("pk"))

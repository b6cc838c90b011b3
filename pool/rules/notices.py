"""What people may be told, by which ways, and what they hear when they have not said otherwise."""

from enum import StrEnum


class NoticeKind(StrEnum):
    """What a notice is about; people choose by kind."""

    TO_DECIDE = "to_decide"
    DECIDED = "decided"
    ASKED_BACK = "asked_back"
    COMMENTED = "commented"
    REMINDER = "reminder"
    EXPIRY = "expiry"
    RECALL = "recall"
    DEPUTY = "deputy"
    WORK = "work"
    IDLE = "idle"
    ALERT = "alert"
    MONEY = "money"
    PEOPLE = "people"


class Channel(StrEnum):
    """The ways out of the house; the inbox of the portal has every notice."""

    MAIL = "mail"
    HOOK = "hook"


class How(StrEnum):
    """At once, in one letter a day, or not at all."""

    AT_ONCE = "at_once"
    DAILY = "daily"
    OFF = "off"


QUIET = frozenset({NoticeKind.COMMENTED, NoticeKind.WORK})
"""Kinds that come in one letter a day unless the reader wants them at once."""

MOST_AT_ONCE = 10
"""So many letters an hour go to one person at once; the rest comes in one letter after it."""


def default_how(kind: NoticeKind, channel: Channel) -> How:
    """How a kind comes when its reader has not chosen: a receiver of one's own gets all at once."""
    return How.DAILY if channel is Channel.MAIL and kind in QUIET else How.AT_ONCE

"""Why work waits and what would start it, in plain words."""

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from portal.templatetags.engines import decoders, encoders
from portal.templatetags.units import duration, gib, gigabytes, mib, number, percent

register = template.Library()

REASONS = {
    "held_back": gettext_lazy("it is held back"),
    "access": gettext_lazy("the project may not use any partition that has such cards"),
    "vendor": gettext_lazy("no card of the right make is there"),
    "model": gettext_lazy("no card of the right model is there"),
    "capability": gettext_lazy("no card can do what it needs"),
    "health": gettext_lazy("the right cards are closed, silent or ill"),
    "node_failed_it": gettext_lazy("the nodes that are left have failed it before"),
    "mode": gettext_lazy("no card here may be shared in the way it needs"),
    "isolation": gettext_lazy("the free parts lie beside work it may not share a card with"),
    "ceiling": gettext_lazy("this kind of work already has its part of every card"),
    "unproven": gettext_lazy("training shares these cards only once it has written a checkpoint"),
    "memory": gettext_lazy("no card has enough free memory"),
    "compute": gettext_lazy("no card has enough free compute"),
    "encoder": gettext_lazy("no card has enough free video encoders"),
    "decoder": gettext_lazy("no card has enough free video decoders"),
    "layout": gettext_lazy("the free parts do not lie together"),
    "headroom": gettext_lazy("the last free cards are kept for urgent work"),
    "bandwidth": gettext_lazy("every card with room has work that needs all its memory bandwidth"),
    "cpu": gettext_lazy("no node has enough free cores"),
    "host_memory": gettext_lazy("no node has enough free host memory"),
    "disk": gettext_lazy("no node has enough free disk"),
    "storage": gettext_lazy("its data lies on no node with room"),
    "topology": gettext_lazy("not enough cards are free together in one place"),
    "licence": gettext_lazy("all licence seats are taken"),
    "quota": gettext_lazy("an allowance or a limit it counts against is full"),
    "maintenance": gettext_lazy("it would run into a maintenance window"),
    "reserved": gettext_lazy("the free cards are reserved"),
    "behind": gettext_lazy("others are before it in the queue"),
    "round_full": gettext_lazy("it is looked at in a moment"),
    "carving": gettext_lazy("its card is being cut for it"),
    "impossible": gettext_lazy("no card in the pool could ever hold it"),
    "after": gettext_lazy("it waits for other work to end"),
    "array": gettext_lazy("its array runs only so many pieces at a time"),
    "array_held": gettext_lazy("its array is on hold"),
}
UNITS: dict[str, Callable[[Any], str]] = {
    "memory_mib": mib,
    "compute_milli": percent,
    "cpu_milli": lambda value: _("%(n)s cores") % {"n": number(value / 1000, 1)},
    "host_memory_mib": mib,
    "disk_mib": mib,
    "card_micro": lambda value: _("%(n)s cards") % {"n": number(value / 1_000_000, 2)},
    "cards": lambda value: ngettext("%(n)d card", "%(n)d cards", value) % {"n": value},
    "places": lambda value: ngettext("%(n)d place", "%(n)d places", value) % {"n": value},
    "encoder_units": encoders,
    "decoder_units": decoders,
}
WHOLE = frozenset({"memory", "compute"})
"""Filters that whole cards fail at when they are not free: nobody thinks of it as memory."""

GROUPS = {
    "new": gettext_lazy("to be looked at"),
    "held_back": gettext_lazy("to be released"),
    "access": gettext_lazy("a partition they may use"),
    "vendor": gettext_lazy("cards of the right make"),
    "model": gettext_lazy("cards of the right model"),
    "capability": gettext_lazy("cards that can do it"),
    "health": gettext_lazy("cards that are closed or silent"),
    "node_failed_it": gettext_lazy("another node"),
    "mode": gettext_lazy("cards shared that way"),
    "isolation": gettext_lazy("cards without strangers on them"),
    "ceiling": gettext_lazy("their class's part of the cards"),
    "unproven": gettext_lazy("cards that take training without a checkpoint"),
    "memory": gettext_lazy("card memory"),
    "compute": gettext_lazy("card compute"),
    "encoder": gettext_lazy("video encoders"),
    "decoder": gettext_lazy("video decoders"),
    "layout": gettext_lazy("room that lies together"),
    "headroom": gettext_lazy("cards beside those kept for urgent work"),
    "bandwidth": gettext_lazy("memory bandwidth"),
    "cpu": gettext_lazy("cores"),
    "host_memory": gettext_lazy("host memory"),
    "disk": gettext_lazy("disk"),
    "storage": gettext_lazy("nodes with their data"),
    "topology": gettext_lazy("cards free together"),
    "licence": gettext_lazy("licence seats"),
    "quota": gettext_lazy("their team's allowance or limit"),
    "maintenance": gettext_lazy("the end of maintenance"),
    "reserved": gettext_lazy("cards that are reserved"),
    "behind": gettext_lazy("their turn"),
    "round_full": gettext_lazy("the next round"),
    "carving": gettext_lazy("their card to be cut"),
    "impossible": gettext_lazy("a card that does not exist"),
    "after": gettext_lazy("other work to end"),
    "array": gettext_lazy("a turn in their array"),
    "array_held": gettext_lazy("their array to be released"),
}
"""What a group of waiting work waits for: "12 … linked cards"."""

FILTERS = {
    "held_back": gettext_lazy("not looked at: it is held back"),
    "access": gettext_lazy("not open to the project"),
    "vendor": gettext_lazy("of another make"),
    "model": gettext_lazy("of another model"),
    "capability": gettext_lazy("cannot do what it needs"),
    "health": gettext_lazy("closed, silent or ill"),
    "node_failed_it": gettext_lazy("on nodes that failed it"),
    "mode": gettext_lazy("not shared in the way it needs"),
    "isolation": gettext_lazy("beside work it may not share a card with"),
    "ceiling": gettext_lazy("its class has its part already"),
    "unproven": gettext_lazy("shared with inference, and no checkpoint yet"),
    "memory": gettext_lazy("too little free memory"),
    "compute": gettext_lazy("too little free compute"),
    "encoder": gettext_lazy("too few free video encoders"),
    "decoder": gettext_lazy("too few free video decoders"),
    "layout": gettext_lazy("free parts do not lie together"),
    "headroom": gettext_lazy("kept free for urgent work"),
    "bandwidth": gettext_lazy("beside work as heavy on memory bandwidth"),
    "cpu": gettext_lazy("too few free cores"),
    "host_memory": gettext_lazy("too little free host memory"),
    "disk": gettext_lazy("too little free disk"),
    "storage": gettext_lazy("without its data"),
    "topology": gettext_lazy("not enough free ones together"),
    "licence": gettext_lazy("no licence seat left"),
    "quota": gettext_lazy("beyond an allowance or limit"),
    "maintenance": gettext_lazy("maintenance too soon"),
    "reserved": gettext_lazy("reserved or promised"),
    "behind": gettext_lazy("kept for those before it"),
    "round_full": gettext_lazy("left for the next round"),
    "carving": gettext_lazy("being cut"),
    "impossible": gettext_lazy("could never hold it"),
}
"""What one filter left out: "40 of another model"."""

HELD = {
    "project suspended": gettext_lazy("its project may start nothing new (%(rest)s)"),
    "project held": gettext_lazy("its project's queue is held back (%(rest)s)"),
    "lease ended": gettext_lazy("its lease has ended"),
    "reservation has not begun": gettext_lazy("its reservation has not begun"),
    "lease in use": gettext_lazy("other work uses all copies of its lease"),
    "its need cannot be read": gettext_lazy("its need cannot be read; submit it again"),
    "": gettext_lazy("its start time has not come"),
}
"""Why the planner does not look at it: by what stands before the colon."""

BANDS = {
    3: gettext_lazy("only when idle"),
    2: gettext_lazy("beyond the team's part"),
    1: gettext_lazy("within the team's part"),
    0: gettext_lazy("critical, granted"),
}


@register.filter
def why_words(waits: Mapping[str, Any] | None) -> str:
    """Why it waits, with the exact shortage where there is one."""
    if not waits:
        return _("it was just put in the queue")
    reason = str(waits.get("reason", ""))
    if reason == "held_back":
        return held_words(str(waits.get("detail", "")))
    words = str(REASONS.get(reason, waits.get("detail", "")))
    shortage = waits.get("shortage")
    if reason in WHOLE and isinstance(shortage, Mapping) and shortage.get("unit") == "cards":
        words = str(REASONS["topology"])
    if isinstance(shortage, Mapping) and shortage.get("needed") is not None:
        words += _short(shortage, level=reason == "quota")
    return words


def held_words(detail: str) -> str:
    """Why work is held back, in the reader's language where the planner's word is known."""
    kind, _colon, rest = detail.partition(": ")
    known = HELD.get(kind)
    if known is None:
        return _("it is held back: %(detail)s") % {"detail": detail}
    return str(known) % {"rest": rest} if rest else str(known)


@register.filter
def moment(seconds: float | None) -> datetime | None:
    """Seconds since the epoch as a moment; None stays None."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


@register.filter
def group_words(reason: str) -> str:
    """What a group of waiting work waits for."""
    return str(GROUPS.get(reason, reason))


@register.filter
def reason_words(reason: str) -> str:
    """Why one piece of work would wait, without its numbers."""
    return str(REASONS.get(reason, FILTERS.get(reason, reason)))


@register.filter
def filter_words(reason: str) -> str:
    """What one filter left out."""
    return str(FILTERS.get(reason, reason))


@register.filter
def band_words(band: float | None) -> str:
    """In which of the four bands of the queue work stands."""
    return "–" if band is None else str(BANDS.get(int(band), ""))


PARTS = (
    ("class", gettext_lazy("class")),
    ("priority", gettext_lazy("priority")),
    ("age", gettext_lazy("waiting")),
    ("length", gettext_lazy("length")),
)


@register.simple_tag
def score(rank: Mapping[str, float] | None, show: str = "") -> SafeString:
    """The score as a bar of its parts with their sum; `whole` writes the parts out beside it.

    Parts are drawn by their logarithm: a class weighs a thousand steps of priority.
    """
    if not rank:
        return format_html('<span class="gp-unknown">{}</span>', _("unknown"))
    values = [(name, str(words), float(rank.get(name, 0.0))) for name, words in PARTS]
    signs = ("−" if value < 0 else "+" for *_rest, value in values)
    each = (f"{number(abs(value), 2)} {words}" for _name, words, value in values)
    shown = " ".join(f"{sign} {part}" for sign, part in zip(signs, each, strict=True)).lstrip("+ ")
    total = number(sum(value for *_rest, value in values), 2)
    drawn, left = [], 0.0
    for name, _words, value in values:
        width = 20 * math.log10(1 + abs(value) * (10 if name in ("age", "length") else 1))
        drawn.append((name, round(left, 1), round(width, 1)))
        left += width
    rects = format_html_join(
        "", '<rect class="gp-score-{}" x="{}" width="{}" height="8"></rect>', drawn
    )
    said = f"{shown} = {total}"
    picture = format_html(
        '<svg class="gp-score" viewBox="0 0 100 8" preserveAspectRatio="none" role="img"'
        ' aria-label="{}">{}</svg>',
        said,
        rects,
    )
    if show != "whole":
        return format_html('<span class="gp-sub">{}</span>{}', total, picture)
    used = _("team's recent use by its guarantee: %(n)s card-hours") % {
        "n": number(rank.get("share", 0) / 3600, 1)
    }
    return format_html(
        '{}<div class="gp-sub">{}</div><div class="gp-sub">{}</div>', picture, said, used
    )


@register.filter
def change_words(change: Mapping[str, Any]) -> str:
    """A change that would start work, as something to do."""
    amount, name = change.get("amount") or 0, str(change.get("change", ""))
    if name == "fewer_cards":
        return ngettext("Use %(n)d card", "Use %(n)d cards", amount) % {"n": amount}
    said = {
        "shorter": (_("Let it run for %(n)s at most"), duration),
        "less_cpu": (_("Take %(n)s cores"), _cores),
        "less_host_memory": (_("Take %(n)s of host memory"), gib),
        "less_compute": (_("Take %(n)s of a card's compute"), percent),
        "less_memory": (_("Take %(n)s of card memory"), gigabytes),
        "fewer_encoders": (_("Take %(n)s to itself"), encoders),
        "fewer_decoders": (_("Take %(n)s to itself"), decoders),
        "other_model": (_("Take any model of card"), number),
        "other_mode": (_("Share a card by processes (MPS)"), number),
        "across_nodes": (_("Spread over several nodes"), number),
    }
    text, unit = said.get(name, (name, number))
    return text % {"n": unit(amount)} if "%(n)s" in text else text


def _cores(milli: float | None) -> str:
    return number((milli or 0) / 1000, 1)


@register.filter
def change_cost(change: Mapping[str, Any]) -> str:
    """What the owner gives up by a change."""
    return str(COSTS.get(str(change.get("change", "")), ""))


COSTS = {
    "shorter": gettext_lazy("It may have to give way once that time is over."),
    "less_cpu": gettext_lazy("Loading data may take longer."),
    "less_host_memory": gettext_lazy("It is ended if it takes more."),
    "less_compute": gettext_lazy("It runs more slowly."),
    "less_memory": gettext_lazy("It must fit into less memory."),
    "fewer_encoders": gettext_lazy("It encodes fewer streams at a time."),
    "fewer_decoders": gettext_lazy("It decodes fewer streams at a time."),
    "fewer_cards": gettext_lazy("It runs more slowly; CPU and memory shrink with the cards."),
    "other_model": gettext_lazy("It may run faster or slower, and at another price."),
    "other_mode": gettext_lazy("A neighbour's fault can end it."),
    "across_nodes": gettext_lazy("Its parts talk over the network."),
}


def _short(shortage: Mapping[str, Any], *, level: bool) -> str:
    """What is missing: on the best place, or of the allowance or limit when a level is full."""
    unit: Callable[[Any], str] = UNITS.get(str(shortage.get("unit", "")), number)
    found = {"needed": unit(shortage["needed"]), "free": unit(shortage.get("free"))}
    if level:
        return " (" + _("needs %(needed)s, %(free)s left of it") % found + ")"
    return " (" + _("needs %(needed)s, the best place has %(free)s") % found + ")"

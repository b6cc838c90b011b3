"""Out of service and back: what a maintenance window does to nodes, cards and leases."""

from datetime import datetime, timedelta

from django.db import connection
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from pool.events import Actor, record
from pool.lifecycle.cards import CardState
from pool.lifecycle.events import EventKind
from pool.lifecycle.leases import LeaseState
from pool.lifecycle.nodes import NodeState
from pool.lifecycle.windows import WindowState
from pool.locks import WINDOWS
from pool.models.cards import Card
from pool.models.leases import Lease
from pool.models.nodes import Node
from pool.models.windows import Window
from pool.rules.windows import downtime_s
from pool.selectors.calendar.windows import leases_made_longer, window_reach
from pool.services.calendar.kept import reservation_prolong
from pool.services.cards import card_cordon, card_uncordon
from pool.services.moves import locked
from pool.services.nodes import node_drain, node_uncordon

REASON = "maintenance"
"""Begins the reason of every node and card that a window took out; only that comes back."""


def service_take(*, window: Window, actor: Actor) -> None:
    """Drain its nodes and cordon its other cards; what was out already stays as it is.

    Notes in the window what it took. Call it with the window locked.
    """
    reach = window_reach(window)
    why = f"{REASON}: {window.reason}"[:200]
    taken: dict[str, list[str]] = {"nodes": [], "cards": []}
    cards = Card.objects.filter(pk__in=reach.cards).exclude(node__in=reach.nodes)
    for card in locked(cards.filter(state__in=[CardState.READY, CardState.PARTIAL])):
        card_cordon(card=card, actor=actor, reason=why)
        taken["cards"].append(card.uid)
    for node in locked(Node.objects.filter(pk__in=reach.nodes, state=NodeState.READY)):
        node_drain(node=node, actor=actor, reason=why)
        taken["nodes"].append(node.uid)
    window.taken = taken
    window.save(update_fields=["taken"])


def service_return(*, window: Window, actor: Actor) -> None:
    """What the window took comes back, except what a person has taken out meanwhile for a reason of
    their own. What another window under way still needs goes over to that one, and comes back
    with it.
    """
    needed, nodes_needed = _handed_over(window)
    mine = Card.objects.filter(
        uid__in=window.taken.get("cards", ()),
        state=CardState.CORDONED,
        state_reason__startswith=REASON,
    )
    for card in locked(mine.exclude(pk__in=needed)):
        card_uncordon(card=card, actor=actor, reason="maintenance is over")
    out = [NodeState.CORDONED, NodeState.DRAINING]
    nodes = Node.objects.filter(uid__in=window.taken.get("nodes", ()), state__in=out)
    for node in locked(nodes.exclude(pk__in=nodes_needed)):
        if node.state_reason.startswith(REASON) or node.state_reason == "drained":
            node_uncordon(node=node, actor=actor, reason="maintenance is over")


def _handed_over(window: Window) -> tuple[set[int], set[int]]:
    """Keys of the cards and nodes that another window under way has now taken over."""
    cards: set[int] = set()
    nodes: set[int] = set()
    took = {name: set(window.taken.get(name, ())) for name in ("cards", "nodes")}
    for other in locked(Window.objects.filter(state=WindowState.ACTIVE).exclude(pk=window.pk)):
        reach = window_reach(other)
        here = {
            "cards": Card.objects.filter(uid__in=took["cards"], pk__in=reach.cards),
            "nodes": Node.objects.filter(uid__in=took["nodes"], pk__in=reach.nodes),
        }
        for name, keys in (("cards", cards), ("nodes", nodes)):
            over = dict(here[name].exclude(pk__in=keys).values_list("uid", "pk"))
            keys |= set(over.values())
            other.taken[name] = sorted({*other.taken.get(name, ()), *over})
        other.save(update_fields=["taken"])
    return cards, nodes


def windows_one_at_a_time() -> None:
    """One window turns at a time: what ends may hand over to the others. Before any row's lock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [WINDOWS])


def lease_times(*, window: Window, until: datetime, actor: Actor) -> None:
    """Leases that the window takes time from end later by that time, up to `until`.

    Called at its start, and again when its end moves: then only the difference is added or taken
    away. Which leases they are is judged once. Of windows that overlap the time that both take
    counts once: together they lengthen a lease by what it was out of service.
    """
    before: dict[str, int] = window.extended
    start = window.span.lower
    rows = Lease.objects.filter(uid__in=before)
    if not before:
        longer = leases_made_longer(reach=window_reach(window), starts_at=start, ends_at=until)
        rows = Lease.objects.filter(pk__in=longer)
    wanted: dict[str, int] = dict(before)
    for lease in locked(rows.filter(state=LeaseState.ACTIVE)):
        others = Window.objects.filter(extended__has_key=lease.uid).exclude(pk=window.pk)
        spans = [(one.span.lower, one.span.upper) for one in others]
        out_s = downtime_s([*spans, (start, until)], since=lease.valid.lower)
        seconds = out_s - sum(one.extended[lease.uid] for one in others)
        wanted[lease.uid] = seconds
        if seconds != before.get(lease.uid, 0):
            _longer(lease, seconds - before.get(lease.uid, 0), window, actor)
    window.extended = wanted
    window.save(update_fields=["extended"])


def _longer(lease: Lease, seconds: int, window: Window, actor: Actor) -> None:
    """Move one lease's end; the cards kept for it are kept as long, where nobody else has them."""
    end = lease.valid.upper + timedelta(seconds=seconds)
    valid = DateTimeTZRange(lease.valid.lower, end)
    Lease.objects.filter(pk=lease.pk).update(valid=valid)
    record(
        EventKind.LEASE_EXTENDED,
        lease,
        actor=actor,
        project=lease.project,
        window=window.uid,
        seconds=seconds,
        until=end.isoformat(timespec="seconds"),
    )
    reservation_prolong(lease=lease, until=end)

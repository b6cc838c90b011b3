"""Ledger, usage, placements and the nodes' own counts, compared: each must tell the same."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from billing.models.cursors import Cursor
from billing.rating.accounts import CARD_PARTS
from billing.rating.intervals import moment

APART_S = 5
"""A node's count and the books may differ by so much; beyond, a correction must stand beside."""

_HOLDS = """
SELECT h.uid, round(extract(epoch FROM least(coalesce(upper(h.held), %(until)s), %(until)s)
        - lower(h.held)) * 1000000)::bigint AS span,
    round(h.corrected_s * 1000000)::bigint, coalesce(sum(u.reserved_us), 0)::bigint
FROM pool_hold h LEFT JOIN billing_usage u ON u.hold_id = h.id
WHERE upper(h.held) <= %(until)s AND upper(h.held) > %(since)s
GROUP BY h.id
HAVING coalesce(sum(u.reserved_us), 0) <> CASE
    WHEN h.corrected_s IS NULL
    THEN round(extract(epoch FROM upper(h.held) - lower(h.held)) * 1000000)
    ELSE round(h.corrected_s * 1000000) END
ORDER BY h.id LIMIT %(most)s
"""
_AGENTS = """
SELECT h.uid, extract(epoch FROM upper(h.held) - lower(h.held)), h.agent_held_s FROM pool_hold h
WHERE upper(h.held) <= %(until)s AND upper(h.held) > %(since)s AND h.agent_held_s IS NOT NULL
  AND h.corrected_s IS NULL
  AND abs(extract(epoch FROM upper(h.held) - lower(h.held)) - h.agent_held_s) > %(apart)s
ORDER BY h.id LIMIT %(most)s
"""
_AMOUNTS = """
SELECT u.uid, u.amount_micro, coalesce(sum(p.amount_micro), 0)::bigint
FROM billing_usage u
LEFT JOIN billing_posting p ON p.usage_id = u.id
    AND p.account IN ('used', 'held_idle', 'held_unknown', 'host', 'price', 'licence')
WHERE u.hour >= %(since)s AND u.hour < %(posted)s AND u.billable AND u.amount_micro IS NOT NULL
  AND NOT u.running
GROUP BY u.id HAVING coalesce(sum(p.amount_micro), 0) <> u.amount_micro
  AND NOT (u.kind = 'kept-idle' AND count(p.id) > 0 AND count(p.organization_id) = 0)
ORDER BY u.id LIMIT %(most)s
"""
"""A kept card that the platform pays for is on no bill: its price stands, no steps to it do."""

_FREE = """
SELECT u.uid, 0, sum(p.amount_micro)::bigint
FROM billing_usage u JOIN billing_posting p ON p.usage_id = u.id
WHERE u.hour >= %(since)s AND u.hour < %(posted)s AND NOT u.billable AND NOT u.running
  AND p.organization_id IS NOT NULL
GROUP BY u.id HAVING sum(p.amount_micro) <> 0 ORDER BY u.id LIMIT %(most)s
"""
_PRICES = """
SELECT min(e.uid), -coalesce(sum(p.amount_micro) FILTER (WHERE p.account = 'capacity'), 0)::bigint,
    coalesce(sum(p.amount_micro) FILTER (WHERE p.account = ANY(%(parts)s)), 0)::bigint
FROM billing_entry e JOIN billing_posting p ON p.entry_id = e.id
WHERE e.hour >= %(since)s AND e.hour < %(until)s AND e.scope LIKE 'card:%%' AND e.kind = 'metered'
GROUP BY e.scope, e.hour, e.currency
HAVING coalesce(sum(p.amount_micro) FILTER (WHERE p.account = 'capacity'), 0)
    + coalesce(sum(p.amount_micro) FILTER (WHERE p.account = ANY(%(parts)s)), 0) <> 0
    OR coalesce(sum(p.card_us), 0) > 3600000000
ORDER BY 1 LIMIT %(most)s
"""
_ENTRIES = """
SELECT e.uid, 0, sum(p.amount_micro)::bigint
FROM billing_entry e JOIN billing_posting p ON p.entry_id = e.id
WHERE e.hour >= %(since)s AND e.hour < %(until)s
GROUP BY e.id HAVING sum(p.amount_micro) <> 0 ORDER BY e.id LIMIT %(most)s
"""
_CLOSED = """
SELECT m.uid, m.total_micro, coalesce(sum(p.amount_micro), 0)::bigint
FROM billing_month m
LEFT JOIN billing_posting p ON p.organization_id = m.organization_id AND p.month = m.first
WHERE m.state = 'closed' AND m.first >= %(since)s::date AND m.first < %(until)s::date
GROUP BY m.id HAVING m.total_micro <> coalesce(sum(p.amount_micro), 0)
ORDER BY m.id LIMIT %(most)s
"""
_SAYS = (
    ("held time against usage, microseconds", _HOLDS),
    ("the books against the node's count, seconds", _AGENTS),
    ("usage against the ledger, 10⁻⁶ of the currency", _AMOUNTS),
    ("not to be charged, and charged", _FREE),
    ("the parts of a card's hour against its price", _PRICES),
    ("an entry that does not sum to zero", _ENTRIES),
    ("a closed month against the ledger", _CLOSED),
)


@dataclass(frozen=True, slots=True)
class Difference:
    """Two that should say the same of one thing, and do not."""

    what: str
    subject: str
    one: float
    other: float


def differences(*, since: datetime, until: datetime, most: int = 1000) -> list[Difference]:
    """All that differs of what ended in the time, at most so many of each kind.

    What is not metered or posted yet differs too: ask for a time that is over for some minutes.
    """
    found: list[Difference] = []
    posted = min(until, posted_until())
    place: dict[str, Any] = {
        "since": since,
        "until": until,
        "most": most,
        "apart": APART_S,
        "posted": posted,
        "parts": [str(one) for one in CARD_PARTS],
    }
    with connection.cursor() as cursor:
        for what, sql in _SAYS:
            cursor.execute(sql, place)
            for row in cursor.fetchall():
                if sql is _HOLDS:
                    subject, span, counted, metered = row
                    found.append(
                        Difference(what, subject, span if counted is None else counted, metered)
                    )
                else:
                    found.append(Difference(what, row[0], float(row[1]), float(row[2])))
    return found


def posted_until() -> datetime:
    """The end of the hours that the ledger has posted."""
    event = Cursor.objects.filter(name="ledger").values_list("event", flat=True).first() or 0
    return moment(event)

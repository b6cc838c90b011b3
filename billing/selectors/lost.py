"""What was paid for work that was thrown away when it had to give way, in money and card time."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date

from django.db import connection

from billing.rating.days import midnight, next_month
from nodeagent.protocol.vocabulary import ExitReason
from pool.models.tenants import Organization

_LOST = """
SELECT coalesce(sum(u.amount_micro * part), 0)::bigint,
    coalesce(sum(u.equivalents_micro * part * extract(epoch FROM u.ends_at - u.starts_at)), 0)
        / 1e6,
    count(DISTINCT a_id)
FROM (
    SELECT a.id AS a_id, u.amount_micro, u.equivalents_micro, u.starts_at, u.ends_at,
        extract(epoch FROM least(u.ends_at, a.ended_at)
            - greatest(u.starts_at, coalesce(a.checkpoint_at, a.started_at)))
            / extract(epoch FROM u.ends_at - u.starts_at) AS part
    FROM pool_attempt a JOIN billing_usage u ON u.attempt_id = a.id
    WHERE a.exit_reason = %(reason)s AND a.ended_at >= %(since)s AND a.ended_at < %(until)s
      AND u.organization_id = %(home)s AND u.billable AND u.ends_at > u.starts_at
      AND u.hour < %(until)s
      AND u.hour >= date_trunc('hour', coalesce(a.checkpoint_at, a.started_at), 'UTC')
      AND (%(projects)s::bigint[] IS NULL OR u.project_id = ANY(%(projects)s::bigint[]))
      AND u.ends_at > coalesce(a.checkpoint_at, a.started_at) AND u.starts_at < a.ended_at
) AS u
"""


@dataclass(frozen=True, slots=True)
class Lost:
    """From the last checkpoint, or the start, to the moment it left.

    The money is in 10⁻⁶ of the currency, before discounts; `card_s` are seconds of whole cards.
    """

    micro: int
    card_s: float
    runs: int


def lost_to_preemption(
    *, organization: Organization, first: date, projects: Collection[int] | None = None
) -> Lost:
    """Of the runs that had to give way in that month; `projects` are those one may see."""
    with connection.cursor() as cursor:
        cursor.execute(
            _LOST,
            {
                "reason": ExitReason.PREEMPTED.value,
                "since": midnight(first, organization.zone),
                "until": midnight(next_month(first), organization.zone),
                "home": organization.pk,
                "projects": None if projects is None else sorted(projects),
            },
        )
        micro, card_s, runs = cursor.fetchone()
    return Lost(int(micro), float(card_s), runs)

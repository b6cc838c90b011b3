"""Write a policy of approval: each change is a new version, with its reason."""

from collections.abc import Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from django.db import connection, transaction
from django.db.models import Max
from django.utils.translation import gettext

from pool.errors import Invalid
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.locks import POLICIES
from pool.models.approvals.policies import ApprovalPolicy
from pool.models.tenants import Organization
from pool.models.users import User
from pool.rules.approval import policy_from
from pool.rules.working import calendar_from
from pool.services.refusals import refusing

MOST_HOURS = 400


@transaction.atomic
def approval_policy_set(
    *,
    organization: Organization | None,
    steps: Sequence[Mapping[str, Any]],
    answer_hours: int,
    remind_hours: int,
    escalate_hours: int,
    calendar: Mapping[str, Any],
    reason: str,
    user: User | None,
    actor: Actor,
) -> ApprovalPolicy:
    """From now on new and edited requests are judged by it; pending ones keep their steps.

    Raises:
        Invalid: steps, hours or calendar cannot be read, or no reason is given.
    """
    with refusing():
        policy_from({"steps": list(steps)})
        calendar_from(calendar, ZoneInfo("UTC"))
    hours = (answer_hours, remind_hours, escalate_hours)
    if not all(1 <= one <= MOST_HOURS for one in hours) or escalate_hours < remind_hours:
        raise Invalid(
            remind_hours=gettext("Hours are from 1 to 400; escalation comes after the reminder.")
        )
    if not reason.strip():
        raise Invalid(reason=gettext("Say why, in a word."))
    _one_at_a_time()
    rows = ApprovalPolicy.objects.filter(organization=organization)
    made = ApprovalPolicy.objects.create(
        organization=organization,
        number=(rows.aggregate(most=Max("number"))["most"] or 0) + 1,
        steps=[dict(one) for one in steps],
        answer_hours=answer_hours,
        remind_hours=remind_hours,
        escalate_hours=escalate_hours,
        calendar=dict(calendar),
        reason=reason.strip()[:200],
        user=user,
    )
    told: dict[str, Any] = {
        "number": made.number,
        "organization": organization.slug if organization else "",
    }
    record(EventKind.APPROVAL_POLICY_SET, made, actor=actor, reason=made.reason, **told)
    return made


def _one_at_a_time() -> None:
    """Two writers never get the same number."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [POLICIES])

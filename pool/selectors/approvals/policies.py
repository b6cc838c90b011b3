"""The policy in force: whose yes is needed, within how much working time, and how long it takes."""

from dataclasses import dataclass
from datetime import timedelta
from zoneinfo import ZoneInfo

from django.db import connection
from django.db.models import QuerySet

from pool.clock import now
from pool.models.approvals.policies import ApprovalPolicy
from pool.models.templates import TemplateVersion
from pool.models.tenants import Organization, Project
from pool.rules.approval import DEFAULT_POLICY, Step, policy_from
from pool.rules.working import WorkingCalendar, calendar_from

LOOK_BACK = timedelta(days=90)

_TOOK = """
SELECT count(*), percentile_cont(ARRAY[0.5, 0.9]) WITHIN GROUP
    (ORDER BY extract(epoch FROM r.decided_at - r.submitted_at))
FROM pool_request r JOIN pool_project p ON p.id = r.project_id
WHERE p.organization_id = %s AND r.decided_at >= %s AND r.submitted_at IS NOT NULL
  AND cardinality(r.steps) = %s AND r.state IN ('approved', 'rejected', 'returned')
"""


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for an organization. Hours are working hours."""

    steps: tuple[Step, ...]
    answer_hours: int
    remind_hours: int
    escalate_hours: int
    calendar: WorkingCalendar


@dataclass(frozen=True, slots=True)
class Took:
    """How long decisions took, in seconds of the clock: of how many, half, and nine tenths."""

    decided: int
    half_s: float | None = None
    most_s: float | None = None


def policy_list(*, organization: Organization | None) -> QuerySet[ApprovalPolicy]:
    """All versions of one organization's policy, or (None) of everybody's; newest first."""
    rows = ApprovalPolicy.objects.filter(organization=organization).select_related("user")
    return rows.order_by("-number")


def policy_in_force(*, organization: Organization) -> ApprovalPolicy | None:
    """The organization's own newest version, else the newest of everybody's, if any was written."""
    own = policy_list(organization=organization).first()
    return own or policy_list(organization=None).first()


def terms_of(*, organization: Organization) -> Terms:
    """The policy in force, the built-in one where none was written."""
    row = policy_in_force(organization=organization) or ApprovalPolicy()
    steps = policy_from({"steps": row.steps}) if row.steps else DEFAULT_POLICY
    zone = ZoneInfo(organization.zone or "UTC")
    return Terms(
        steps=steps,
        answer_hours=row.answer_hours,
        remind_hours=row.remind_hours,
        escalate_hours=row.escalate_hours,
        calendar=calendar_from(row.calendar, zone),
    )


def steps_in_force(*, version: TemplateVersion, organization: Organization) -> tuple[Step, ...]:
    """The steps a request is judged by: its template's own, else those of the policy in force."""
    if version.approval:
        return policy_from(version.approval)
    return terms_of(organization=organization).steps


def usually_takes(*, project: Project, steps: int) -> Took:
    """How long decisions with so many steps took in the organization within 90 days."""
    with connection.cursor() as cursor:
        cursor.execute(_TOOK, [project.organization_id, now() - LOOK_BACK, steps])
        count, times = cursor.fetchone()
    return Took(count, *map(float, times)) if count else Took(0)

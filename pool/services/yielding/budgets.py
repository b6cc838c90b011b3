"""Critical work: granted to an organization by the month, in card-hours; refused when spent."""

from datetime import date

from django.db import transaction
from django.utils.translation import gettext as _

from pool.clock import now
from pool.errors import Invalid
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.roles import Priority
from pool.models.tenants import Organization, Project
from pool.models.workloads import Workload
from pool.models.yielding import CriticalBudget
from pool.selectors.critical import critical_promised_s, critical_used_s

MOST_CARD_SECONDS = 10_000_000 * 3600
MICRO = 1_000_000


@transaction.atomic
def critical_budget_set(
    *, organization: Organization, month: date, card_hours: int, actor: Actor
) -> CriticalBudget:
    """Grant so many card-hours of critical work in one month; 0 takes the grant back.

    What runs goes on: a smaller budget only refuses what is submitted later.

    Raises:
        Invalid: not the first of a month, a month that is over, or an impossible number.
    """
    if month.day != 1:
        raise Invalid(month=_("A month is named by its first day."))
    if month < now().date().replace(day=1):
        raise Invalid(month=_("That month is over."))
    if not 0 <= card_hours * 3600 <= MOST_CARD_SECONDS:
        raise Invalid(card_hours=_("A number of hours from 0 to 10,000,000 is needed."))
    row, _made = CriticalBudget.objects.update_or_create(
        organization=organization,
        month=month,
        defaults={"card_seconds": card_hours * 3600},
    )
    record(
        EventKind.CRITICAL_BUDGET_SET,
        organization,
        actor=actor,
        month=f"{month:%Y-%m}",
        card_hours=card_hours,
    )
    return row


def critical_more(*, workload: Workload, seconds: int, pieces: int = 1) -> None:
    """Let critical work that is known already ask for so many seconds more, or refuse it; other
    work needs no leave. Call it in the transaction that gives it the time, before the workload
    is locked: a submission locks the budget first as well.

    Raises:
        Invalid: as for new critical work.
    """
    if workload.priority == Priority.CRITICAL and seconds > 0:
        micro = workload.asked_micro * pieces
        critical_spend(project=workload.project, card_micro=micro, seconds=seconds)


def critical_spend(*, project: Project, card_micro: int, seconds: int) -> None:
    """Let critical work of this size be submitted, or refuse it. Call it in its transaction: the
    budget's lock lets two at once not spend the same hours.

    Raises:
        Invalid: nothing is granted this month, or what is granted is spent or promised.
    """
    organization_id = project.organization_id
    month = now().date().replace(day=1)
    row = (
        CriticalBudget.objects.select_for_update()
        .filter(organization=organization_id, month=month)
        .first()
    )
    if row is None or not row.card_seconds:
        raise Invalid(priority=_("Critical work is granted by a platform admin, with a budget."))
    used = critical_used_s(organization_id=organization_id, month=month)
    promised = critical_promised_s(organization_id=organization_id)
    asked = card_micro / MICRO * seconds
    if used + promised + asked > row.card_seconds:
        raise Invalid(
            priority=_(
                "Of this month's %(granted).1f card-hours of critical work, %(used).1f are used "
                "and %(promised).1f promised to what runs or waits; this asks for %(asked).1f."
            )
            % {
                "granted": row.card_seconds / 3600,
                "used": used / 3600,
                "promised": promised / 3600,
                "asked": asked / 3600,
            }
        )

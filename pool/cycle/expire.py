"""What time alone brings about: leases end, waits are over."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from nodeagent.protocol.vocabulary import ExitReason
from pool.clock import now
from pool.cycle.round import only_one
from pool.events import SYSTEM
from pool.lifecycle.leases import LeaseState
from pool.lifecycle.workloads import HOLDING, WorkloadState
from pool.locks import EXPIRE
from pool.models.workloads import Workload
from pool.services.approvals.reminders import leases_spoken_of, requests_reminded
from pool.services.leases import leases_ended_due, leases_ending_due, leases_left_waiting
from pool.services.workloads import RETURNING, workload_stop
from pool.sweeps import each, part
from pool.wake import round_wanted

LOOK_BACK_S = 30
"""A wait that ended within this time asks for a round; older ones have had theirs."""


@dataclass(frozen=True, slots=True)
class Due:
    """What one sweep brought about."""

    ending: int = 0
    stopped: int = 0
    woken: int = 0


def expire() -> Due | None:
    """One sweep; None when another process is at it."""
    with only_one(EXPIRE) as mine:
        if not mine:
            return None
        ending = _part(lambda: leases_ending_due(actor=SYSTEM))
        _part(lambda: len(leases_ended_due(actor=SYSTEM)))
        due = Due(ending, _part(_stopped), _part(_woken))
        _part(lambda: leases_left_waiting(actor=SYSTEM))
        _part(lambda: leases_spoken_of(actor=SYSTEM))
        _part(lambda: requests_reminded(actor=SYSTEM))
        return due


def _part(look: Callable[[], int]) -> int:
    """What is over ends first; no letter that cannot be written keeps it from ending."""
    return part(look, of="expire", nothing=0)


def _stopped() -> int:
    """Work under a lease that has ended is stopped; a sweep that broke off is made up for."""
    rows = Workload.objects.filter(
        lease__state=LeaseState.ENDED,
        state__in=sorted(HOLDING),
        stop_reason__in=["", *sorted(RETURNING)],
    )
    return each(list(rows.order_by("pk")), _stop, of="lease.work")


def _stop(work: Workload) -> bool:
    why = _("its lease has ended")
    workload_stop(workload=work, actor=SYSTEM, reason=ExitReason.LIMIT, message=why)
    return True


def _woken() -> int:
    """Work whose back-off is over may start: a round looks at it."""
    at = now()
    over = Workload.objects.filter(
        state=WorkloadState.QUEUED,
        not_before__lte=at,
        not_before__gt=at - timedelta(seconds=LOOK_BACK_S),
    ).count()
    if over:
        with transaction.atomic():
            round_wanted()
    return over

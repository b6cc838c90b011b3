"""Requests that ask for the same: one person, project and template, at overlapping times."""

from datetime import datetime, timedelta

from django.db.models import DateTimeField, ExpressionWrapper, F, Q
from django.db.models.functions import Coalesce

from pool.clock import now
from pool.lifecycle.leases import LeaseState
from pool.lifecycle.requests import RequestState
from pool.models.requests import Request
from pool.models.tenants import Project
from pool.models.users import User

SHOWN = 5


def duplicates_of(
    *,
    user: User,
    project: Project,
    template: int,
    starts_at: datetime | None,
    seconds: int,
    but: int = 0,
) -> list[Request]:
    """Pending requests and leases in force that overlap the time asked for, newest first.

    `template` and `but` (the request itself) are keys. What is asked of a lease in force is none.
    """
    begin = starts_at or now()
    end = begin + timedelta(seconds=seconds)
    starts = Coalesce("starts_at", "submitted_at")
    over = ExpressionWrapper(
        starts + F("duration_seconds") * timedelta(seconds=1), output_field=DateTimeField()
    )
    pending = Q(state=RequestState.SUBMITTED) & Q(begins__lt=end) & Q(ends__gt=begin)
    granted = Q(state=RequestState.APPROVED, lease__state=LeaseState.ACTIVE) & Q(
        lease__valid__overlap=(begin, end)
    )
    rows = Request.objects.annotate(begins=starts, ends=over).filter(
        pending | granted,
        requester=user,
        project=project,
        template_version__template=template,
        alters=None,
    )
    return list(rows.exclude(pk=but).select_related("lease").order_by("-pk")[:SHOWN])


def duplicates_of_request(*, request: Request) -> list[Request]:
    """The same for a request that is there."""
    if request.alters_id is not None:
        return []
    return duplicates_of(
        user=request.requester,
        project=request.project,
        template=request.template_version.template_id,
        starts_at=request.starts_at,
        seconds=request.duration_seconds,
        but=request.pk,
    )

"""Requests: one's own, one's projects', and those that wait for one's word."""

from django.db.models import QuerySet

from pool.lifecycle.requests import RequestState
from pool.lifecycle.roles import Role
from pool.models.requests import Request, RequestComment
from pool.selectors.memberships import Standing


def request_list(*, standing: Standing) -> QuerySet[Request]:
    """Requests of the projects the person may read, newest first."""
    return (
        Request.objects.filter(standing.sees())
        .select_related(
            "project__organization",
            "requester",
            "decided_by",
            "template_version__template",
            "lease",
        )
        .prefetch_related("partitions")
        .order_by("-pk")
    )


def approval_list(*, standing: Standing) -> QuerySet[Request]:
    """Requests that wait for a decision where this person decides, oldest first.

    One's own are among them, so that the page can say why they cannot be decided.
    """
    rows = request_list(standing=standing).filter(state=RequestState.SUBMITTED)
    if not standing.platform:
        led = standing.in_projects(Role.LEAD)
        admin = standing.in_organizations(Role.ORG_ADMIN)
        rows = rows.filter(project__in=led) | rows.filter(project__organization__in=admin)
    return rows.order_by("submitted_at", "pk")


def decided_list(*, standing: Standing) -> QuerySet[Request]:
    """Requests decided in the places where this person decides, newest decision first."""
    ended = [RequestState.APPROVED, RequestState.REJECTED, RequestState.RETURNED]
    rows = request_list(standing=standing).filter(state__in=ended)
    if not standing.platform:
        led = standing.in_projects(Role.LEAD)
        admin = standing.in_organizations(Role.ORG_ADMIN)
        rows = rows.filter(project__in=led) | rows.filter(project__organization__in=admin)
    return rows.order_by("-decided_at", "-pk")


def comment_list(*, request: Request) -> QuerySet[RequestComment]:
    """Words exchanged about a request, oldest first."""
    return request.comments.select_related("author").order_by("pk")

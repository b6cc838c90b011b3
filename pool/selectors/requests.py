"""Requests: one's own, one's projects', and those that wait for one's word."""

from collections.abc import Iterable

from django.db.models import OuterRef, Q, QuerySet, Subquery

from pool.lifecycle.requests import RequestState
from pool.models.requests import Request, RequestComment
from pool.models.users import User
from pool.selectors.approvals.powers import decides_where
from pool.selectors.memberships import Standing
from pool.selectors.users import people_like


def request_list(*, standing: Standing) -> QuerySet[Request]:
    """Requests of the projects the person may read, newest first."""
    return _with_names(Request.objects.filter(standing.sees()))


def request_search(rows: QuerySet[Request], text: str) -> QuerySet[Request]:
    """Those with the text in their title or their requester's name, or with that uid."""
    people = people_like(text, rows, "requester")
    return rows.filter(Q(title__icontains=text) | Q(requester__in=people) | Q(uid=text))


def decidable_list(*, standing: Standing) -> QuerySet[Request]:
    """Requests of the places where this person decides, themselves or for somebody away."""
    where = decides_where(standing_of=standing)
    return _with_names(Request.objects.all() if where is None else Request.objects.filter(where))


def _with_names(rows: QuerySet[Request]) -> QuerySet[Request]:
    """What lists show beside each."""
    joined = rows.select_related(
        "project__organization",
        "requester",
        "decided_by",
        "template_version__template",
        "lease",
        "alters",
    )
    return joined.prefetch_related("partitions").order_by("-pk")


def approval_list(*, standing: Standing) -> QuerySet[Request]:
    """Requests that wait for a decision where this person decides, oldest first.

    One's own are among them, so that the page can say why they cannot be decided.
    """
    rows = decidable_list(standing=standing).filter(state=RequestState.SUBMITTED)
    return rows.order_by("submitted_at", "pk")


def first_times(*, requests: Iterable[Request]) -> set[int]:
    """The keys of those with which their requester asked for the first time; one query."""
    found = list(requests)
    earliest = Request.objects.filter(requester=OuterRef("pk"), submitted_at__isnull=False)
    first = earliest.order_by("submitted_at").values("submitted_at")[:1]
    people = User.objects.filter(pk__in={one.requester_id for one in found})
    began = dict(people.annotate(first=Subquery(first)).values_list("pk", "first"))
    return {one.pk for one in found if one.submitted_at == began.get(one.requester_id)}


def decided_list(*, standing: Standing) -> QuerySet[Request]:
    """Requests decided in the places where this person decides, newest decision first."""
    ended = [RequestState.APPROVED, RequestState.REJECTED, RequestState.RETURNED]
    rows = decidable_list(standing=standing).filter(state__in=ended)
    return rows.order_by("-decided_at", "-pk")


def comment_list(*, request: Request) -> QuerySet[RequestComment]:
    """Words exchanged about a request, oldest first."""
    return request.comments.select_related("author").order_by("pk")

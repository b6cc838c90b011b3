"""The life of a request."""

from enum import StrEnum

from pool.lifecycle.table import Lifecycle


class RequestState(StrEnum):
    """Where a request stands."""

    DRAFT = "draft"
    SUBMITTED = "submitted"
    RETURNED = "returned"
    APPROVED = "approved"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"


R = RequestState

REQUEST = Lifecycle(
    name="request",
    first=R.DRAFT,
    moves={
        R.DRAFT: frozenset({R.SUBMITTED, R.WITHDRAWN}),
        R.SUBMITTED: frozenset({R.RETURNED, R.APPROVED, R.REJECTED, R.WITHDRAWN}),
        R.RETURNED: frozenset({R.SUBMITTED, R.WITHDRAWN}),
        R.APPROVED: frozenset(),
        R.REJECTED: frozenset(),
        R.WITHDRAWN: frozenset(),
    },
)

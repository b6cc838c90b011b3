"""Cards kept for a reserved lease, from asking to their release."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.lifecycle.leases import LeaseKind
from pool.lifecycle.reservations import ReservationState
from pool.models import Reservation
from pool.selectors.calendar.reservations import reservation_list
from pool.services.leases import lease_give_back
from pool.services.requests import request_submit, request_withdraw
from portal.access.guards import guard
from portal.access.roles import Verb
from portal.access.weights import weights_for
from portal.api.door import Listed
from portal.api.fields import Filters, FreeJSON, Given, Nothing
from portal.api.v1.references import partitions_named, project_named, template_named
from portal.api.v1.requests import MOST_SECONDS


class ReservationOut(serializers.ModelSerializer[Reservation]):
    """What is kept for whom. `cards` are their uids, empty until it is confirmed and once over."""

    request = serializers.SlugRelatedField[Any](slug_field="uid", read_only=True)
    lease = serializers.SlugRelatedField[Any](slug_field="uid", read_only=True)
    requester = serializers.CharField(source="request.requester.username")
    project = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    partition = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    starts_at = serializers.DateTimeField(source="span.lower")
    ends_at = serializers.DateTimeField(source="span.upper")
    cards = serializers.SerializerMethodField()

    class Meta:
        model = Reservation
        fields = [
            "uid",
            "request",
            "lease",
            "requester",
            "project",
            "partition",
            "starts_at",
            "ends_at",
            "cards",
            "state",
            "state_since",
            "state_reason",
            "used_at",
            "created_at",
        ]

    def get_cards(self, row: Reservation) -> list[str]:
        """Their uids."""
        return [one.card.uid for one in row.kept.all() if one.live]


class ReservationIn(Given):
    """Ask for cards to be kept: the same as a request of lease kind `reserved`. Times in seconds.

    Whole cards are kept, as few as carry `copies` of the need; they count in limits
    from `starts_at` on (left out: from the yes). Kept cards that are idle are not charged yet.
    """

    project = serializers.SlugField(max_length=63)
    template = serializers.SlugField(max_length=63)
    duration_seconds = serializers.IntegerField(min_value=60, max_value=MOST_SECONDS)
    starts_at = serializers.DateTimeField(required=False, allow_null=True, default=None)
    copies = serializers.IntegerField(min_value=1, max_value=1000, default=1)
    title = serializers.CharField(max_length=120, default="", allow_blank=True)
    purpose = serializers.CharField(max_length=4000, default="", allow_blank=True)
    need = FreeJSON(default=dict, help_text="What differs from the template.")
    partitions = serializers.ListField(
        child=serializers.SlugField(max_length=63), max_length=20, default=list
    )


class ReservationFilters(Filters):
    """Filters of the list."""

    state = serializers.ChoiceField(choices=[s.value for s in ReservationState], required=False)
    project = serializers.SlugField(max_length=63, required=False)
    partition = serializers.SlugField(max_length=63, required=False)


class ReservationDoor(Listed):
    """Reservations of the projects whose work the caller may read."""

    serializer_class = ReservationOut
    filters = ReservationFilters
    queryset = Reservation.objects.none()
    takes = {"create": ReservationIn, "cancel": Nothing}
    gives = {"create": (201, ReservationOut)}

    def rows(self) -> QuerySet[Reservation]:
        """The caller's own."""
        return reservation_list(standing=self.standing)

    def narrowed(self, rows: QuerySet[Reservation], **asked: Any) -> QuerySet[Reservation]:
        """By state, project and partition."""
        paths = {"project": "project__slug", "partition": "partition__slug"}
        return rows.filter(**{paths.get(name, name): value for name, value in asked.items()})

    def create(self, request: Request) -> Response:
        """Ask; approvers say yes to its request, then the cards are kept."""
        given = self.taken()
        project = project_named(self.standing, given.pop("project"))
        guard(self.standing, Verb.REQUEST_MAKE, project)
        version = template_named(self.standing, project, given.pop("template"))
        places = tuple(partitions_named(project, given.pop("partitions")))
        weights = weights_for(
            project=project,
            version=version,
            overrides=given["need"],
            partitions=places,
            seconds=given["duration_seconds"],
            copies=given["copies"],
        )
        asked = request_submit(
            user=self.user,
            project=project,
            template_version=version,
            partitions=places,
            weights=weights,
            actor=self.actor,
            lease_kind=LeaseKind.RESERVED,
            **given,
        )
        return self.said(self.rows().get(request=asked))

    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, uid: str) -> Response:
        """Take it back: a request that waits is withdrawn, a lease is given back with its cards."""
        row = self.one()
        asked = row.request.requester_id == self.user.pk
        guard(self.standing, Verb.REQUEST_MAKE if asked else Verb.LEASE_GIVE_BACK, row.project)
        self.taken()
        if row.lease is not None:
            lease_give_back(lease=row.lease, actor=self.actor)
        else:
            request_withdraw(request=row.request, user=self.user, actor=self.actor)
        return self.said(self.one())

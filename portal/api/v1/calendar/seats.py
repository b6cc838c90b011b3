"""Licence seats: so many holders of a mode at a time."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from nodeagent.protocol.vocabulary import Mode
from pool.models import Seats
from pool.selectors.calendar.seats import seats_list
from pool.services.calendar.seats import MOST, seats_remove, seats_set
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Filters, Given
from portal.api.v1.references import organization_named, partition_named


class SeatsOut(serializers.ModelSerializer[Seats]):
    """`used` of `total` seats are held now; without organization or partition they bind all."""

    organization = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    partition = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    used = serializers.IntegerField()

    class Meta:
        model = Seats
        fields = ["uid", "name", "mode", "total", "used", "organization", "partition", "changed_at"]


class SeatsIn(Given):
    """Sets the seats of a mode there, new or known."""

    name = serializers.CharField(max_length=120)
    mode = serializers.ChoiceField(choices=[m.value for m in Mode])
    total = serializers.IntegerField(min_value=0, max_value=MOST)
    organization = serializers.SlugField(max_length=63, required=False)
    partition = serializers.SlugField(max_length=63, required=False)


class SeatsFilters(Filters):
    """Filters of the list."""

    mode = serializers.ChoiceField(choices=[m.value for m in Mode], required=False)


class SeatsDoor(Listed):
    """Seats that bind the caller; a platform admin sets them."""

    serializer_class = SeatsOut
    filters = SeatsFilters
    queryset = Seats.objects.none()
    takes = {"create": SeatsIn}
    gives = {"create": (201, SeatsOut), "destroy": (204, None)}

    def rows(self) -> QuerySet[Seats]:
        """Those of everybody and of the caller's organizations."""
        return seats_list(standing=self.standing)

    def create(self, request: Request) -> Response:
        """Set how many there are; fewer stop nothing that runs."""
        self.allow(Verb.SEATS_MANAGE)
        given = self.taken()
        if "organization" in given:
            given["organization"] = organization_named(self.standing, given["organization"])
        if "partition" in given:
            given["partition"] = partition_named(self.standing, given["partition"])
        row = seats_set(actor=self.actor, **given)
        return self.said(self.rows().get(pk=row.pk))

    def destroy(self, request: Request, uid: str) -> Response:
        """They bind nobody any more."""
        row = self.one()
        self.allow(Verb.SEATS_MANAGE)
        seats_remove(seats=row, actor=self.actor)
        return self.said(row)

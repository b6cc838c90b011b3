"""Approved requests with an end."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.lifecycle.leases import LeaseKind, LeaseState
from pool.models import Lease
from pool.selectors.leases import lease_list
from pool.selectors.requests import request_list
from pool.services.extensions import lease_extension_ask
from pool.services.leases import lease_give_back
from portal.access.guards import guard
from portal.access.roles import Verb
from portal.access.weights import weights_for
from portal.api.door import UID, Listed
from portal.api.fields import Filters, Given, Nothing
from portal.api.v1.requests import MOST_SECONDS, RequestOut


class LeaseOut(serializers.ModelSerializer[Lease]):
    """The right to hold `copies` times `need` in a project until `ends_at`."""

    request = serializers.SlugRelatedField[Any](slug_field="uid", read_only=True)
    requester = serializers.CharField(source="request.requester.username")
    project = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    template = serializers.CharField(source="template_version.template.slug")
    need = serializers.DictField()
    starts_at = serializers.DateTimeField(source="valid.lower")
    ends_at = serializers.DateTimeField(source="valid.upper")

    class Meta:
        model = Lease
        fields = [
            "uid",
            "request",
            "requester",
            "project",
            "template",
            "need",
            "copies",
            "kind",
            "starts_at",
            "ends_at",
            "state",
            "state_since",
        ]


class ExtendIn(Given):
    """So many seconds after the lease's end, and why."""

    seconds = serializers.IntegerField(min_value=60, max_value=MOST_SECONDS)
    purpose = serializers.CharField(max_length=4000, default="", allow_blank=True)


class LeaseFilters(Filters):
    """Filters of the list."""

    state = serializers.ChoiceField(choices=[s.value for s in LeaseState], required=False)
    kind = serializers.ChoiceField(choices=[k.value for k in LeaseKind], required=False)
    project = serializers.SlugField(max_length=63, required=False)
    request = serializers.RegexField(f"^{UID}$", required=False)


class LeaseDoor(Listed):
    """Leases of the projects whose work the caller may read."""

    serializer_class = LeaseOut
    filters = LeaseFilters
    queryset = Lease.objects.none()
    takes = {"give_back": Nothing, "extend": ExtendIn}
    gives = {"extend": (201, RequestOut)}

    @action(detail=True, methods=["post"], url_path="give-back")
    def give_back(self, request: Request, uid: str) -> Response:
        """End it early; running work goes on for its grace, as low priority."""
        lease = self.one()
        asked = lease.request.requester_id == self.user.pk
        guard(self.standing, Verb.REQUEST_MAKE if asked else Verb.LEASE_GIVE_BACK, lease.project)
        self.taken()
        lease_give_back(lease=lease, actor=self.actor)
        return self.said(self.one())

    @action(detail=True, methods=["post"])
    def extend(self, request: Request, uid: str) -> Response:
        """Ask for more time: a request of its own that begins where the lease ends."""
        lease = self.one()
        guard(self.standing, Verb.REQUEST_MAKE, lease.project)
        given = self.taken()
        weights = weights_for(
            project=lease.project,
            version=lease.template_version,
            overrides=lease.need,
            partitions=list(lease.partitions.all()),
            seconds=given["seconds"],
            copies=lease.copies,
        )
        asked = lease_extension_ask(
            lease=lease, user=self.user, actor=self.actor, weights=weights, **given
        )
        return self.said(request_list(standing=self.standing).get(pk=asked.pk))

    def rows(self) -> QuerySet[Lease]:
        """The caller's own."""
        return lease_list(standing=self.standing)

    def narrowed(self, rows: QuerySet[Lease], **asked: Any) -> QuerySet[Lease]:
        """By state, kind, project and request."""
        paths = {"project": "project__slug", "request": "request__uid"}
        return rows.filter(**{paths.get(name, name): value for name, value in asked.items()})

"""Approved requests with an end."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.clock import now
from pool.lifecycle.leases import LeaseKind, LeaseState
from pool.models import Lease
from pool.selectors.leases import lease_list, lease_search
from pool.selectors.requests import request_list
from pool.services.extensions import lease_extension_ask, lease_resize_ask
from pool.services.leases import lease_give_back, lease_recall
from portal.access.guards import guard
from portal.access.roles import Verb
from portal.access.weights import weights_for
from portal.api.door import UID, Listed
from portal.api.fields import Filters, FreeJSON, Given, Nothing
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
            "recalled_at",
            "recall_reason",
        ]


class ExtendIn(Given):
    """So many seconds after the lease's end, and why."""

    seconds = serializers.IntegerField(min_value=60, max_value=MOST_SECONDS)
    purpose = serializers.CharField(max_length=4000, default="", allow_blank=True)


class ResizeIn(Given):
    """Another number of copies, another need, or both; what is left out stays."""

    copies = serializers.IntegerField(min_value=1, max_value=1000, required=False)
    need = FreeJSON(default=dict)
    purpose = serializers.CharField(max_length=4000, default="", allow_blank=True)


class RecallIn(Given):
    """The new end, and why: whoever asked for the lease is told."""

    ends_at = serializers.DateTimeField()
    reason = serializers.CharField(max_length=200)


class LeaseFilters(Filters):
    """Filters of the list."""

    state = serializers.ChoiceField(choices=[s.value for s in LeaseState], required=False)
    kind = serializers.ChoiceField(choices=[k.value for k in LeaseKind], required=False)
    project = serializers.SlugField(max_length=63, required=False)
    request = serializers.RegexField(f"^{UID}$", required=False)
    requester = serializers.CharField(max_length=150, required=False)


class LeaseDoor(Listed):
    """Leases of the projects whose work the caller may read."""

    serializer_class = LeaseOut
    filters = LeaseFilters
    sorts = {"ends": "ends", "copies": "copies"}
    searched = ("title", "requester", "uid")
    queryset = Lease.objects.none()
    takes = {
        "give_back": Nothing,
        "extend": ExtendIn,
        "resize": ResizeIn,
        "recall": RecallIn,
    }
    gives = {"extend": (201, RequestOut), "resize": (201, RequestOut)}

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
        """Ask for more time: a request; its yes makes the lease longer, until then it stays."""
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

    @action(detail=True, methods=["post"])
    def resize(self, request: Request, uid: str) -> Response:
        """Ask for another size until the same end; its yes puts a new lease in its place."""
        lease = self.one()
        guard(self.standing, Verb.REQUEST_MAKE, lease.project)
        given = self.taken()
        weights = weights_for(
            project=lease.project,
            version=lease.template_version,
            overrides={**lease.need, **given["need"]},
            partitions=list(lease.partitions.all()),
            seconds=max(60, int((lease.valid.upper - now()).total_seconds())),
            copies=given.get("copies") or lease.copies,
        )
        asked = lease_resize_ask(
            lease=lease, user=self.user, actor=self.actor, weights=weights, **given
        )
        return self.said(request_list(standing=self.standing).get(pk=asked.pk))

    @action(detail=True, methods=["post"])
    def recall(self, request: Request, uid: str) -> Response:
        """Bring its end forward, with notice and a reason."""
        lease = self.one()
        guard(self.standing, Verb.LEASE_RECALL, lease.project)
        lease_recall(lease=lease, actor=self.actor, **self.taken())
        return self.said(self.one())

    def rows(self) -> QuerySet[Lease]:
        """The caller's own."""
        return lease_list(standing=self.standing)

    def found(self, rows: QuerySet[Lease], text: str) -> QuerySet[Lease]:
        """By title, requester or uid."""
        return lease_search(rows, text)

    def narrowed(self, rows: QuerySet[Lease], **asked: Any) -> QuerySet[Lease]:
        """By state, kind, project, request and whose it was."""
        paths = {
            "project": "project__slug",
            "request": "request__uid",
            "requester": "request__requester__username",
        }
        return rows.filter(**{paths.get(name, name): value for name, value in asked.items()})

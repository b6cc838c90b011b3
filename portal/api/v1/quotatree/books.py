"""Counters that were off, leases that stand unused, and notices that they are cut back."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.errors import NotYours
from pool.lifecycle.targets import CutbackState
from pool.models import Cutback, QuotaDrift
from pool.selectors.quotatree.history import cutback_list, drift_list, unused_leases
from pool.services.quotatree.cutbacks import cutback_withdraw
from pool.services.quotatree.drift import drift_repair, drifts_swept
from portal.access.roles import Verb
from portal.api.door import Listed, Listing
from portal.api.fields import Filters, Given, Nothing
from portal.api.v1.leases import LeaseOut


class DriftOut(serializers.ModelSerializer[QuotaDrift]):
    """What a row said it holds, and what was counted; repaired when two looks agreed."""

    quota = serializers.SlugRelatedField[Any](slug_field="uid", read_only=True)

    class Meta:
        model = QuotaDrift
        fields = ["quota", "held", "counted", "seen_at", "repaired_at", "repaired_by", "passed_at"]


class SweptOut(serializers.Serializer[Any]):
    """Rows that stand wrong, were repaired, or are right again by themselves."""

    seen = serializers.IntegerField()
    repaired = serializers.IntegerField()
    passed = serializers.IntegerField()


class RepairIn(Given):
    """The uid of the quota row that is to be repaired."""

    quota = serializers.CharField(max_length=48)


class DriftDoor(Listing):
    """The report of drift, newest first; a platform admin's."""

    serializer_class = DriftOut
    queryset = QuotaDrift.objects.none()
    takes = {"sweep": Nothing, "repair": RepairIn}
    gives = {"sweep": (200, SweptOut)}

    def rows(self) -> QuerySet[QuotaDrift]:
        """All of them."""
        self.allow(Verb.QUOTA_SET)
        return drift_list()

    @action(detail=False, methods=["post"])
    def sweep(self, request: Request) -> Response:
        """Look at every row now; what was found alike a minute ago is repaired."""
        self.allow(Verb.QUOTA_SET)
        self.taken()
        return self.said(drifts_swept(actor=self.actor))

    @action(detail=False, methods=["post"])
    def repair(self, request: Request) -> Response:
        """Repair one row now, if it still stands as it was found; then its line of the report."""
        self.allow(Verb.QUOTA_SET)
        wanted = self.taken()["quota"]
        row = drift_list().filter(quota__uid=wanted, repaired_at=None, passed_at=None).first()
        if row is None:
            raise NotYours
        drift_repair(drift=row, actor=self.actor)
        row.refresh_from_db()
        return self.said(row)


class CutbackOut(serializers.ModelSerializer[Cutback]):
    """A lease used too little: it keeps `keeps` of `copies` from `due_at`, 0 ends it."""

    lease = serializers.SlugRelatedField[Any](slug_field="uid", read_only=True)
    project = serializers.CharField(source="lease.project.slug")

    class Meta:
        model = Cutback
        fields = [
            *("uid", "lease", "project", "used_milli", "copies", "keeps", "due_at"),
            *("state", "state_since", "state_reason", "created_at"),
        ]


class CutbackFilters(Filters):
    """Filters of the list."""

    state = serializers.ChoiceField(choices=[s.value for s in CutbackState], required=False)


class KeepIn(Given):
    """Why the lease is let be."""

    reason = serializers.CharField(max_length=200)


class CutbackDoor(Listed):
    """Notices about leases of the projects that the caller may read, newest first."""

    serializer_class = CutbackOut
    filters = CutbackFilters
    queryset = Cutback.objects.none()
    takes = {"keep": KeepIn}
    gives = {"unused": (200, LeaseOut)}

    def rows(self) -> QuerySet[Cutback]:
        """The caller's own."""
        return cutback_list(standing=self.standing)

    @action(detail=False, methods=["get"])
    def unused(self, request: Request) -> Response:
        """The newest fifty leases in force under which nothing ran for a day."""
        rows = unused_leases(standing=self.standing)[:50]
        shown = LeaseOut(rows, many=True, context=self.get_serializer_context())
        return Response({"results": shown.data, "next": None, "previous": None})

    @action(detail=True, methods=["post"])
    def keep(self, request: Request, uid: str) -> Response:
        """Let the lease be; a platform admin says so."""
        row = self.one()
        self.allow(Verb.QUOTA_SET)
        return self.said(cutback_withdraw(cutback=row, actor=self.actor, **self.taken()))

"""Several requests decided by one call, and decisions taken back before they take effect."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request as Call
from rest_framework.response import Response

from pool.errors import Forbidden, Invalid
from pool.models import Request
from pool.selectors.approvals.powers import decides_anywhere
from pool.selectors.requests import approval_list, decidable_list
from pool.selectors.together import requests_check_together
from pool.services.decisions import UNDO_SECONDS, request_undo
from pool.services.together import MOST, requests_approve, requests_undo
from portal.access.guards import guard
from portal.access.roles import Verb
from portal.api.door import UID, Door
from portal.api.fields import Given, Nothing


class ReadIn(Given):
    """One request as it was read."""

    uid = serializers.RegexField(rf"^{UID}$", max_length=40)
    revision = serializers.IntegerField(min_value=1, max_value=2**31 - 1)


class TogetherIn(Given):
    """Up to fifty requests. With `delay_seconds` the yes takes effect later and can be undone."""

    requests = serializers.ListField(child=ReadIn(), min_length=1, max_length=MOST)
    delay_seconds = serializers.IntegerField(min_value=0, max_value=UNDO_SECONDS, default=0)


class NamedIn(Given):
    """Up to fifty requests by uid."""

    requests = serializers.ListField(
        child=serializers.RegexField(rf"^{UID}$", max_length=40), min_length=1, max_length=MOST
    )


class SumOut(serializers.Serializer[Any]):
    """One quota row before and after all of them, in its unit; `over` is what passes the limit."""

    tenant = serializers.CharField()
    of = serializers.CharField()
    partition = serializers.CharField(source="partition.slug")
    card_model = serializers.CharField()
    unit = serializers.CharField()
    limit = serializers.IntegerField()
    before = serializers.IntegerField()
    after = serializers.IntegerField()
    over = serializers.IntegerField()


class SumsOut(serializers.Serializer[Any]):
    """Whether their sum fits every limit and entitlement, and the sums."""

    fits = serializers.BooleanField()
    changes = SumOut(many=True)


class DecidedOut(serializers.Serializer[Any]):
    """Each request as it now stands."""

    uid = serializers.CharField()
    state = serializers.CharField()
    step = serializers.IntegerField()
    revision = serializers.IntegerField()
    pending_until = serializers.DateTimeField(allow_null=True)


class DecidedTogetherOut(serializers.Serializer[Any]):
    """All of them, in the order of their keys."""

    results = DecidedOut(many=True)


TAKES: dict[str, type[Given]] = {
    "approve_together": TogetherIn,
    "check_together": NamedIn,
    "undo_together": NamedIn,
    "undo": Nothing,
}
GIVES: dict[str, tuple[int, type[serializers.BaseSerializer[Any]] | None]] = {
    "approve_together": (200, DecidedTogetherOut),
    "check_together": (200, SumsOut),
    "undo_together": (200, DecidedTogetherOut),
}


class DecidesTogether(Door):
    """What the inbox does with several requests at once; nothing is kept if one is refused."""

    @action(detail=False, methods=["post"], url_path="approve-together")
    def approve_together(self, request: Call) -> Response:
        """One yes to all of them as they were read, or to none; their sum is checked first."""
        given = self.taken()
        revisions = {one["uid"]: one["revision"] for one in given["requests"]}
        requests_approve(
            requests=self._waiting(list(revisions)),
            revisions=revisions,
            user=self.user,
            actor=self.actor,
            delay_s=given["delay_seconds"],
        )
        return self._told(list(revisions))

    @action(detail=False, methods=["post"], url_path="check-together")
    def check_together(self, request: Call) -> Response:
        """What one yes to all of them would change, row by row; nothing is written."""
        picked = self._waiting(self.taken()["requests"])
        return self.said(requests_check_together(requests=picked))

    @action(detail=False, methods=["post"], url_path="undo-together")
    def undo_together(self, request: Call) -> Response:
        """Take one yes back from all of them, while it has not taken effect."""
        uids = self.taken()["requests"]
        requests_undo(requests=self._waiting(uids), user=self.user, actor=self.actor)
        return self._told(uids)

    @action(detail=True, methods=["post"])
    def undo(self, request: Call, uid: str) -> Response:
        """Take one's own decision back, while it has not taken effect."""
        asked = decidable_list(standing=self.standing).filter(uid=uid).first()
        if asked is None:
            asked = self.one()
            guard(self.standing, Verb.REQUEST_DECIDE, asked)
        self.taken()
        made = request_undo(request=asked, user=self.user, actor=self.actor)
        return self.said(decidable_list(standing=self.standing).get(pk=made.pk))

    def _waiting(self, uids: Sequence[str]) -> list[Request]:
        """The named ones, all of which wait where the caller decides.

        Raises:
            Forbidden: the caller decides nowhere.
            Invalid: one of them does not wait there.
        """
        if not decides_anywhere(standing=self.standing):
            raise Forbidden
        wanted = set(uids)
        found = list(approval_list(standing=self.standing).filter(uid__in=wanted))
        if len(found) != len(wanted):
            raise Invalid(requests=_("Some of them do not wait for you; nothing was done."))
        return found

    def _told(self, uids: Sequence[str]) -> Response:
        rows = decidable_list(standing=self.standing).filter(uid__in=uids).order_by("pk")
        return self.said({"results": rows})

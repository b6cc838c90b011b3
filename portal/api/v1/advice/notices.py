"""One's notices."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.models import Notice
from pool.rules.notices import NoticeKind
from pool.selectors.approvals.notices import notice_list, notices_unread
from pool.services.notices.choices import notice_read
from portal.api.door import UID, Listing
from portal.api.fields import Filters, Given
from portal.notices.words import words_of


class NoticeOut(serializers.ModelSerializer[Notice]):
    """One sentence in the caller's language; `about` is `noun:uid`."""

    text = serializers.SerializerMethodField()

    class Meta:
        model = Notice
        fields = ["uid", "kind", "about", "text", "at", "read_at"]

    def get_text(self, row: Notice) -> str:
        """The sentence, its times in the caller's zone."""
        return words_of(row, row.user.zone)


class ReadIn(Given):
    """Which; without any all are marked."""

    uids = serializers.ListField(
        child=serializers.RegexField(f"^{UID}$"), max_length=1000, required=False
    )


class ReadOut(serializers.Serializer[Any]):
    """How many are not read now."""

    unread = serializers.IntegerField()


class NoticeFilters(Filters):
    """Filters of the list."""

    kind = serializers.ChoiceField(choices=[k.value for k in NoticeKind], required=False)
    unread = serializers.BooleanField(required=False, default=False)


class NoticeDoor(Listing):
    """The caller's own notices, newest first."""

    serializer_class = NoticeOut
    filters = NoticeFilters
    queryset = Notice.objects.none()
    takes = {"read": ReadIn}
    gives = {"read": (200, ReadOut)}

    def rows(self) -> QuerySet[Notice]:
        """The caller's own."""
        return notice_list(user=self.user).select_related("user")

    def narrowed(self, rows: QuerySet[Notice], **asked: Any) -> QuerySet[Notice]:
        """By kind, and to those not read."""
        rows = rows.filter(read_at=None) if asked.pop("unread", False) else rows
        return rows.filter(**asked)

    @action(detail=False, methods=["post"])
    def read(self, request: Request) -> Response:
        """Mark some, or all, as read."""
        notice_read(user=self.user, uids=self.taken().get("uids"))
        return self.said({"unread": notices_unread(user=self.user)})

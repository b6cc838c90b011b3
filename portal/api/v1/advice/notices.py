"""One's notices, how one wants to hear of them, and a receiver of one's own."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.models import Notice, NoticeHook
from pool.rules.notices import Channel, How, NoticeKind
from pool.selectors.approvals.notices import notice_choices, notice_list, notices_unread
from pool.services.notices.choices import notice_choose, notice_hook_set, notice_read
from portal.api.door import UID, Listing
from portal.api.fields import Filters, Given
from portal.notices.hooks import secret_new
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


class NoticesReadIn(Given):
    """Which; without any all are marked."""

    uids = serializers.ListField(
        child=serializers.RegexField(f"^{UID}$"), max_length=1000, required=False
    )


class NoticesReadOut(serializers.Serializer[Any]):
    """How many are not read now."""

    unread = serializers.IntegerField()


class NoticeChoiceShape(Given):
    """How one kind comes by one channel; the inbox always has all."""

    kind = serializers.ChoiceField(choices=[k.value for k in NoticeKind])
    channel = serializers.ChoiceField(choices=[c.value for c in Channel])
    how = serializers.ChoiceField(choices=[h.value for h in How])


class NoticeChoicesIn(Given):
    """What changes; kinds and channels that are not named stay as they are."""

    choices = NoticeChoiceShape(many=True, allow_empty=False)


class NoticeChoicesOut(serializers.Serializer[Any]):
    """Every kind by every channel, as it holds now."""

    choices = NoticeChoiceShape(many=True)


class NoticeReceiverIn(Given):
    """Where notices are sent as JSON too; an empty address ends it."""

    url = serializers.CharField(max_length=500, allow_blank=True)


class NoticeReceiverOut(serializers.Serializer[Any]):
    """The address; `secret` signs what is sent, and is told only when it is set."""

    url = serializers.CharField(allow_blank=True)
    secret = serializers.CharField(required=False)


class NoticeFilters(Filters):
    """Filters of the list."""

    kind = serializers.ChoiceField(choices=[k.value for k in NoticeKind], required=False)
    unread = serializers.BooleanField(required=False, default=False)


class NoticeDoor(Listing):
    """The caller's own notices, newest first."""

    serializer_class = NoticeOut
    filters = NoticeFilters
    queryset = Notice.objects.none()
    told_once = ("secret",)
    takes = {"read": NoticesReadIn, "choose": NoticeChoicesIn, "receive": NoticeReceiverIn}
    gives = {
        "read": (200, NoticesReadOut),
        "choices": (200, NoticeChoicesOut),
        "choose": (200, NoticeChoicesOut),
        "receiver": (200, NoticeReceiverOut),
        "receive": (200, NoticeReceiverOut),
    }

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

    @action(detail=False, methods=["get"])
    def choices(self, request: Request) -> Response:
        """How the caller hears each kind by mail and by their receiver."""
        return self.said(self._chosen())

    @action(detail=False, methods=["post"])
    def choose(self, request: Request) -> Response:
        """Hear kinds at once, once a day, or not at all."""
        named = {
            (NoticeKind(one["kind"]), Channel(one["channel"])): How(one["how"])
            for one in self.taken()["choices"]
        }
        notice_choose(user=self.user, choices=named, actor=self.actor)
        return self.said(self._chosen())

    @action(detail=False, methods=["get"])
    def receiver(self, request: Request) -> Response:
        """Where the caller's notices are sent; empty where nowhere."""
        found = NoticeHook.objects.filter(user=self.user).first()
        return self.said({"url": found.url if found else ""})

    @action(detail=False, methods=["post"])
    def receive(self, request: Request) -> Response:
        """Send the caller's notices there too, signed with a new secret."""
        url = self.taken()["url"]
        plain, sealed = secret_new()
        made = notice_hook_set(user=self.user, url=url, secret=sealed, actor=self.actor)
        return self.said({"url": made.url, "secret": plain} if made else {"url": ""})

    def _chosen(self) -> dict[str, list[dict[str, str]]]:
        rows = notice_choices(user=self.user)
        return {
            "choices": [
                {"kind": str(kind), "channel": str(channel), "how": str(how)}
                for (kind, channel), how in rows.items()
            ]
        }

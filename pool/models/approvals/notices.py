"""What people are told, by which ways it reaches them, and what they want to hear."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from pool.models.ids import UidField
from pool.rules.notices import Channel, How, NoticeKind


class Notice(models.Model):
    """One sentence for one person; `key` makes it come once however often its cause repeats.

    `text` is an English sentence of the catalogue and `values` fill its holes, so that it is read
    in the reader's language. `about` names what it is about, as `noun:uid`.
    """

    uid = UidField(prefix="nt")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notices"
    )
    kind = models.CharField(max_length=24)
    about = models.CharField(max_length=80)
    key = models.CharField(max_length=200)
    text = models.CharField(max_length=400)
    values = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now_add=True)
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(name="notice_once", fields=["user", "key"]),
            models.CheckConstraint(
                name="notice_kind_known", condition=Q(kind__in=sorted(NoticeKind))
            ),
        ]
        indexes = [
            models.Index(fields=["user", "-id"], name="notice_by_user"),
            models.Index(fields=["user"], condition=Q(read_at=None), name="notice_unread"),
        ]

    def __str__(self) -> str:
        return f"{self.user}: {self.key}"


class NoticeDelivery(models.Model):
    """A notice on its way out of the house; sent, given up, or due at `due_at`.

    `claimed_at` is when a sender took it; one that died leaves it to the next after a while.
    """

    notice = models.ForeignKey(Notice, on_delete=models.CASCADE, related_name="deliveries")
    channel = models.CharField(max_length=8)
    due_at = models.DateTimeField()
    tries = models.PositiveSmallIntegerField(default=0)
    claimed_at = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    given_up_at = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(name="notice_delivery_once", fields=["notice", "channel"]),
            models.CheckConstraint(
                name="notice_delivery_channel_known", condition=Q(channel__in=sorted(Channel))
            ),
            models.CheckConstraint(
                name="notice_delivery_ends_one_way",
                condition=Q(sent_at=None) | Q(given_up_at=None),
            ),
        ]
        indexes = [
            models.Index(
                fields=["due_at"],
                condition=Q(sent_at=None, given_up_at=None),
                name="notice_delivery_due",
            )
        ]

    def __str__(self) -> str:
        return f"{self.notice} by {self.channel}"


class NoticeChoice(models.Model):
    """How one person wants one kind of notice by one channel; without a row the default holds."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notice_choices"
    )
    kind = models.CharField(max_length=24)
    channel = models.CharField(max_length=8)
    how = models.CharField(max_length=8)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(name="notice_choice_once", fields=["user", "kind", "channel"]),
            models.CheckConstraint(
                name="notice_choice_known",
                condition=Q(
                    kind__in=sorted(NoticeKind), channel__in=sorted(Channel), how__in=sorted(How)
                ),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user}: {self.kind} by {self.channel} {self.how}"


class NoticeHook(models.Model):
    """The address of a person's own receiver; `secret` is encrypted and signs what is sent."""

    uid = UidField(prefix="nh")
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notice_hook"
    )
    url = models.CharField(max_length=500)
    secret = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.url

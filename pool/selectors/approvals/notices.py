"""A person's notices, and how they hear of them."""

from django.db.models import QuerySet

from pool.models.approvals.notices import Notice, NoticeChoice
from pool.models.users import User
from pool.rules.notices import Channel, How, NoticeKind, default_how


def notice_list(*, user: User) -> QuerySet[Notice]:
    """The person's own, newest first."""
    return Notice.objects.filter(user=user).order_by("-pk")


def notices_unread(*, user: User) -> int:
    """How many of them wait to be read."""
    return Notice.objects.filter(user=user, read_at=None).count()


def notice_choices(*, user: User) -> dict[tuple[NoticeKind, Channel], How]:
    """How the person hears each kind by each channel, the defaults filled in."""
    said = {
        (NoticeKind(row.kind), Channel(row.channel)): How(row.how)
        for row in NoticeChoice.objects.filter(user=user)
    }
    return {
        (kind, channel): said.get((kind, channel), default_how(kind, channel))
        for kind in NoticeKind
        for channel in Channel
    }

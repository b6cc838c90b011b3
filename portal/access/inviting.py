"""An invitation goes out: the row, and the mail with its link, once the row is there."""

from typing import Any
from urllib.parse import urljoin

import structlog
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from pool.events import Actor
from pool.models import Invitation, User
from pool.rules.notices import NoticeKind
from pool.rules.problems import marked
from pool.services.notices.send import notice_send
from pool.services.people.invitations import invitation_send

log = structlog.get_logger(__name__)


@transaction.atomic
def invite(*, user: User, actor: Actor, **words: Any) -> tuple[Invitation, str]:
    """Invite somebody; the row and the link that was mailed to them.

    A mail server that is away costs the mail, not the invitation: its link can be given by hand.

    Raises:
        Invalid, TooMany: as `invitation_send`.
    """
    row, secret = invitation_send(user=user, actor=actor, **words)
    link = urljoin(settings.PUBLIC_URL or "/", reverse("invitation", args=[secret]))
    mail = _mail(row, link, str(user))
    transaction.on_commit(lambda: _send(mail, row), robust=True)
    return row, link


def _mail(row: Invitation, link: str, host: str) -> EmailMessage:
    place = row.project or row.organization
    words = {"host": host, "place": place, "site": settings.SITE_NAME, "link": link}
    lines = [
        _("%(host)s invites you to %(place)s on the %(site)s.") % words,
        row.message,
        _("Open this link to accept. It works once, until %(end)s (UTC):")
        % {"end": f"{row.expires_at:%Y-%m-%d %H:%M}"},
        link,
    ]
    subject = _("Invitation to %(place)s") % words
    body = "\n\n".join(line for line in lines if line)
    return EmailMessage(" ".join(subject.split()), body, settings.DEFAULT_FROM_EMAIL, [row.email])


def _send(mail: EmailMessage, row: Invitation) -> None:
    """The link's secret is kept nowhere, so a lost mail cannot go again: its sender is told."""
    try:
        mail.send()
    except OSError as away:
        log.warning("invitation.mail_lost", invitation=row.uid, reason=repr(away))
        place = row.project or row.organization
        assert place is not None
        notice_send(
            kind=NoticeKind.PEOPLE,
            to=[row.invited_by],
            about=place,
            text=marked(
                "The mail with your invitation of %(email)s to %(place)s could not be sent. Give"
                " the link by hand, or invite again."
            ),
            key=f"invitation-lost:{row.uid}",
            email=row.email,
            place=str(place),
        )

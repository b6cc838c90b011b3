"""Letters: one notice, or all of a day, in the reader's language."""

from collections.abc import Sequence

from django.conf import settings
from django.core.mail import EmailMessage
from django.utils import translation
from django.utils.translation import gettext as _

from pool.models.approvals.notices import Notice
from pool.models.users import User
from portal.notices.words import address_of, words_of


def letter_send(*, reader: User, notices: Sequence[Notice]) -> None:
    """One letter with all of them, newest last; its id is that of the first, so that a letter sent
    twice after a crash is one letter to a mailbox.

    Raises:
        OSError, smtplib.SMTPException: the mail server did not take it.
    """
    with translation.override(reader.language or settings.LANGUAGE_CODE):
        said = [(words_of(one, reader.zone), address_of(one)) for one in notices]
        subject = _one_line(said[0][0])
        if len(said) > 1:
            subject = _("%(n)d notices") % {"n": len(said)}
        body = "\n\n".join(f"{text}\n{address}" for text, address in said)
        foot = _("Choose what you are told:") + f" {settings.PUBLIC_URL.rstrip('/')}/notices/ways/"
        message = EmailMessage(
            subject=f"[{settings.SITE_NAME}] {subject}",
            body=f"{body}\n\n-- \n{foot}\n",
            to=[reader.email],
            headers={
                "Message-ID": f"<{notices[0].uid}@gpupool>",
                "Auto-Submitted": "auto-generated",
            },
        )
    message.send()


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 120 else line[:119] + "…"

"""People's own settings."""

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from pool.errors import Invalid
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models.users import User

CHOSEN = ("display_name", "language", "zone")
"""What a person may change about themselves."""


@transaction.atomic
def user_edit(*, user: User, actor: Actor, **words: str) -> User:
    """Change what is given of CHOSEN; the same again changes nothing and is not recorded.

    Raises:
        Invalid: an unknown setting, language or time zone, or a name over 120 characters.
    """
    wrong = {name: said for name, text in words.items() if (said := _wrong(name, text))}
    if wrong:
        raise Invalid(**wrong)
    locked = User.objects.select_for_update().get(pk=user.pk)
    changed = {name: text for name, text in words.items() if getattr(locked, name) != text}
    if changed:
        for name, text in changed.items():
            setattr(locked, name, text)
            setattr(user, name, text)
        locked.save(update_fields=list(changed))
        record(EventKind.USER_CHANGED, locked, actor=actor, changed=sorted(changed))
    return locked


def _wrong(name: str, text: str) -> str:
    """What is wrong with one setting; empty when nothing is."""
    if name not in CHOSEN:
        return _("This is not yours to set.")
    if name == "display_name" and len(text) > 120:
        return _("At most 120 characters.")
    if name == "language" and text and text not in dict(settings.LANGUAGES):
        return _("This language is not there.")
    return _("There is no such time zone.") if name == "zone" and not _zone(text) else ""


def _zone(text: str) -> bool:
    try:
        return not text or bool(ZoneInfo(text))
    except (ZoneInfoNotFoundError, ValueError):
        return False

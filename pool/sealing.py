"""Values sealed at rest: Fernet under the site's keys, the first seals, any of them opens."""

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.utils.translation import gettext as _

from pool.errors import PoolError


class NoKey(PoolError):
    """The site has no key for secrets; an administrator sets SECRET_KEYS."""

    code = "no_secret_key"
    status = 503

    def __str__(self) -> str:
        return _("This installation has no key for secrets yet: its administrator sets one.")


class CannotOpen(Exception):
    """None of the site's keys opens the value: a key was lost."""


def seal(value: str) -> str:
    """The value as text that says nothing without the key.

    Raises:
        NoKey: the site has none.
    """
    return _box().encrypt(value.encode()).decode("ascii")


def unseal(sealed: str) -> str:
    """The value again.

    Raises:
        CannotOpen: no key opens it.
        NoKey: the site has none.
    """
    try:
        return _box().decrypt(sealed.encode("ascii")).decode()
    except InvalidToken:
        raise CannotOpen from None


def _box() -> MultiFernet:
    keys = [one for one in getattr(settings, "SECRET_KEYS", ()) if one]
    if not keys:
        raise NoKey
    return MultiFernet([Fernet(_key(one)) for one in keys])


def _key(text: str) -> bytes:
    """A site's key may be any long random text: its hash has the length that Fernet wants."""
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest())

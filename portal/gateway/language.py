"""The language somebody at the gateway reads: what they chose, else what their browser asks."""

from django.conf import settings
from django.utils.translation import get_supported_language_variant
from django.utils.translation.trans_real import parse_accept_lang_header

from portal.gateway import headers


def language_of(chosen: str, pairs: headers.Pairs) -> str:
    """One of the languages of the product."""
    asked = parse_accept_lang_header(headers.first(pairs, b"accept-language"))
    for name in (chosen, *(name for name, _weight in asked)):
        try:
            return get_supported_language_variant(name) if name else _unknown()
        except LookupError:
            continue
    return settings.LANGUAGE_CODE


def _unknown() -> str:
    raise LookupError

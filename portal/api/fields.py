"""What clients may say: strict serializers. An unknown field is an error, not a wish ignored."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers


class Given(serializers.Serializer[Any]):
    """Input. Every field that is not named is refused, so that a typing error is seen."""

    def to_internal_value(self, data: Any) -> Any:
        """The values, checked.

        Raises:
            ValidationError: a field is wrong or unknown.
        """
        if isinstance(data, Mapping):
            unknown = {str(key)[:80] for key in data if key not in self.fields}
            if unknown:
                raise serializers.ValidationError({k: [_("Unknown field.")] for k in unknown})
        return super().to_internal_value(data)


class Filters(Given):
    """The filters of one list. Named here, or refused."""


class Nothing(Given):
    """A verb that takes no input."""


class Reason(Given):
    """A verb that may be given a reason."""

    reason = serializers.CharField(max_length=4000, required=False, allow_blank=True, default="")


class Refusal(serializers.Serializer[Any]):
    """Every refusal: a code to match on, a sentence for people, details by field or by name."""

    code = serializers.CharField()
    message = serializers.CharField()
    detail = serializers.DictField()


class PlainMap(serializers.DictField):
    """A map of texts. Names and values are bounded; control characters are refused in names."""

    child = serializers.CharField(max_length=32 * 1024, allow_blank=True, trim_whitespace=False)

    def __init__(self, *, most: int, **kwargs: Any) -> None:
        self.most = most
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> dict[str, str]:
        """The map.

        Raises:
            ValidationError: too many entries, or a name that is empty, too long or not printable.
        """
        if isinstance(data, Mapping):
            if len(data) > self.most:
                raise serializers.ValidationError(_("At most %(n)s entries.") % {"n": self.most})
            for name in data:
                if not isinstance(name, str) or not 0 < len(name) <= 255 or not name.isprintable():
                    raise serializers.ValidationError(_("A name is not valid."))
        found: dict[str, str] = super().to_internal_value(data)
        return found


class FreeJSON(serializers.JSONField):
    """Any JSON object; texts the database cannot store are refused."""

    def to_internal_value(self, data: Any) -> Any:
        """The object.

        Raises:
            ValidationError: no object, or a NUL or a lone surrogate inside.
        """
        found = super().to_internal_value(data)
        if not isinstance(found, Mapping) or not storable(found):
            raise serializers.ValidationError(_("An object of storable texts is needed."))
        return found


def storable(value: Any) -> bool:
    """Whether PostgreSQL can keep every text inside, and every number is a plain one."""
    if isinstance(value, str):
        return "\x00" not in value and not any("\ud800" <= c <= "\udfff" for c in value)
    if isinstance(value, Mapping):
        return all(storable(key) and storable(part) for key, part in value.items())
    if isinstance(value, list | tuple):
        return all(storable(part) for part in value)
    return not isinstance(value, int | float) or abs(value) < 2**63

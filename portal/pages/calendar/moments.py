"""Points in time as people type them, in their own zone."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.utils.translation import gettext_lazy as _

from pool.models.users import User

SHAPE = "%Y-%m-%dT%H:%M"


class MomentField(forms.Field):
    """A date and a time of day; the form tells it whose zone it is in by `in_zone`."""

    zone = ZoneInfo("UTC")
    default_error_messages = {"moment": _("A date with a time is needed.")}

    def __init__(self, **given: Any) -> None:
        shape = forms.DateTimeInput(attrs={"type": "datetime-local"}, format=SHAPE)
        super().__init__(widget=shape, **given)

    def to_python(self, value: Any) -> Any:
        """The moment with its zone, None when nothing was typed.

        Raises:
            ValidationError: it is no date with a time.
        """
        text = str(value or "").strip()
        if not text:
            return None
        try:
            at = datetime.fromisoformat(text[:32])
        except ValueError as wrong:
            raise forms.ValidationError(self.error_messages["moment"], code="moment") from wrong
        return at.replace(tzinfo=self.zone) if at.tzinfo is None else at

    def prepare_value(self, value: Any) -> Any:
        """As the browser's field takes it, in the reader's zone."""
        return value.astimezone(self.zone).strftime(SHAPE) if isinstance(value, datetime) else value


def in_zone(form: forms.Form, user: User) -> None:
    """Read and show every moment of the form in the person's zone, and say which it is."""
    name = user.zone or "UTC"
    for field in form.fields.values():
        if isinstance(field, MomentField):
            field.zone = ZoneInfo(name)
            said = _("Your time zone: %(zone)s.") % {"zone": name}
            field.help_text = f"{field.help_text} {said}".strip()

"""How long: one field for every form that asks for a time, written as people do: 90 min, 2 h."""

import re
from fractions import Fraction
from typing import Any

from django import forms
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from portal.templatetags.units import duration

LETTERS = {
    604_800: ("w", "week", "weeks", "周", "星期"),
    86_400: ("d", "day", "days", "天", "日"),
    3600: ("h", "hr", "hrs", "hour", "hours", "小时", "时"),
    60: ("min", "mins", "m", "minute", "minutes", "分钟", "分"),
    1: ("s", "sec", "secs", "second", "seconds", "秒", "秒钟"),
}
SECONDS = {word: seconds for seconds, words in LETTERS.items() for word in words}
SHOWN = {"en": (86_400, "d", 3600, "h", 60, "min", 1, "s")}
SHOWN["zh-hans"] = (86_400, "天", 3600, "小时", 60, "分钟", 1, "秒")
PART = re.compile(r"(\d{1,9}(?:[.,]\d{1,6})?)\s*([^\W\d]+)[\s,]*")
CLOCK = re.compile(r"(\d{1,5}):([0-5]\d)(?::([0-5]\d))?")
MOST_TEXT = 60
HINT = _("For example 90 min, 2 h or 1 d 12 h.")


class NoDuration(ValueError):
    """A text that is no time; `bare` where only the unit is missing."""

    def __init__(self, *, bare: bool = False) -> None:
        super().__init__()
        self.bare = bare


def seconds_in(text: str) -> int:
    """The seconds that a text says: parts with their units, or h:mm, or h:mm:ss.

    Raises:
        NoDuration: it says no whole number of seconds, or a unit that is not known.
    """
    plain = text.strip().casefold()
    clock = CLOCK.fullmatch(plain)
    if clock:
        hours, minutes, seconds = (int(one or 0) for one in clock.groups())
        return hours * 3600 + minutes * 60 + seconds
    if plain.replace(".", "", 1).replace(",", "", 1).isdecimal():
        raise NoDuration(bare=True)
    total, at = Fraction(0), 0
    for part in PART.finditer(plain):
        if part.start() != at or part.group(2) not in SECONDS:
            raise NoDuration
        total += Fraction(part.group(1).replace(",", ".")) * SECONDS[part.group(2)]
        at = part.end()
    if not plain or at != len(plain) or total.denominator != 1:
        raise NoDuration
    return int(total)


def words_of(seconds: int, language: str = "en") -> str:
    """The seconds exactly, as `seconds_in` reads them again."""
    said, rest = [], seconds
    units = SHOWN.get(language, SHOWN["en"])
    for size, word in zip(units[::2], units[1::2], strict=True):
        assert isinstance(size, int)
        number, rest = divmod(rest, size)
        if number:
            said.append(f"{number} {word}")
    return " ".join(said) or f"0 {units[-1]}"


class DurationField(forms.Field):
    """Whole seconds between two bounds, read and shown with units."""

    default_error_messages = {
        "required": _("Say how long."),
        "bare": _("Say the unit too, as %(text)s min or %(text)s h."),
        "unread": _("This is no time. %(hint)s"),
        "least": _("At least %(bound)s."),
        "most": _("At most %(bound)s."),
    }

    def __init__(self, *, least: int = 1, most: int = 366 * 86_400, **given: Any) -> None:
        given.setdefault("help_text", HINT)
        super().__init__(**given)
        self.least, self.most = least, most
        self.widget.attrs |= {"maxlength": MOST_TEXT, "autocomplete": "off", "spellcheck": "false"}

    def to_python(self, value: Any) -> int | None:
        """The seconds; None for nothing.

        Raises:
            ValidationError: no time, or none without its unit.
        """
        text = str(value or "").strip()[: MOST_TEXT + 1]
        if not text:
            return None
        try:
            return seconds_in(text)
        except NoDuration as odd:
            if odd.bare:
                raise forms.ValidationError(
                    self.error_messages["bare"], code="bare", params={"text": text}
                ) from odd
            raise forms.ValidationError(
                self.error_messages["unread"], code="unread", params={"hint": HINT}
            ) from odd

    def validate(self, value: Any) -> None:
        """Pass what lies between the bounds.

        Raises:
            ValidationError: nothing where something is needed, too short, or too long.
        """
        super().validate(value)
        if value is None:
            return
        for bound, wrong in (("least", value < self.least), ("most", value > self.most)):
            if wrong:
                told = {"bound": duration(getattr(self, bound))}
                raise forms.ValidationError(self.error_messages[bound], code=bound, params=told)

    def prepare_value(self, value: Any) -> Any:
        """Seconds with their units; what was typed as it was typed."""
        if isinstance(value, int) and not isinstance(value, bool):
            return words_of(value, get_language() or "en")
        return value

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Whether other seconds are meant."""
        try:
            return bool(self.to_python(data) != initial)
        except forms.ValidationError:
            return True


def duration_read(text: str, *, least: int, most: int) -> int:
    """What one field of a page that has no form says.

    Raises:
        ValidationError: no time within the bounds.
    """
    return int(DurationField(least=least, most=most).clean(text))

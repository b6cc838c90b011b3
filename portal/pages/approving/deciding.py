"""What a decider says, on what they read: the form, reasons at hand, and what has changed since."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pool.models.partitions import Partition
from pool.models.requests import Request
from portal.pages.answers import Answer, Priced
from portal.pages.calendar.durations import DurationField
from portal.pages.need_forms import LONGEST

REASONS = {
    "smaller": gettext_lazy("Please ask for less: a part of a card is enough for this."),
    "shorter": gettext_lazy("Please ask for a shorter time; it can be extended when it is needed."),
    "later": gettext_lazy("There is no room now; please ask again next week."),
    "unused": gettext_lazy("What was granted before is not used; please use or return it first."),
    "twice": gettext_lazy("You have asked for this already."),
    "purpose": gettext_lazy("Please say what it is for."),
}
"""Words at hand for a no or a question; the decider may add their own."""

READ = ("copies", "duration_seconds", "need", "step", "weights")
"""What a decider has before their eyes; when one of it has moved since, they are shown how."""


class DecisionForm(forms.Form):
    """A decision on one reading of a request; changes only where they differ."""

    revision = forms.IntegerField(widget=forms.HiddenInput)
    read = forms.CharField(widget=forms.HiddenInput, required=False, max_length=20_000)
    at_hand = forms.ChoiceField(
        label=gettext_lazy("Words at hand"),
        choices=lambda: [("", _("none of these")), *REASONS.items()],
        required=False,
    )
    reason = forms.CharField(
        label=gettext_lazy("Your words"),
        max_length=3500,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy("The requester reads them. Needed to reject or to ask back."),
    )
    copies = forms.IntegerField(
        label=gettext_lazy("At the same time"), min_value=1, max_value=1000, required=False
    )
    time_value = DurationField(label=gettext_lazy("For how long"), most=LONGEST, required=False)
    instead = forms.RegexField(r"^[\w.-]+:[^:]+:[a-z_]+$", max_length=200, required=False)
    changed = forms.BooleanField(required=False)

    def changes(self, one: Request) -> dict[str, Any]:
        """What differs from what was asked; another way only where the changes are meant."""
        data = self.cleaned_data
        asked = {"copies": data["copies"], "duration_seconds": data["time_value"]}
        found = {name: said for name, said in asked.items() if said and said != getattr(one, name)}
        if data["changed"] and data["instead"]:
            place, label, mode = data["instead"].split(":")
            found["need"] = {"labels": [label], "modes": [mode]}
            found["partitions"] = tuple(Partition.objects.filter(slug=place))
        return found

    @property
    def words(self) -> str:
        """The words at hand and the decider's own."""
        data = self.cleaned_data
        ready = str(REASONS[data["at_hand"]]) if data["at_hand"] else ""
        return " ".join(part for part in (ready, data["reason"].strip()) if part)


@dataclass(frozen=True, slots=True)
class Way:
    """Another way to meet the request, and what it would save in millionths of the currency."""

    value: str
    priced: Priced
    saves_micro: int

    @property
    def cheaper(self) -> bool:
        """Whether it costs less than what was asked."""
        return self.saves_micro > 0


def ways_of(answer: Answer | None) -> list[Way]:
    """The ways beside the best, cheapest first."""
    if answer is None or answer.best is None:
        return []
    best = answer.best.quote.total_micro or 0
    found = [
        Way(
            f"{one.placed.partition.slug}:{one.option.label}:{one.option.mode}",
            one,
            best - (one.quote.total_micro or 0),
        )
        for one in answer.others
    ]
    return sorted(found, key=lambda one: -one.saves_micro)


def as_read(one: Request) -> str:
    """What is before the decider's eyes, to be sent back with the decision."""
    return json.dumps({name: getattr(one, name) for name in READ}, sort_keys=True)


def moved_since(read: str, one: Request) -> list[tuple[str, Any, Any]]:
    """What has changed since that reading: name, then, now. Unreadable readings tell nothing."""
    try:
        then: Mapping[str, Any] = json.loads(read)
    except (ValueError, RecursionError):
        return []
    if not isinstance(then, dict):
        return []
    now = {name: getattr(one, name) for name in READ}
    return [
        (name, then[name], now[name]) for name in READ if name in then and then[name] != now[name]
    ]


def as_asked(one: Request) -> dict[str, Any]:
    """The form's fields before anything is changed."""
    return {
        "revision": one.revision,
        "read": as_read(one),
        "copies": one.copies,
        "time_value": one.duration_seconds,
    }

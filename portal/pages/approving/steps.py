"""Steps of approval as people fill them in: each role never, always or above limits."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pool.lifecycle.roles import Role
from pool.rules.approval import DECIDERS, Step
from pool.selectors.memberships import Standing
from pool.selectors.partitions import partition_list
from portal.pages.calendar.names import NamesField
from portal.pages.shell import ROLES

MEASURES = ("cards", "days", "cost")
WHEN = [
    ("never", gettext_lazy("never")),
    ("always", gettext_lazy("always")),
    ("above", gettext_lazy("above a limit")),
]
STEP_FIELDS = tuple(
    f"{role}_{name}" for role in DECIDERS for name in ("when", *MEASURES, "partitions", "reserved")
)
"""The fields of all steps, in the order of the table."""


class StepsForm(forms.Form):
    """A form that has, beside its own fields, those of the steps.

    A step may name partitions that the reader may know, and those that it names already.
    """

    def __init__(self, *args: Any, standing: Standing, **given: Any) -> None:
        super().__init__(*args, **given)
        self.standing = standing
        for role in DECIDERS:
            self.fields[f"{role}_when"] = forms.ChoiceField(
                label=ROLES[role], choices=WHEN, required=False
            )
            for name in MEASURES:
                self.fields[f"{role}_{name}"] = forms.FloatField(
                    label=name, min_value=0, max_value=1e12, required=False
                )
            self.fields[f"{role}_partitions"] = NamesField(
                label=gettext_lazy("In these partitions")
            )
            self.fields[f"{role}_reserved"] = forms.BooleanField(required=False)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        for role in DECIDERS:
            if data.get(f"{role}_when") == "above":
                self._conditions(role, data)
        return data

    def _conditions(self, role: Role, data: dict[str, Any]) -> None:
        """A step above a limit has one, were it nought, and names partitions that there are."""
        names = (*MEASURES, "partitions", "reserved")
        said = (data.get(f"{role}_{name}") for name in names)
        if all(one is None or one is False or one == [] for one in said):
            empty = _("Fill in a limit or a partition, or choose always or never.")
            self.add_error(f"{role}_when", empty)
        wanted = data.get(f"{role}_partitions") or []
        seen = partition_list(standing=self.standing).filter(slug__in=wanted)
        known = {*seen.values_list("slug", flat=True), *self._named_already(role)}
        strange = [one for one in wanted if one not in known]
        if strange:
            wrong = _("No such partition: %(names)s.") % {"names": ", ".join(strange)[:80]}
            self.add_error(f"{role}_partitions", wrong)

    def _named_already(self, role: Role) -> list[str]:
        return list((self.initial or {}).get(f"{role}_partitions") or [])

    @property
    def rows(self) -> list[tuple[str, Any, list[Any], Any, Any]]:
        """Each role with its fields, for the table."""
        return [
            (
                str(ROLES[role]),
                self[f"{role}_when"],
                [self[f"{role}_{name}"] for name in MEASURES],
                self[f"{role}_partitions"],
                self[f"{role}_reserved"],
            )
            for role in DECIDERS
        ]

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The steps as a policy has them."""
        return [one for role in DECIDERS for one in [self._step(role)] if one]

    def _step(self, role: Role) -> dict[str, Any]:
        data = self.cleaned_data
        when = data[f"{role}_when"]
        if when == "always":
            return {"role": str(role)}
        if when != "above":
            return {}
        limits = {name: data[f"{role}_{name}"] for name in MEASURES}
        above = {name: limit for name, limit in limits.items() if limit is not None}
        reserved = {"reserved": True} if data[f"{role}_reserved"] else {}
        named = data.get(f"{role}_partitions")
        partitions = {"partitions": sorted(named)} if named else {}
        return {"role": str(role), "above": above, **partitions, **reserved}


def steps_as_filled_in(steps: Any) -> dict[str, Any]:
    """The fields of the steps before anything is changed."""
    said: dict[str, Any] = {}
    for role in DECIDERS:
        said |= _of_step(role, next((one for one in steps if one.role == role), None))
    return said


def _of_step(role: Role, step: Step | None) -> dict[str, Any]:
    if step is None:
        return {f"{role}_when": "never"}
    plain = not step.above and not step.reserved and not step.partitions
    limits = {f"{role}_{name}": step.above.get(name) for name in MEASURES}
    return {
        f"{role}_when": "always" if plain else "above",
        f"{role}_reserved": step.reserved,
        f"{role}_partitions": sorted(step.partitions),
    } | limits

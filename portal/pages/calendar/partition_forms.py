"""A partition as its administrator edits it: switches, placement, doors, ceilings."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from nodeagent.protocol.vocabulary import Mode
from pool.lifecycle.roles import WorkClass
from pool.models.partitions import Partition
from pool.models.tenants import Organization, TrustGroup
from pool.rules.ceilings import FULL, SCOPES
from pool.rules.policies import MOST_REASON
from pool.services.partitions import NUMBERS
from portal.pages.calendar.durations import DurationField
from portal.pages.calendar.words import CLASSES, FOREIGN, HINTS, LABELS, PLACEMENTS
from portal.pages.calendar.words import SCOPES as SCOPE_WORDS
from portal.templatetags.needs import mode_words

SWITCHES = ("preemption", "sharing", "lending", "open_to_all")
ASIDE = "class_"
CEILING_CLASSES = [(one.value, CLASSES[one.value]) for one in WorkClass]


def _check(**given: Any) -> forms.CheckboxSelectMultiple:
    return forms.CheckboxSelectMultiple(attrs={"class": "form-check-input"}, **given)


class PartitionForm(forms.Form):
    """Everything but the selector and the ceilings; a reason goes with every change."""

    name = forms.CharField(label=LABELS["name"], max_length=120)
    modes = forms.MultipleChoiceField(label=LABELS["modes"], widget=_check())
    policy = forms.ChoiceField(label=LABELS["policy"], choices=list(PLACEMENTS.items()))
    foreign_work = forms.ChoiceField(
        label=LABELS["foreign_work"],
        choices=list(FOREIGN.items()),
        help_text=HINTS["foreign_work"],
    )
    organizations = forms.ModelMultipleChoiceField(
        label=LABELS["organizations"],
        queryset=Organization.objects.none(),
        to_field_name="slug",
        required=False,
        widget=_check(),
        help_text=_("Counts only where it is not open to everybody."),
    )
    trust_groups = forms.ModelMultipleChoiceField(
        label=LABELS["trust_groups"],
        queryset=TrustGroup.objects.none(),
        to_field_name="name",
        required=False,
        widget=_check(),
        help_text=_("None ticked: any one group at a time on a card."),
    )
    reason = forms.CharField(label=_("Why"), max_length=MOST_REASON)

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        modes = [(one.value, mode_words(one.value)) for one in Mode]
        self.fields["modes"].choices = modes  # type: ignore[attr-defined]
        for name, rows in (("organizations", Organization), ("trust_groups", TrustGroup)):
            self.fields[name].queryset = rows._default_manager.all()  # type: ignore[attr-defined]
        for name in SWITCHES:
            self.fields[name] = forms.BooleanField(label=LABELS[name], required=False)
        self.fields["tolerance_points"] = forms.IntegerField(
            label=LABELS["tolerance_points"],
            min_value=0,
            max_value=NUMBERS["tolerance_points"],
            help_text=HINTS.get("tolerance_points", ""),
        )
        self.fields["give_back_seconds"] = DurationField(
            label=LABELS["give_back_seconds"], least=0, most=NUMBERS["give_back_seconds"]
        )
        placements = [("", _("as the partition")), *PLACEMENTS.items()]
        for one in WorkClass:
            self.fields[f"{ASIDE}{one}"] = forms.ChoiceField(
                label=CLASSES[one.value], choices=placements, required=False
            )

    @property
    def switches(self) -> list[forms.BoundField]:
        """The yes-or-no fields, drawn in a row of their own."""
        return [self[name] for name in SWITCHES]

    @property
    def classes(self) -> list[forms.BoundField]:
        """One placement for each class of work."""
        return [self[f"{ASIDE}{one}"] for one in WorkClass]

    @property
    def words(self) -> dict[str, Any]:
        """As the service takes them, without the reason."""
        data = {k: v for k, v in self.cleaned_data.items() if not k.startswith(ASIDE)}
        del data["reason"]
        data["class_policies"] = {
            one.value: self.cleaned_data[f"{ASIDE}{one}"]
            for one in WorkClass
            if self.cleaned_data.get(f"{ASIDE}{one}")
        }
        rows = {name: list(data[name]) for name in ("organizations", "trust_groups")}
        return data | rows

    @staticmethod
    def start(row: Partition) -> dict[str, Any]:
        """The partition as it is now."""
        plain = ("name", "modes", "policy", "foreign_work", "tolerance_points", *SWITCHES)
        return {
            **{name: getattr(row, name) for name in (*plain, "give_back_seconds")},
            "organizations": [one.slug for one in row.organizations.all()],
            "trust_groups": [one.name for one in row.trust_groups.all()],
            **{f"{ASIDE}{name}": value for name, value in row.class_policies.items()},
        }


class CeilingForm(forms.Form):
    """One ceiling; a line without classes is no ceiling."""

    scope = forms.ChoiceField(
        label=_("What it bounds"), choices=[(one, SCOPE_WORDS[one]) for one in SCOPES]
    )
    purposes = forms.MultipleChoiceField(
        label=_("Classes"), choices=CEILING_CLASSES, required=False, widget=_check()
    )
    compute = forms.DecimalField(
        label=_("Compute (% of a card)"), min_value=0, max_value=100, decimal_places=1, initial=100
    )
    memory = forms.DecimalField(
        label=_("Memory (% of a card)"),
        min_value=0,
        max_value=100,
        decimal_places=1,
        initial=100,
        help_text=_("Only for one workload."),
    )


CeilingLines = forms.formset_factory(CeilingForm, extra=1, max_num=30)


def ceiling_lines(stored: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The stored ceilings, one a line."""
    return [
        {
            "scope": scope,
            "purposes": one["purposes"],
            "compute": one.get("compute_milli", FULL) / 10,
            "memory": one.get("memory_milli", FULL) / 10,
        }
        for scope in SCOPES
        for one in stored.get(scope, ())
    ]


def ceilings_said(lines: Any) -> dict[str, list[dict[str, Any]]]:
    """What the lines say, as the service takes it."""
    said: dict[str, list[dict[str, Any]]] = {}
    for line in lines.cleaned_data:
        if line.get("purposes"):
            said.setdefault(line["scope"], []).append(
                {
                    "purposes": line["purposes"],
                    "compute_milli": round(line["compute"] * 10),
                    "memory_milli": round(line["memory"] * 10),
                }
            )
    return said

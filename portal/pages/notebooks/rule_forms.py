"""The form of a rule of idleness."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pool.lifecycle.idleness import IdleAction
from pool.models.notebooks.notebooks import IdleRule
from pool.models.partitions import Partition
from pool.models.templates import Template
from pool.rules.idling.words import LEAST_S, MOST_KEEPS, MOST_REASON, MOST_S
from pool.selectors.memberships import Standing
from pool.selectors.partitions import partition_list
from pool.selectors.templates import template_list
from pool.selectors.tenants import project_list
from pool.services.notebooks.rules import SCOPES, WORDS
from portal.access.guards import may
from portal.access.roles import Verb

ACTIONS = [
    (IdleAction.RECLAIM.value, gettext_lazy("Warn, then save and stop it")),
    (IdleAction.WARN.value, gettext_lazy("Only warn")),
]


def _scope(label: Any, rows: Any, everything: Any) -> forms.Field:
    return forms.ModelChoiceField(
        label=label, queryset=rows, to_field_name="slug", required=False, empty_label=everything
    )


def _switch(label: Any, hint: Any) -> forms.Field:
    return forms.BooleanField(label=label, required=False, initial=True, help_text=hint)


class RuleForm(forms.Form):
    """What one says of a rule; its scope only while it is new."""

    project = _scope(
        gettext_lazy("Project"), project_list(standing=Standing()), gettext_lazy("all projects")
    )
    template = _scope(
        gettext_lazy("Template"), Template.objects.none(), gettext_lazy("all templates")
    )
    partition = _scope(
        gettext_lazy("Partition"), Partition.objects.none(), gettext_lazy("all partitions")
    )
    idle_minutes = forms.IntegerField(
        label=gettext_lazy("Time without activity, in minutes"),
        min_value=LEAST_S // 60,
        max_value=MOST_S // 60,
        initial=120,
        help_text=gettext_lazy("Where SM cannot be measured it takes twice as long."),
    )
    warn_minutes = forms.CharField(
        label=gettext_lazy("Warnings, minutes before the end"),
        initial="30, 10, 2",
        required=False,
        max_length=60,
        help_text=gettext_lazy("Two minutes before the end everybody is warned in any case."),
    )
    keeps = forms.IntegerField(
        label=gettext_lazy("How often it may be kept in one run"),
        min_value=0,
        max_value=MOST_KEEPS,
        initial=3,
    )
    action = forms.ChoiceField(label=gettext_lazy("At the end"), choices=ACTIONS)
    busy_counts = _switch(
        gettext_lazy("A cell that executes is activity"),
        gettext_lazy("Otherwise only what it moves: card, processors, disk, network."),
    )
    cpu_counts = _switch(gettext_lazy("Processors and disk are activity"), "")
    quiet_from = forms.TimeField(
        label=gettext_lazy("No letters from"),
        required=False,
        widget=forms.TimeInput(attrs={"type": "time"}),
        help_text=gettext_lazy("In the owner's zone. Only messages rest; reclaiming goes on."),
    )
    quiet_until = forms.TimeField(
        label=gettext_lazy("until"),
        required=False,
        widget=forms.TimeInput(attrs={"type": "time"}),
    )
    reason = forms.CharField(label=gettext_lazy("Why"), max_length=MOST_REASON, required=False)

    def __init__(
        self, *args: Any, standing: Standing, rule: IdleRule | None = None, **given: Any
    ) -> None:
        given["initial"] = _initial(rule)
        super().__init__(*args, **given)
        if rule is not None:
            for name in SCOPES:
                del self.fields[name]
            return
        projects = [
            one.pk for one in project_list(standing=standing) if may(standing, Verb.IDLE_SET, one)
        ]
        rows = {
            "project": project_list(standing=standing).filter(pk__in=projects),
            "template": template_list(standing=standing)
            .filter(versions__kind="notebook")
            .distinct(),
            "partition": partition_list(standing=standing),
        }
        for name, chosen in rows.items():
            self.fields[name].queryset = chosen  # type: ignore[attr-defined]
        if not standing.platform:
            self.fields["project"].required = True

    def clean_warn_minutes(self) -> list[int]:
        """Whole numbers with commas between."""
        said = [one.strip() for one in self.cleaned_data["warn_minutes"].split(",") if one.strip()]
        if not all(one.isascii() and one.isdigit() for one in said):
            raise forms.ValidationError(_("Whole numbers with commas between are needed."))
        return [int(one) for one in said]

    @property
    def words(self) -> dict[str, Any]:
        """As the service takes them."""
        data = dict(self.cleaned_data)
        data["idle_seconds"] = data.pop("idle_minutes") * 60
        for name in ("quiet_from", "quiet_until"):
            at = data[name]
            data[name] = None if at is None else at.hour * 60 + at.minute
        return data


def _initial(rule: IdleRule | None) -> dict[str, Any] | None:
    if rule is None:
        return None
    found = {name: getattr(rule, name) for name in WORDS}
    found["idle_minutes"] = found.pop("idle_seconds") // 60
    found["warn_minutes"] = ", ".join(str(one) for one in rule.warn_minutes)
    for name in ("quiet_from", "quiet_until"):
        at = found[name]
        found[name] = None if at is None else f"{at // 60:02}:{at % 60:02}"
    return found

"""Try a policy on this very queue: who would win, who would lose; nothing is changed by it."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from django import forms
from django.http import HttpResponse
from django.utils.translation import gettext_lazy as _

from pool.cycle.dryrun import PLANNED, Fate, Outcome, Trial, dry_run
from pool.models.partitions import Partition
from pool.rules.policies import NUMBERS
from pool.scheduling.model import Policy
from pool.selectors.partitions import partition_list
from pool.selectors.workloads import workload_list
from portal.access.guards import may
from portal.access.roles import Verb
from portal.explained import looked
from portal.pages.calendar.words import HINTS, LABELS
from portal.pages.htmx import HtmxRequest, fragment, page, refuse_unless

SHOWN = 100
AS_IS = ("", _("as it is"))
YES_NO = [AS_IS, ("yes", _("on")), ("no", _("off"))]
POLICIES = {
    Policy.FRAGMENTATION: _("fewest fragments"),
    Policy.BINPACK: _("fullest cards first"),
    Policy.SPREAD: _("emptiest cards first"),
}


class PolicyForm(forms.Form):
    """What to change; what is left as it is keeps its value in force."""

    partition = forms.ModelChoiceField(
        Partition.objects.none(),
        required=False,
        label=_("Partition"),
        empty_label=_("All partitions"),
    )
    policy = forms.ChoiceField(
        choices=[AS_IS, *((one.value, words) for one, words in POLICIES.items())],
        required=False,
        label=_("Where work is put"),
    )
    preemption = forms.ChoiceField(choices=YES_NO, required=False, label=_("Telling work to leave"))
    lending = forms.ChoiceField(choices=YES_NO, required=False, label=_("Lending what is idle"))
    backfill = forms.ChoiceField(
        choices=YES_NO, required=False, label=_("Short work in the gaps before the head")
    )
    age_hours = forms.IntegerField(
        min_value=1,
        max_value=8760,
        required=False,
        label=_("Hours of waiting that weigh as one step of priority"),
    )

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        for name in NUMBERS:
            if name in PLANNED - {"backfill", "age_full_s", "preemption"}:
                number = NUMBERS[name]
                form_field: forms.Field = forms.IntegerField(
                    min_value=number.least, max_value=number.most, required=False
                )
                if number.is_switch:
                    form_field = forms.ChoiceField(choices=YES_NO, required=False)
                form_field.label, form_field.help_text = LABELS[name], HINTS.get(name, "")
                self.fields[f"n_{name}"] = form_field

    @property
    def first(self) -> list[forms.BoundField]:
        """What is tried most."""
        return [self[name] for name in self.fields if not name.startswith("n_")]

    @property
    def numbers(self) -> list[forms.BoundField]:
        """All the other numbers of the rounds."""
        return [self[name] for name in self.fields if name.startswith("n_")]

    @property
    def numbers_open(self) -> bool:
        """Whether one of them is filled in."""
        return any(one.data or one.errors for one in self.numbers)

    def _numbers(self) -> dict[str, int | bool]:
        said = {
            name.removeprefix("n_"): value
            for name, value in self.cleaned_data.items()
            if name.startswith("n_") and value not in (None, "")
        }
        return {n: v == "yes" if NUMBERS[n].is_switch else v for n, v in said.items()}

    def trial(self) -> Trial:
        """The checked input as the planner's change."""
        said = self.cleaned_data
        hours = said["age_hours"]
        return Trial(
            partition=said["partition"].pk if said["partition"] else None,
            policy=Policy(said["policy"]) if said["policy"] else None,
            preemption=_switch(said["preemption"]),
            lending=_switch(said["lending"]),
            backfill=_switch(said["backfill"]),
            age_full_s=None if hours is None else hours * 3600.0,
            numbers=self._numbers(),
        )


@page("GET")
def policy(request: HtmxRequest) -> HttpResponse:
    """The form, and beside it what it would do to the queue as it is now."""
    refuse_unless(may(request.standing, Verb.QUEUE_STEER))
    form = PolicyForm(request.GET if request.GET else None)
    partitions = form.fields["partition"]
    assert isinstance(partitions, forms.ModelChoiceField)
    partitions.queryset = partition_list(standing=request.standing)
    partitions.to_field_name = "slug"
    context: dict[str, Any] = {"form": form, "asked": bool(request.GET)}
    if request.GET and form.is_valid():
        context |= _compared(request, dry_run(looked(), form.trial()))
    return fragment(request, "pages/queue/policy.html", "pages/queue/_outcome.html", context)


def _compared(request: HtmxRequest, found: Outcome) -> dict[str, Any]:
    """Winners and losers with their names, and how each team fares."""
    keys = [one.workload for one in found.turned]
    works = workload_list(standing=request.standing).in_bulk(keys)
    rows: list[dict[str, Any]] = [
        {
            "work": works[one.workload],
            "gains": one.gains,
            "before": _shown(one.before),
            "after": _shown(one.after),
        }
        for one in found.turned
        if one.workload in works
    ]
    teams = Counter((row["work"].project.name, row["gains"]) for row in rows)
    names = sorted({name for name, _gains in teams})
    return {
        "rows": rows[:SHOWN],
        "more": max(0, len(rows) - SHOWN),
        "teams": [(name, teams[name, True], teams[name, False]) for name in names],
        "same": found.waiting - len(found.turned),
        "starts": found.starts,
        "leaves": found.leaves,
    }


def _shown(fate: Fate) -> dict[str, Any]:
    at = None if fate.at_s is None else datetime.fromtimestamp(fate.at_s, UTC)
    return {"now": fate.now, "position": fate.position, "at": at}


def _switch(said: str) -> bool | None:
    return None if not said else said == "yes"

"""A template's version as people fill it in; what the form does not show stays as it was."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from nodeagent.protocol.vocabulary import Isolation, Mode
from pool.lifecycle.roles import Priority
from pool.models import Environment, Organization, Project, TemplateVersion
from pool.rules.approval import policy_from
from pool.rules.needs import ENGINES, changed
from pool.services.templates import CHOICES, SECONDS
from portal.pages.approving.steps import STEP_FIELDS, StepsForm, steps_as_filled_in
from portal.pages.calendar.durations import DurationField
from portal.pages.calendar.names import NamesField
from portal.pages.calendar.words import CLASSES
from portal.pages.need_forms import LIES
from portal.templatetags.needs import isolation_words, mode_words, priority_words

NUMBERS = {
    "parts": _("Cards or parts"),
    "memory_gb": _("Card memory (GB)"),
    "min_size_gb": _("Smallest slice (GB)"),
    "encoder_units": _("Video encoders to itself (engines)"),
    "decoder_units": _("Video decoders to itself (engines)"),
    "nodes": _("On how many nodes"),
    "ram_mib": _("Host memory (MiB)"),
    "disk_mib": _("Local disk (MiB)"),
}
"""Words of the need that are numbers, with their units."""
CARDS = {
    "vendors": _("Only cards of these makers"),
    "labels": _("Only these kinds of card"),
    "architectures": _("Only these architectures"),
}
"""Words of the need that are lists of names."""
CARD_HINTS = {
    "vendors": _("As nvidia, amd; several with commas. Nothing: any."),
    "labels": _("As A100-80GB, H100-80GB; several with commas. Nothing: any."),
    "architectures": _("As ampere, hopper; several with commas. Nothing: any."),
}
KINDS = [("job", _("jobs")), ("notebook", _("notebooks"))]
"""What a template that is made at the page may be for; the other kinds have no runner yet."""
TIMES = {
    "default_seconds": _("Runs unless said"),
    "max_seconds": _("Runs at most"),
    "start_limit_seconds": _("Must have started within"),
    "grace_seconds": _("Time to stop"),
    "min_run_seconds": _("Not chosen to give way in its first"),
    "idle_seconds": _("Reclaimed when idle for"),
    "checkpoint_seconds": _("Saves a checkpoint every"),
}
"""Words of a version that are times."""
SHARE = "min_profile_compute"


ENGINE_HELP = _("For each part; nobody else uses them meanwhile. Empty: it shares what there is.")


ORDER = (
    *("name", "slug", "organization", "kind", "work_class", "priority", "whole", "encoder"),
    *("graphics", "parts", "nodes", "memory_gb"),
    *("compute_percent", "profile", "min_size_gb", "min_profile_compute", *ENGINES, "topology"),
    *(
        "isolation",
        "modes",
        *CARDS,
        "min_driver",
        "cpu",
        "ram_mib",
        "disk_mib",
        "environment",
        "bandwidth",
        *TIMES,
        "preemptible",
    ),
    *("unlimited_modes", "price_class", "own_steps", "projects", "note"),
)
"""First what it is, then what it asks for, then how it runs, then whose it is."""


PLAIN = ("profile", "topology", "isolation", "modes", "encoder", "graphics", "whole", "min_driver")
"""Words of the need that stand in the form under their own names."""


def _choice(label: Any, choices: list[tuple[str, Any]]) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=choices, required=False)


class VersionForm(StepsForm):
    """What the work of a template asks for and how it may run."""

    whole = forms.BooleanField(label=_("Whole cards"), required=False)
    compute_percent = forms.DecimalField(
        label=_("Compute (% of a card)"),
        min_value=0,
        max_value=100,
        decimal_places=1,
        required=False,
    )
    profile = forms.CharField(
        label=_("A profile by name"), max_length=63, required=False, help_text=_("As 3g.40gb.")
    )
    modes = forms.MultipleChoiceField(
        label=_("Ways to share"),
        required=False,
        widget=forms.CheckboxSelectMultiple(attrs={"class": "form-check-input"}),
        help_text=_("None ticked: any that bounds memory and compute."),
    )
    topology = _choice(_("Where the parts lie"), [("", LIES[1][1]), *LIES[2:]])
    encoder = forms.BooleanField(label=_("Needs a video encoder"), required=False)
    graphics = forms.BooleanField(label=_("Needs a card that draws"), required=False)
    min_driver = forms.CharField(
        label=_("Driver at least"), max_length=32, required=False, help_text=_("As 550.54.")
    )
    preemptible = forms.BooleanField(label=_("Gives way to others"), required=False)
    unlimited_modes = forms.BooleanField(
        label=_("May share by time slices, which bound nothing"), required=False
    )
    cpu = forms.DecimalField(
        label=_("CPU cores"),
        min_value=0,
        max_value=100_000,
        max_digits=9,
        decimal_places=3,
        required=False,
        help_text=_("Nothing: the share that belongs to the part of the card."),
    )
    environment = forms.ModelChoiceField(
        label=_("Environment"),
        queryset=Environment.objects.none(),
        to_field_name="slug",
        required=False,
        empty_label=_("none in particular"),
        help_text=_("What its work runs in when it names no other."),
    )
    price_class = forms.CharField(label=_("Price class"), max_length=32)
    own_steps = forms.BooleanField(
        label=_("Has steps of approval of its own"),
        required=False,
        help_text=_("They come before the policy of the organization."),
    )
    projects = forms.ModelMultipleChoiceField(
        label=_("Only these projects may use it"),
        queryset=Project.objects.none(),
        to_field_name="slug",
        required=False,
        widget=forms.CheckboxSelectMultiple(attrs={"class": "form-check-input"}),
    )
    note = forms.CharField(label=_("Why"), max_length=200)

    def __init__(
        self, *args: Any, projects: Any, environments: Any, platform: bool, **given: Any
    ) -> None:
        super().__init__(*args, **given)
        self.fields["environment"].queryset = environments  # type: ignore[attr-defined]
        self.fields["projects"].queryset = projects  # type: ignore[attr-defined]
        self.fields["modes"].choices = [  # type: ignore[attr-defined]
            (one.value, mode_words(one.value)) for one in Mode
        ]
        for name, label in NUMBERS.items():
            told = ENGINE_HELP if name in ENGINES else ""
            self.fields[name] = forms.IntegerField(
                label=label, min_value=0, required=False, help_text=told
            )
        for name, label in CARDS.items():
            self.fields[name] = NamesField(label=label, help_text=CARD_HINTS[name])
        isolations = [("", _("any")), *((one.value, isolation_words(one)) for one in Isolation)]
        self.fields["isolation"] = _choice(_("Isolation at least"), isolations)
        self.fields["work_class"] = _choice(_("Kind of work"), list(CLASSES.items()))
        words = [(str(one), priority_words(one)) for one in CHOICES["priority"]]
        self.fields["priority"] = _choice(_("Priority"), words)
        bandwidth = [
            ("measured", _("as its finished runs show")),
            ("light", _("light")),
            ("heavy", _("heavy")),
        ]
        self.fields["bandwidth"] = _choice(_("Use of memory bandwidth"), bandwidth)
        for name, label in TIMES.items():
            least, most = SECONDS[name]
            self.fields[name] = DurationField(label=label, least=least, most=most, required=False)
        least, most = SECONDS[SHARE]
        self.fields[SHARE] = forms.IntegerField(
            label=_("Smallest slice (% of a card's compute)"),
            min_value=least,
            max_value=most,
            required=False,
        )
        self.order_fields(ORDER)
        if not platform:
            for name in ("price_class", "priority", "unlimited_modes", "own_steps", *STEP_FIELDS):
                del self.fields[name]

    def need(self, before: Mapping[str, Any]) -> dict[str, Any]:
        """The need with what the form says of it; other words stay. Raises Problems."""
        said = self.cleaned_data
        words: dict[str, Any] = {
            name: said.get(name) or None for name in (*NUMBERS, *CARDS, *PLAIN)
        }
        percent = said.get("compute_percent")
        words["compute_percent"] = None if not percent else float(percent)
        cpu = said.get("cpu")
        words["cpu_milli"] = None if not cpu else int(cpu * 1000)
        words["parts"] = said["parts"] if said.get("parts") is not None else 1
        kept = {name: value for name, value in before.items() if name != "compute_milli"}
        if not words["compute_percent"]:
            del words["compute_percent"]
        return changed(kept, words)

    def words(self, before: Mapping[str, Any]) -> dict[str, Any]:
        """The version's words, as the service takes them. Raises Problems."""
        plain = ("work_class", "priority", "bandwidth", "price_class")
        switches = ("preemptible", "unlimited_modes")
        said = self.cleaned_data
        found = {name: said[name] for name in plain if said.get(name)}
        found |= {name: said[name] for name in switches if name in said}
        found |= {
            name: said[name]
            for name in (*TIMES, SHARE)
            if said.get(name) is not None or name in ("idle_seconds", "checkpoint_seconds")
        }
        found |= {"environment": said.get("environment"), "need": self.need(before)}
        return found | self._approval()

    def _approval(self) -> dict[str, Any]:
        """The steps where they were touched: what the form cannot show of them stays."""
        if not {"own_steps", *STEP_FIELDS} & set(self.changed_data):
            return {}
        own = self.cleaned_data.get("own_steps")
        return {"approval": {"steps": self.steps} if own else {}}

    @property
    def plain(self) -> list[Any]:
        """The fields outside the table of steps."""
        return [self[name] for name in self.fields if name not in STEP_FIELDS]

    @staticmethod
    def start(version: TemplateVersion) -> dict[str, Any]:
        """The version as it is."""
        need = version.need
        words = {name: need.get(name) for name in (*NUMBERS, "profile", "topology", "isolation")}
        milli = need.get("compute_milli")
        return {
            **words,
            "whole": need.get("whole", False),
            "encoder": need.get("encoder", False),
            "graphics": need.get("graphics", False),
            "min_driver": need.get("min_driver", ""),
            **{name: need.get(name, []) for name in CARDS},
            "modes": need.get("modes", []),
            "compute_percent": None if milli is None else milli / 10,
            "cpu": None if not need.get("cpu_milli") else need["cpu_milli"] / 1000,
            "environment": version.environment.slug if version.environment else "",
            "own_steps": bool(version.approval),
            **steps_as_filled_in(policy_from(version.approval)),
            **{name: getattr(version, name) for name in (*TIMES, SHARE)},
            **{
                name: getattr(version, name)
                for name in (
                    *("work_class", "priority", "bandwidth", "price_class"),
                    *("preemptible", "unlimited_modes"),
                )
            },
            "projects": [one.slug for one in version.template.projects.all()],
        }


class NewForm(VersionForm):
    """A new template, with its names."""

    name = forms.CharField(label=_("Name"), max_length=120)
    slug = forms.CharField(
        label=_("Short name"),
        max_length=63,
        help_text=_("For scripts: small letters, digits and dashes; it stays."),
    )
    kind = forms.ChoiceField(label=_("Is for"), choices=KINDS, initial="job")
    organization = forms.ModelChoiceField(
        label=_("Whose it is"),
        queryset=Organization.objects.none(),
        to_field_name="slug",
        required=False,
        empty_label=_("everybody's"),
        help_text=_("An organization's own is offered to its people alone, and stays its own."),
    )

    def __init__(self, *args: Any, homes: Any = None, **given: Any) -> None:
        super().__init__(*args, **given)
        if homes is None:
            del self.fields["organization"]
        else:
            self.fields["organization"].queryset = homes  # type: ignore[attr-defined]

    def words(self, before: Mapping[str, Any]) -> dict[str, Any]:
        """The version's words, with what it is for."""
        return {"kind": self.cleaned_data["kind"], **super().words(before)}

    @staticmethod
    def empty() -> dict[str, Any]:
        """What a new one begins with."""
        return {
            "parts": 1,
            "whole": True,
            "priority": Priority.NORMAL.value,
            "price_class": "standard",
            "default_seconds": 3600,
            "max_seconds": 7 * 86_400,
            "work_class": "training",
            **steps_as_filled_in(policy_from(None)),
        }

"""How big a part is and how long it runs, as people fill it in: shared by requests and jobs."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from pool.models.partitions import Partition
from pool.models.templates import TemplateVersion
from pool.models.tenants import Project
from pool.rules.needs import ENGINES, SIZES
from pool.selectors.memberships import Standing
from pool.selectors.partitions import partition_list
from pool.selectors.templates import usable_templates
from pool.selectors.tenants import working_projects
from portal.pages.calendar.durations import DurationField
from portal.templatetags.units import duration

HOW = [
    ("template", _("As the template says")),
    ("size", _("Memory and compute")),
    ("profile", _("A profile by name")),
    ("whole", _("Whole cards")),
]
LIES = [
    ("", _("as the template says, else on one node")),
    ("node", _("on one node")),
    ("linked", _("in one NVLink set of a node")),
    ("network", _("on several nodes of one network")),
    ("whole_nodes", _("on nodes with nothing else on them")),
    ("spread", _("each on another node")),
    ("anywhere", _("on any nodes")),
]
TAKES = {
    "template": (),
    "size": ("memory_gb", "compute_percent", *ENGINES),
    "profile": ("profile", *ENGINES),
    "whole": ("topology", "nodes", *ENGINES),
}
LONGEST = 366 * 86400


class NeedForm(forms.Form):
    """Project, template, size, number, time and place; the answer beside it echoes them."""

    project = forms.ModelChoiceField(
        label=_("Project"), queryset=Project.objects.none(), to_field_name="slug", empty_label=None
    )
    template = forms.ChoiceField(label=_("Template"), widget=forms.RadioSelect)
    how = forms.ChoiceField(label=_("How much"), choices=HOW, initial="template", required=False)
    memory_gb = forms.IntegerField(
        label=_("Card memory (GB)"),
        min_value=1,
        max_value=1024,
        required=False,
        help_text=_("Nominal, as in the card's name: 20 GB of an 80 GB card is a quarter of it."),
    )
    compute_percent = forms.IntegerField(
        label=_("Compute (percent of a card)"),
        min_value=1,
        max_value=100,
        required=False,
        help_text=_("Left empty it follows the memory."),
    )
    profile = forms.CharField(
        label=_("Profile"), max_length=40, required=False, help_text=_("For example 2g.20gb.")
    )
    encoder_units = forms.IntegerField(
        label=_("Video encoders for each part"),
        min_value=0,
        max_value=64,
        required=False,
        help_text=_("Engines that nobody else uses meanwhile. Most work needs none."),
    )
    decoder_units = forms.IntegerField(
        label=_("Video decoders for each part"),
        min_value=0,
        max_value=64,
        required=False,
        help_text=_("Engines that nobody else uses meanwhile, to read video."),
    )
    parts = forms.IntegerField(
        label=_("How many of them"),
        min_value=1,
        max_value=1024,
        initial=1,
        required=False,
        help_text=_("They start together, or not at all."),
    )
    topology = forms.ChoiceField(
        label=_("Where they lie"),
        choices=LIES,
        required=False,
        help_text=_("On several nodes one process is started on each; they find each other."),
    )
    nodes = forms.IntegerField(
        label=_("On how many nodes"),
        min_value=1,
        max_value=128,
        required=False,
        help_text=_("With as many cards on each. Left empty: as few nodes as possible."),
    )
    time_value = DurationField(label=_("For how long"), least=60, most=LONGEST)
    partitions = forms.ModelMultipleChoiceField(
        label=_("Only in"),
        queryset=Partition.objects.none(),
        to_field_name="slug",
        required=False,
        widget=forms.CheckboxSelectMultiple(attrs={"class": "form-check-input"}),
        help_text=_("None ticked: wherever it fits first."),
    )

    def __init__(self, *args: Any, standing: Standing, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.versions: list[TemplateVersion] = usable_templates(standing=standing)
        _choose(self.fields["project"], working_projects(standing=standing))
        _choose(self.fields["partitions"], partition_list(standing=standing))
        slugs = [(one.template.slug, one.template.name) for one in self.versions]
        self.fields["template"].choices = slugs  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        how = data.get("how") or "template"
        if how == "size" and not (data.get("memory_gb") or data.get("compute_percent")):
            self.add_error("memory_gb", _("Say how much memory, how much compute, or both."))
        if how == "profile" and not data.get("profile"):
            self.add_error("profile", _("Name a profile."))
        seconds = data.get("time_value") or 0
        version = self.version
        if version is not None and seconds > version.max_seconds:
            longest = _("This template runs at most %(time)s.")
            self.add_error("time_value", longest % {"time": duration(version.max_seconds)})
        return data

    @property
    def version(self) -> TemplateVersion | None:
        """The newest version of the chosen template."""
        slug = getattr(self, "cleaned_data", {}).get("template")
        return next((one for one in self.versions if one.template.slug == slug), None)

    @property
    def chosen(self) -> TemplateVersion:
        """The same, of a form that is valid."""
        assert self.version is not None
        return self.version

    @property
    def seconds(self) -> int:
        """The duration."""
        return int(self.cleaned_data["time_value"])

    @property
    def overrides(self) -> dict[str, Any]:
        """What differs from the template, in the words of a need."""
        return said_by(self.cleaned_data)


def said_by(data: Mapping[str, Any]) -> dict[str, Any]:
    """What differs from the template, as the fields of the form say it, in the words of a need."""
    how = data.get("how") or "template"
    said: dict[str, Any] = {name: data[name] for name in TAKES[how] if data.get(name)}
    if how == "whole":
        said["whole"] = True
        if said.get("nodes", 0) > 1 and not said.get("topology"):
            said["topology"] = "network"
    if how != "template":
        said["parts"] = data.get("parts") or 1
    return said


def as_filled_in(need: Mapping[str, Any], version: TemplateVersion) -> dict[str, Any]:
    """The fields that would say this need again, beside the template's own."""
    start: dict[str, Any] = {"template": version.template.slug, "parts": need.get("parts", 1)}
    alike = all(
        (need.get(name) or None) == (version.need.get(name) or None)
        for name in (*SIZES, *ENGINES, "topology", "nodes")
    )
    if alike and need.get("parts", 1) == version.need.get("parts", 1):
        return start
    return start | _sized(need)


def _sized(need: Mapping[str, Any]) -> dict[str, Any]:
    engines = {name: need[name] for name in ENGINES if need.get(name)}
    if need.get("whole"):
        lies = {name: need[name] for name in TAKES["whole"] if need.get(name)}
        return {"how": "whole", **lies}
    if need.get("profile"):
        return {"how": "profile", "profile": need["profile"], **engines}
    compute = need.get("compute_milli") or need.get("share_milli")
    percent = None if need.get("proportional") or not compute else -(-compute // 10)
    sizes = {"memory_gb": need.get("memory_gb"), "compute_percent": percent}
    return {"how": "size", **sizes, **engines}


def _choose(field: forms.Field, rows: Any) -> None:
    assert isinstance(field, forms.ModelChoiceField)
    field.queryset = rows

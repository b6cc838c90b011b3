"""What a card-hour really costs one of the visitor's teams, step by step, on the page of prices."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from billing.reports.words import account_words
from billing.selectors.effective import Effective, effective_price
from billing.selectors.holds import database_now
from nodeagent.protocol.vocabulary import Mode
from pool.models import Partition, Project
from portal.access.showback import money_hidden
from portal.pages.htmx import HtmxRequest
from portal.templatetags.needs import MODES


class EffectiveForm(forms.Form):
    """Whose hour, and on what."""

    of_project = forms.ModelChoiceField(
        label=gettext_lazy("Project"), queryset=Project.objects.none(), to_field_name="slug"
    )
    of_partition = forms.ModelChoiceField(
        label=gettext_lazy("Partition"), queryset=Partition.objects.none(), to_field_name="slug"
    )
    of_model = forms.CharField(label=gettext_lazy("Card model"), max_length=80)
    of_mode = forms.ChoiceField(
        label=gettext_lazy("Mode"),
        choices=[(one.value, MODES.get(one.value, one.value)) for one in Mode],
    )
    of_class = forms.CharField(label=gettext_lazy("Price class"), max_length=32, initial="standard")
    used = forms.IntegerField(
        label=gettext_lazy("Of it used, %"),
        min_value=0,
        max_value=100,
        initial=100,
        help_text=gettext_lazy("Counts where what was used is charged."),
    )
    gives_way = forms.BooleanField(label=gettext_lazy("Work that gives way"), required=False)

    def __init__(self, *args: Any, projects: Any, partitions: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["of_project"].queryset = projects  # type: ignore[attr-defined]
        self.fields["of_partition"].queryset = partitions  # type: ignore[attr-defined]
        for field in self.fields.values():
            shape = "form-check-input" if isinstance(field, forms.BooleanField) else "form-control"
            if isinstance(field, forms.ChoiceField):
                shape = "form-select"
            field.widget.attrs.setdefault("class", shape)


def effective_context(request: HtmxRequest, partitions: Any) -> dict[str, Any]:
    """The form and, once it is filled in, the price with its steps; none where money is hidden."""
    standing = request.standing
    projects = Project.objects.filter(archived_at=None).exclude(
        organization__in=money_hidden(standing)
    )
    if not standing.platform:
        projects = projects.filter(standing.spends(""))
    asked = request.GET if "of_project" in request.GET else None
    form = EffectiveForm(asked, projects=projects.distinct(), partitions=partitions)
    context: dict[str, Any] = {"effective_form": form if projects.exists() else None}
    if asked is not None and form.is_valid():
        found = _price(form.cleaned_data)
        context["effective"] = found
        context["steps"] = [(account_words(name.value), micro) for name, micro in found.steps]
    return context


def _price(given: dict[str, Any]) -> Effective:
    return effective_price(
        project=given["of_project"],
        partition=given["of_partition"],
        card_model=given["of_model"].strip(),
        mode=given["of_mode"],
        price_class=given["of_class"].strip(),
        preemptible=given["gives_way"],
        used_milli=given["used"] * 10,
        at=database_now(),
    )

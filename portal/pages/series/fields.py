"""Fields of the job form: how many pieces it has, and what it runs after."""

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pool.errors import Invalid
from pool.rules.arrays import MOST_PIECES, Array, array_problem, at_once
from pool.rules.dependencies import Rule
from pool.selectors.memberships import Standing
from pool.selectors.workloads import workload_list
from pool.services.refusals import said
from pool.services.series.dependencies import After

EACH = "each"
RULES = [
    (Rule.SUCCESS.value, gettext_lazy("they have succeeded")),
    (Rule.END.value, gettext_lazy("they have ended, however")),
    (Rule.SHARE.value, gettext_lazy("a share of the array is done")),
    (EACH, gettext_lazy("the piece with the same number has succeeded")),
]


class SeriesFields(forms.Form):
    """Pieces, throttle, and what must have happened before."""

    pieces = forms.CharField(
        label=gettext_lazy("Pieces"),
        max_length=10_000,
        required=False,
        help_text=gettext_lazy(
            "For example 0-19, or 1,3,7-9: an array, whose pieces read GPUPOOL_ARRAY_INDEX. "
            "Left empty it runs once."
        ),
    )
    throttle = forms.IntegerField(
        label=gettext_lazy("Pieces at a time"),
        min_value=1,
        max_value=MOST_PIECES,
        required=False,
        help_text=gettext_lazy("Left empty: as many as there is room for."),
    )
    after_uids = forms.CharField(
        label=gettext_lazy("Runs after"),
        max_length=5000,
        required=False,
        help_text=gettext_lazy("Names of workloads (wl-…), with blanks between them."),
    )
    after_rule = forms.ChoiceField(
        label=gettext_lazy("It starts when"), choices=RULES, required=False
    )
    after_share = forms.IntegerField(
        label=gettext_lazy("Share (percent)"), min_value=1, max_value=100, required=False
    )

    def clean_pieces(self) -> str:
        """The text, if it names pieces."""
        spec = str(self.cleaned_data["pieces"]).strip()
        wrong = array_problem(Array(spec)) if spec else None
        if wrong is not None:
            raise forms.ValidationError(said(wrong))
        return spec

    @property
    def array(self) -> Array | None:
        """The array, where the form asks for one."""
        spec = self.cleaned_data.get("pieces")
        return Array(spec, self.cleaned_data.get("throttle")) if spec else None

    @property
    def copies(self) -> int:
        """How many pieces may run at a time; one where it is no array."""
        return at_once(len(self.array.indices), self.array.throttle) if self.array else 1

    def after(self, standing: Standing) -> list[After]:
        """What it runs after.

        Raises:
            Invalid: one of them is not there, or not the person's to know.
        """
        uids = str(self.cleaned_data.get("after_uids") or "").replace(",", " ").split()
        found = {one.uid: one for one in workload_list(standing=standing).filter(uid__in=uids)}
        missing = [uid for uid in uids if uid not in found]
        if missing:
            raise Invalid(after=_("There is no workload %(uid)s.") % {"uid": missing[0][:60]})
        rule = self.cleaned_data.get("after_rule") or Rule.SUCCESS.value
        share = self.cleaned_data.get("after_share")
        return [
            After(
                on=found[uid],
                rule=Rule.SUCCESS if rule == EACH else Rule(rule),
                share_milli=share * 10 if share and rule == Rule.SHARE else None,
                each=rule == EACH,
            )
            for uid in dict.fromkeys(uids)
        ]

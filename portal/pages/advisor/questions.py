"""Five questions on the left, the living answer on the right."""

from typing import Any

from django import forms
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pool.models.tenants import Project
from pool.rules.advisor import MOST_GB, MOST_NUMBER, Answers
from pool.rules.advisor_table import LOADS, TALKS, TASKS
from pool.selectors.tenants import working_projects
from portal.pages.advisor.judged import Told, tell
from portal.pages.calendar.durations import DurationField
from portal.pages.htmx import HtmxRequest, page, refuse_unless
from portal.pages.need_forms import LONGEST

ANY = gettext_lazy("as usual for it")


def _words(pairs: Any, *, some: bool = True) -> Any:
    """Choices whose words are translated for each reader."""
    return lambda: ([("", ANY)] if some else []) + [(name, _(text)) for name, text in pairs]


class QuestionForm(forms.Form):
    """The five questions, and for which project."""

    project = forms.ModelChoiceField(
        label=gettext_lazy("Project"),
        queryset=Project.objects.none(),
        to_field_name="slug",
        empty_label=None,
    )
    task = forms.ChoiceField(
        label=gettext_lazy("1. What will it do?"),
        choices=_words([(one["name"], one["label"]) for one in TASKS], some=False),
    )
    memory_gb = forms.IntegerField(
        label=gettext_lazy("2. How much card memory does one piece need (GB)?"),
        min_value=1,
        max_value=MOST_GB,
        required=False,
        help_text=gettext_lazy("Left empty: what such work usually needs."),
    )
    number = forms.IntegerField(
        label=gettext_lazy("3. How many pieces at the same time?"),
        min_value=1,
        max_value=MOST_NUMBER,
        initial=1,
    )
    communication = forms.ChoiceField(
        label=gettext_lazy("How much do the pieces talk to each other?"),
        choices=_words(TALKS),
        required=False,
    )
    time_value = DurationField(
        label=gettext_lazy("4. For how long?"), least=60, most=LONGEST, initial=8 * 3600
    )
    load = forms.ChoiceField(
        label=gettext_lazy("5. How busy will the card be?"), choices=_words(LOADS), required=False
    )
    apart = forms.BooleanField(
        label=gettext_lazy("Neighbours must be kept apart by hardware"), required=False
    )

    def __init__(self, *args: Any, request: HtmxRequest, **given: Any) -> None:
        super().__init__(*args, **given)
        rows = working_projects(standing=request.standing)
        self.fields["project"].queryset = rows  # type: ignore[attr-defined]

    @property
    def answers(self) -> Answers:
        """What was said, of a form that is valid."""
        data = self.cleaned_data
        return Answers(
            task=data["task"],
            memory_gb=data["memory_gb"],
            number=data["number"],
            seconds=data["time_value"],
            communication=data["communication"],
            load=data["load"],
            apart=data["apart"],
        )


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """The questions with the answer to what an address says already."""
    refuse_unless(request.standing.works)
    form = QuestionForm(request.GET if "task" in request.GET else None, request=request)
    context = {"form": form, "told": _told(request, form)}
    return render(request, "pages/advisor/index.html", context)


@page("POST")
def judged(request: HtmxRequest) -> HttpResponse:
    """Only the answer, while one chooses."""
    refuse_unless(request.standing.works)
    form = QuestionForm(request.POST, request=request)
    context = {"form": form, "told": _told(request, form)}
    return render(request, "pages/advisor/_answer.html", context)


def _told(request: HtmxRequest, form: QuestionForm) -> Told | None:
    if not form.is_bound or not form.is_valid():
        return None
    return tell(
        project=form.cleaned_data["project"],
        user=request.user,
        standing=request.standing,
        answers=form.answers,
    )

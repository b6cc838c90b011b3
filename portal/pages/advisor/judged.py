"""Advice made whole: the need judged, priced and put before the queue; for page and REST."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext

from pool.cycle.approvals.effects import Effects
from pool.models.tenants import Project
from pool.models.users import User
from pool.rules.advisor import Answers, answers_problems
from pool.rules.problems import Problem
from pool.selectors.approvals.advice import Advice, PoolSize, advice_for, pool_sizes
from pool.selectors.approvals.policies import Took, usually_takes
from pool.selectors.memberships import Standing
from portal.pages.advisor.waits import effects_for
from portal.pages.answers import Answer, Priced, answer
from portal.pages.calendar.durations import words_of


@dataclass(frozen=True, slots=True)
class Told:
    """Everything the advisor says. `refused` names answers that cannot be right."""

    answers: Answers
    refused: Mapping[str, Problem] = field(default_factory=dict)
    advice: Advice | None = None
    answer: Answer | None = None
    effects: Effects | None = None
    took: Took | None = None
    sizes: tuple[PoolSize, ...] = ()

    @property
    def verdict(self) -> str:
        """Whether sharing pays, as a sentence."""
        return gettext(self.advice.advised.verdict_text) if self.advice else ""

    @property
    def why(self) -> str:
        """Why this and nothing else, as a sentence."""
        return gettext(self.advice.advised.why) if self.advice else ""

    @property
    def form(self) -> str:
        """The address of the request form, filled in with it."""
        return self.form_for(None)

    def form_for(self, way: Priced | None) -> str:
        """The same with one way only."""
        if self.advice is None or self.advice.version is None:
            return reverse("request-new")
        said = _filled(self.advice, self.answers)
        if way is not None:
            said["only"] = f"{way.placed.partition.slug}:{way.option.label}:{way.option.mode}"
        return f"{reverse('request-new')}?{urlencode(said)}"

    @property
    def ways(self) -> list[tuple[Priced, str]]:
        """The next best ways with the address of the form for each."""
        return [(one, self.form_for(one)) for one in (self.answer.others if self.answer else [])]


def tell(*, project: Project, user: User, standing: Standing, answers: Answers) -> Told:
    """The whole advice for one project; nothing is written."""
    refused = answers_problems(answers)
    if refused:
        return Told(answers, refused=refused)
    advice = advice_for(project=project, standing=standing, answers=answers)
    sizes = tuple(pool_sizes(partitions=advice.partitions))
    if advice.version is None:
        return Told(answers, advice=advice, sizes=sizes)
    seconds = min(answers.seconds or advice.version.default_seconds, advice.version.max_seconds)
    said = answer(
        project=project,
        version=advice.version,
        overrides=advice.advised.overrides,
        partitions=list(advice.partitions),
        seconds=seconds,
        copies=advice.advised.copies,
    )
    effects = None
    if said.need is not None and said.best is not None:
        effects = effects_for(
            project=project,
            owner=user,
            version=advice.version,
            need=said.need,
            partitions=[said.best.placed.partition],
            seconds=seconds,
            copies=advice.advised.copies,
        )
    took = usually_takes(project=project, steps=len(said.steps)) if said.steps else None
    return Told(answers, {}, advice, said, effects, took, sizes)


def _filled(advice: Advice, answers: Answers) -> dict[str, Any]:
    """The fields of the request form that say the advised need."""
    said = dict(advice.advised.overrides)
    filled: dict[str, Any] = {
        "template": advice.advised.template,
        "how": "whole" if said.get("whole") else "size",
        "memory_gb": said.get("memory_gb"),
        "compute_percent": said.get("compute_percent"),
        "parts": said.get("parts"),
        "topology": said.get("topology"),
        "apart": "1" if said.get("isolation") else None,
        "copies": advice.advised.copies,
        "time_value": words_of(answers.seconds) if answers.seconds else None,
    }
    return {name: value for name, value in filled.items() if value}

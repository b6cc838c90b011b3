"""Templates: made, given new versions, switched off and on; running work keeps its version."""

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext

from nodeagent.protocol.vocabulary import WorkloadKind
from pool.errors import Invalid, NotYours
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.roles import Priority, WorkClass
from pool.models.catalogue.environments import Environment
from pool.models.templates import Template, TemplateVersion
from pool.models.tenants import Organization, Project
from pool.rules.approval import policy_from
from pool.rules.catalogue_images import fitted
from pool.rules.needs import from_mapping, to_mapping
from pool.rules.problems import Problem
from pool.rules.tenants import slug_problem, title_problem
from pool.services.catalogue.judging import inside_of
from pool.services.moves import locked
from pool.services.refusals import refuse, refusing, said

SECONDS = {
    "max_seconds": (1, 366 * 86_400),
    "default_seconds": (1, 366 * 86_400),
    "start_limit_seconds": (1, 86_400),
    "grace_seconds": (0, 86_400),
    "min_run_seconds": (0, 7 * 86_400),
    "idle_seconds": (60, 30 * 86_400),
    "checkpoint_seconds": (60, 30 * 86_400),
    "min_profile_compute": (0, 100),
}
CHOICES: dict[str, tuple[str, ...]] = {
    "kind": tuple(WorkloadKind),
    "work_class": tuple(WorkClass),
    "priority": tuple(one for one in Priority if one is not Priority.CRITICAL),
    "bandwidth": ("measured", "light", "heavy"),
}
SWITCHES = ("preemptible", "unlimited_modes")
OPTIONAL = ("idle_seconds", "checkpoint_seconds")
WORDS = frozenset({"need", "environment", "approval", "price_class", *SECONDS, *CHOICES, *SWITCHES})
"""What a version may say; `environment` is what its work runs in when it names no other."""


@transaction.atomic
def template_create(
    *,
    slug: str,
    name: str,
    actor: Actor,
    name_zh: str = "",
    description: str = "",
    description_zh: str = "",
    organization: Organization | None = None,
    inactive_reason: str = "",
    rank: int = 100,
    example: bool = False,
    **version: Any,
) -> TemplateVersion:
    """A new template with its first version; with an inactive reason it is shown, not offered.

    Raises:
        Invalid: a field is wrong, or the slug is taken.
    """
    refuse(
        {
            "slug": slug_problem(slug),
            "name": title_problem(name),
            "name_zh": title_problem(name_zh) if name_zh else None,
        }
    )
    if Template.objects.filter(slug=slug).exists():
        raise Invalid(slug=gettext("%(slug)s is taken.") % {"slug": slug})
    template = Template.objects.create(
        slug=slug,
        name=name,
        name_zh=name_zh,
        description=description,
        description_zh=description_zh,
        organization=organization,
        active=not inactive_reason,
        inactive_reason=inactive_reason[:200],
        rank=rank,
        example=example,
    )
    return template_version_add(template=template, actor=actor, **version)


@transaction.atomic
def template_version_add(
    *, template: Template, actor: Actor, note: str = "", **words: Any
) -> TemplateVersion:
    """The next version; what is not said is as in the one before. `note` says why.

    When nothing differs the newest version stays the newest.

    Raises:
        NotYours: the template does not exist any more.
        Invalid: a field is wrong, or the need contradicts itself.
    """
    if not locked(Template.objects.filter(pk=template.pk)):
        raise NotYours
    last = template.versions.order_by("-number").first()
    values = {name: getattr(last, name) for name in WORDS} if last else {}
    values |= _values(words)
    if not values.get("need"):
        raise Invalid(need=gettext("A template must say what it needs."))
    _environment_fits(template, last, values)
    if values.get("default_seconds", 1) > values.get("max_seconds", 7 * 86_400):
        raise Invalid(default_seconds=gettext("It is longer than the longest allowed."))
    if last and all(getattr(last, name) == value for name, value in values.items()):
        return last
    number = template.versions.aggregate(most=Max("number"))["most"] or 0
    row = TemplateVersion.objects.create(
        template=template,
        number=number + 1,
        note=note[:200],
        actor_label=actor.label[:160],
        **values,
    )
    record(
        EventKind.TEMPLATE_CHANGED,
        template,
        actor=actor,
        version=row.number,
        changed=sorted(words),
        reason=note[:200],
    )
    return row


@transaction.atomic
def template_change(
    *, template: Template, actor: Actor, projects: Iterable[Project] | None = None, **words: str
) -> Template:
    """Change what a template is called and who may use it; its versions stay as they are.

    Raises:
        NotYours: it does not exist any more.
        Invalid: a field is wrong, or a project is another organization's.
    """
    found = locked(Template.objects.filter(pk=template.pk))
    if not found:
        raise NotYours
    row = found[0]
    strange = set(words) - set(NAMED)
    if strange:
        raise Invalid(**dict.fromkeys(sorted(strange), gettext("This cannot be changed.")))
    refuse({"name": title_problem(words["name"]) if "name" in words else None})
    changed = {name: text for name, text in words.items() if getattr(row, name) != text}
    for name, text in changed.items():
        setattr(row, name, text)
    if changed:
        row.save(update_fields=list(changed))
    told = {"changed": sorted(changed)}
    if projects is not None and _projects_set(row, list(projects)):
        told["changed"].append("projects")
    if told["changed"]:
        record(EventKind.TEMPLATE_CHANGED, row, actor=actor, changed=told["changed"])
    return row


NAMED = ("name", "name_zh", "description", "description_zh")
"""What a template is called."""


def _projects_set(row: Template, wanted: list[Project]) -> bool:
    """Name the projects that alone may use it, none for all; whether that changed anything."""
    if row.organization_id is not None and any(
        one.organization_id != row.organization_id for one in wanted
    ):
        raise Invalid(projects=gettext("A project is another organization's."))
    before = set(row.projects.values_list("pk", flat=True))
    row.projects.set(wanted)
    return before != {one.pk for one in wanted}


@transaction.atomic
def template_switch(
    *, template: Template, active: bool, actor: Actor, reason: str = ""
) -> Template:
    """Offer a template, or stop offering it with the reason; twice changes nothing.

    Raises:
        NotYours: it does not exist any more.
        Invalid: a reason is missing.
    """
    found = locked(Template.objects.filter(pk=template.pk))
    if not found:
        raise NotYours
    row = found[0]
    if not active:
        refuse({"reason": title_problem(reason, 200)})
    if (row.active, row.inactive_reason) != (active, "" if active else reason):
        row.active, row.inactive_reason = active, "" if active else reason
        row.save(update_fields=["active", "inactive_reason"])
        record(EventKind.TEMPLATE_CHANGED, row, actor=actor, active=active, reason=reason)
    return row


def _environment_fits(
    template: Template, last: TemplateVersion | None, values: dict[str, Any]
) -> None:
    """Pass when the version's work can run in its environment, and all who may use it may use that.

    One that was there before and is closed by now bars no other change.
    """
    chosen: Environment | None = values.get("environment")
    if chosen is None:
        return
    fresh = last is None or last.environment != chosen
    if (
        chosen.organization_id not in (None, template.organization_id)
        or fresh
        and not chosen.active
    ):
        raise Invalid(environment=gettext("No such environment."))
    with refusing():
        fit = fitted(from_mapping(values["need"]), inside_of(chosen))
    if isinstance(fit, Problem):
        raise Invalid(environment=said(fit))


def _values(words: dict[str, Any]) -> dict[str, Any]:
    strange = set(words) - WORDS
    if strange:
        unknown = gettext("This is not a part of a template.")
        raise Invalid(**dict.fromkeys(sorted(strange), unknown))
    wrong = {name: text for name, value in words.items() if (text := _wrong(name, value))}
    if wrong:
        raise Invalid(**wrong)
    values = dict(words)
    with refusing():
        if "need" in values:
            values["need"] = to_mapping(from_mapping(values["need"]))
        policy_from(values.get("approval"))
    return values


def _wrong(name: str, value: Any) -> str:
    """What is wrong with one word of a version; empty when nothing is."""
    if name in SECONDS and not (value is None and name in OPTIONAL):
        least, most = SECONDS[name]
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            text = gettext("A whole number from %(least)s to %(most)s is needed.")
            return text % {"least": least, "most": most}
    if name in CHOICES and value not in CHOICES[name]:
        return gettext("Choose from: %(known)s.") % {"known": ", ".join(CHOICES[name])}
    if name in SWITCHES and not isinstance(value, bool):
        return gettext("Yes or no is meant here.")
    if name == "price_class" and (not isinstance(value, str) or not 0 < len(value) <= 32):
        return gettext("A short text is needed: at most %(most)s characters.") % {"most": 32}
    return ""

"""Named needs."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.cycle.quotatree.fitting import fits
from pool.errors import Forbidden
from pool.models import Organization, Template, TemplateVersion
from pool.rules.needs import from_mapping
from pool.selectors.partitions import partition_list
from pool.selectors.reviews.templates import template_steps
from pool.selectors.templates import template_versions
from pool.services.refusals import refusing
from pool.services.templates import (
    CHOICES,
    NAMED,
    SECONDS,
    template_change,
    template_create,
    template_switch,
    template_version_add,
)
from portal.access.guards import may
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Filters, FreeJSON, Given, Nothing
from portal.api.v1.references import environment_named, organization_named, project_named

OF_THE_PLATFORM = frozenset({"approval", "price_class", "priority", "unlimited_modes"})
"""Who is asked, what it costs, what goes first: an organization does not decide that for itself."""


class TemplateOut(serializers.ModelSerializer[TemplateVersion]):
    """A template as its newest version has it. Times in seconds."""

    uid = serializers.CharField(source="template.uid")
    slug = serializers.CharField(source="template.slug")
    name = serializers.CharField(source="template.name")
    name_zh = serializers.CharField(source="template.name_zh")
    description = serializers.CharField(source="template.description")
    organization = serializers.CharField(source="template.organization.slug", default=None)
    active = serializers.BooleanField(source="template.active")
    inactive_reason = serializers.CharField(source="template.inactive_reason")
    version = serializers.IntegerField(source="number")
    need = serializers.DictField()
    environment = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    example = serializers.BooleanField(source="template.example")

    class Meta:
        model = TemplateVersion
        fields = [
            "uid",
            "slug",
            "name",
            "name_zh",
            "description",
            "organization",
            "active",
            "inactive_reason",
            "version",
            "kind",
            "work_class",
            "need",
            "environment",
            "priority",
            "preemptible",
            "default_seconds",
            "max_seconds",
            "grace_seconds",
            "min_run_seconds",
            "start_limit_seconds",
            "idle_seconds",
            "checkpoint_seconds",
            "price_class",
            "bandwidth",
            "min_profile_compute",
            "note",
            "created_at",
            "example",
        ]


def choice(name: str) -> serializers.ChoiceField:
    """One of the words the pool knows."""
    return serializers.ChoiceField(choices=[str(one) for one in CHOICES[name]], required=False)


def number(name: str, **more: Any) -> serializers.IntegerField:
    """A number within what the pool takes."""
    least, most = SECONDS[name]
    return serializers.IntegerField(min_value=least, max_value=most, required=False, **more)


class VersionIn(Given):
    """What a version says; what is not said is as in the version before. Times in seconds."""

    need = FreeJSON(required=False)
    environment = serializers.SlugField(
        max_length=63,
        required=False,
        allow_blank=True,
        help_text="What its work runs in when it names no other; empty: nothing in particular.",
    )
    kind = choice("kind")
    work_class = choice("work_class")
    priority = choice("priority")
    bandwidth = choice("bandwidth")
    preemptible = serializers.BooleanField(required=False)
    unlimited_modes = serializers.BooleanField(required=False)
    default_seconds = number("default_seconds")
    max_seconds = number("max_seconds")
    start_limit_seconds = number("start_limit_seconds")
    grace_seconds = number("grace_seconds")
    min_run_seconds = number("min_run_seconds")
    idle_seconds = number("idle_seconds", allow_null=True)
    checkpoint_seconds = number("checkpoint_seconds", allow_null=True)
    min_profile_compute = number("min_profile_compute")
    price_class = serializers.CharField(max_length=32, required=False)
    approval = FreeJSON(required=False)


class TemplateIn(VersionIn):
    """A new template with its first version; without an organization it is for everybody."""

    slug = serializers.CharField(max_length=63)
    name = serializers.CharField(max_length=120)
    name_zh = serializers.CharField(max_length=120, required=False, allow_blank=True)
    description = serializers.CharField(max_length=4000, required=False, allow_blank=True)
    description_zh = serializers.CharField(max_length=4000, required=False, allow_blank=True)
    organization = serializers.SlugField(max_length=63, required=False)
    inactive_reason = serializers.CharField(max_length=200, required=False, allow_blank=True)
    rank = serializers.IntegerField(min_value=0, max_value=30_000, required=False)
    need = FreeJSON()


class TemplateChange(VersionIn):
    """A change; what concerns its work makes a new version, its name and who may use it do not.

    `projects` are the slugs of those that alone may use it; none means everybody it is open to.
    """

    name = serializers.CharField(max_length=120, required=False)
    name_zh = serializers.CharField(max_length=120, required=False, allow_blank=True)
    description = serializers.CharField(max_length=4000, required=False, allow_blank=True)
    description_zh = serializers.CharField(max_length=4000, required=False, allow_blank=True)
    projects = serializers.ListField(
        child=serializers.SlugField(max_length=63), max_length=1000, required=False
    )
    note = serializers.CharField(max_length=200, required=False, allow_blank=True)


class ReviewOut(serializers.Serializer[Any]):
    """What the work of one version had and used in 28 days; MiB, card-seconds. Null is unknown.

    `bandwidth_…` is whether its measured runs were heavy on memory bandwidth, and how many; the
    percentage is the middle run's mean memory activity.
    """

    version = serializers.IntegerField(source="version.number")
    changed = serializers.DictField()
    runs = serializers.IntegerField(source="review.runs", default=0)
    known = serializers.IntegerField(source="review.known", default=0)
    p95_mib = serializers.IntegerField(source="review.p95_mib", default=None)
    peak_mib = serializers.IntegerField(source="review.peak_mib", default=None)
    had_mib = serializers.IntegerField(source="review.had_mib", default=None)
    proposed_mib = serializers.IntegerField(source="review.proposed_mib", default=None)
    card_seconds = serializers.FloatField(source="review.card_s", default=0.0)
    wasted_card_seconds = serializers.FloatField(source="review.wasted_card_s", default=0.0)
    bandwidth_heavy = serializers.BooleanField(source="learned.heavy", default=None)
    bandwidth_runs = serializers.IntegerField(source="learned.runs", default=0)
    bandwidth_heavy_runs = serializers.IntegerField(source="learned.heavy_runs", default=0)
    bandwidth_percent = serializers.FloatField(source="learned.percent", default=None)


class ReviewsOut(serializers.Serializer[Any]):
    """Newest version first."""

    results = ReviewOut(many=True)


class FitIn(Given):
    """A need to try in every partition that the caller may use."""

    need = FreeJSON()
    unlimited_modes = serializers.BooleanField(required=False, default=False)
    work_class = choice("work_class")


class FitOut(serializers.Serializer[Any]):
    """Whether one would start now there, and if not why; the profile that a part becomes."""

    partition = serializers.CharField(source="partition.slug")
    now = serializers.BooleanField()
    why = serializers.CharField()
    card = serializers.CharField(source="option.option.label", default=None)
    mode = serializers.CharField(source="option.option.mode", default=None)
    profile = serializers.CharField(source="option.option.profile", default=None)
    memory_mib = serializers.IntegerField(source="option.option.memory_mib", default=None)


class FitsOut(serializers.Serializer[Any]):
    """Partition by partition."""

    results = FitOut(many=True)


class DeactivateIn(Given):
    """Why it is not offered any more; people read it."""

    reason = serializers.CharField(max_length=200)


class TemplateFilters(Filters):
    """Filters of the list."""

    slug = serializers.SlugField(max_length=63, required=False)
    active = serializers.BooleanField(required=False, default=None, allow_null=True)


class TemplateDoor(Listed):
    """Templates that are common or of the caller's organizations.

    A platform admin makes and changes them all, an organization's admin its own.
    """

    serializer_class = TemplateOut
    filters = TemplateFilters
    sorts = {"slug": "template__slug", "name": "template__name"}
    searched = ("template__slug", "template__name")
    lookup_field = "template__uid"
    lookup_url_kwarg = "uid"
    queryset = TemplateVersion.objects.none()
    takes = {
        "create": TemplateIn,
        "partial_update": TemplateChange,
        "fit": FitIn,
        "versions": VersionIn,
        "activate": Nothing,
        "deactivate": DeactivateIn,
    }
    gives = {
        "create": (201, TemplateOut),
        "versions": (201, TemplateOut),
        "review": (200, ReviewsOut),
        "fit": (200, FitsOut),
    }

    def rows(self) -> QuerySet[TemplateVersion]:
        """The newest version of each."""
        return template_versions(standing=self.standing)

    def narrowed(self, rows: QuerySet[TemplateVersion], **asked: Any) -> QuerySet[TemplateVersion]:
        """By slug and whether it may be used."""
        if asked.get("active") is not None:
            rows = rows.filter(template__active=asked["active"])
        return rows.filter(template__slug=asked["slug"]) if "slug" in asked else rows

    def create(self, request: Request) -> Response:
        """A new template; running work never notices."""
        given = self.taken()
        slug = given.pop("organization", None)
        organization = organization_named(self.standing, slug) if slug else None
        self._may_say(organization, given)
        made = template_create(actor=self.actor, organization=organization, **given)
        return self.said(made)

    def partial_update(self, request: Request, uid: str) -> Response:
        """Change it: running work keeps the version it was made with."""
        template = self._managed()
        given = self.taken()
        named = {name: given.pop(name) for name in NAMED if name in given}
        if "projects" in given:
            slugs = dict.fromkeys(given.pop("projects"))
            named["projects"] = [project_named(self.standing, slug) for slug in slugs]
        note = given.pop("note", "")
        self._may_say(template.organization, given)
        with transaction.atomic():
            if named:
                template_change(template=template, actor=self.actor, **named)
            if given:
                template_version_add(template=template, actor=self.actor, note=note, **given)
        return self.said(self.one())

    @action(detail=True, methods=["get"])
    def review(self, request: Request, uid: str) -> Response:
        """What its versions changed, had and used; for those who look after it."""
        return self.said({"results": template_steps(template=self._managed())})

    @action(detail=False, methods=["post"])
    def fit(self, request: Request) -> Response:
        """Where a need would fit, by the cards' real geometry, and where it would start now."""
        given = self.taken()
        with refusing():
            need = from_mapping(given.pop("need"))
        found = fits(
            look=self.looked(),
            need=need,
            partitions=partition_list(standing=self.standing),
            **given,
        )
        return self.said({"results": found})

    @action(detail=True, methods=["post"])
    def versions(self, request: Request, uid: str) -> Response:
        """The next version; work that is there keeps the one it was made with."""
        template = self._managed()
        given = self.taken()
        self._may_say(template.organization, given)
        return self.said(template_version_add(template=template, actor=self.actor, **given))

    @action(detail=True, methods=["post"])
    def activate(self, request: Request, uid: str) -> Response:
        """Offer it."""
        template = self._managed()
        self.taken()
        template_switch(template=template, active=True, actor=self.actor)
        return self.said(self.one())

    @action(detail=True, methods=["post"])
    def deactivate(self, request: Request, uid: str) -> Response:
        """Stop offering it, with the reason; what runs goes on."""
        template = self._managed()
        template_switch(template=template, active=False, actor=self.actor, **self.taken())
        return self.said(self.one())

    def _managed(self) -> Template:
        template: Template = self.one().template
        self.allow(Verb.TEMPLATE_MANAGE, template.organization)
        return template

    def _may_say(self, organization: Organization | None, words: dict[str, Any]) -> None:
        """Whether the caller may say this; what words name is looked up."""
        self.allow(Verb.TEMPLATE_MANAGE, organization)
        if "environment" in words:
            words["environment"] = environment_named(self.standing, words["environment"])
        if OF_THE_PLATFORM & set(words) and not may(self.standing, Verb.TEMPLATE_MANAGE):
            raise Forbidden

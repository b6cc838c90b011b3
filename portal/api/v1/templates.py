"""Named needs."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.errors import Forbidden
from pool.models import Organization, Template, TemplateVersion
from pool.selectors.templates import template_versions
from pool.services.templates import (
    CHOICES,
    SECONDS,
    template_create,
    template_switch,
    template_version_add,
)
from portal.access.guards import may
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Filters, FreeJSON, Given, Nothing
from portal.api.v1.references import organization_named

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
    lookup_field = "template__uid"
    lookup_url_kwarg = "uid"
    queryset = TemplateVersion.objects.none()
    takes = {
        "create": TemplateIn,
        "versions": VersionIn,
        "activate": Nothing,
        "deactivate": DeactivateIn,
    }
    gives = {"create": (201, TemplateOut), "versions": (201, TemplateOut)}

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
        self.allow(Verb.TEMPLATE_MANAGE, organization)
        if OF_THE_PLATFORM & set(words) and not may(self.standing, Verb.TEMPLATE_MANAGE):
            raise Forbidden

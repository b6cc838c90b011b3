"""Named needs."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from pool.models import TemplateVersion
from pool.selectors.templates import template_versions
from portal.api.door import Listed
from portal.api.fields import Filters


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
            "start_limit_seconds",
            "idle_seconds",
            "checkpoint_seconds",
            "price_class",
            "example",
        ]


class TemplateFilters(Filters):
    """Filters of the list."""

    slug = serializers.SlugField(max_length=63, required=False)
    active = serializers.BooleanField(required=False, default=None, allow_null=True)


class TemplateDoor(Listed):
    """Templates that are common or of the caller's organizations."""

    serializer_class = TemplateOut
    filters = TemplateFilters
    lookup_field = "template__uid"
    lookup_url_kwarg = "uid"
    queryset = TemplateVersion.objects.none()

    def rows(self) -> QuerySet[TemplateVersion]:
        """The newest version of each."""
        return template_versions(standing=self.standing)

    def narrowed(self, rows: QuerySet[TemplateVersion], **asked: Any) -> QuerySet[TemplateVersion]:
        """By slug and whether it may be used."""
        if asked.get("active") is not None:
            rows = rows.filter(template__active=asked["active"])
        return rows.filter(template__slug=asked["slug"]) if "slug" in asked else rows

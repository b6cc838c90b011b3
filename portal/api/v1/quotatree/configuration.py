"""The configuration as files, for scripts: written, tried, loaded."""

from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.services.imports.load import load, written
from portal.access.roles import Verb
from portal.api.door import Door
from portal.api.fields import Given
from portal.configuration import SECTION_NAMES, SECTIONS, sections_named

SHAPES = ("yaml", "csv")


class ConfigurationExportIn(Given):
    """Which sections, in which shape; a CSV holds one."""

    sections = serializers.ListField(
        child=serializers.ChoiceField(choices=SECTION_NAMES),
        max_length=len(SECTIONS),
        required=False,
        default=list,
    )
    shape = serializers.ChoiceField(choices=SHAPES, default="yaml")


class ExportOut(serializers.Serializer[Any]):
    """The text of the file."""

    text = serializers.CharField()


class LoadIn(Given):
    """The text of a file; `keep` false (unless said) only tells what it would do."""

    text = serializers.CharField(max_length=4_194_304, trim_whitespace=False)
    shape = serializers.ChoiceField(choices=SHAPES, default="yaml")
    section = serializers.ChoiceField(choices=["", *SECTION_NAMES], required=False, default="")
    keep = serializers.BooleanField(default=False)


class StepOut(serializers.Serializer[Any]):
    """What one row does: new, changed, or the same; words to [before, after]."""

    line = serializers.IntegerField()
    section = serializers.CharField()
    key = serializers.ListField(child=serializers.CharField(allow_blank=True))
    what = serializers.CharField()
    changed = serializers.DictField()


class WrongOut(serializers.Serializer[Any]):
    """What is wrong, and in which line; line 0 is the file as a whole."""

    line = serializers.IntegerField()
    section = serializers.CharField(allow_blank=True)
    field = serializers.CharField(allow_blank=True)
    text = serializers.CharField()


class LoadedOut(serializers.Serializer[Any]):
    """What a file does. Nothing of it is kept when one line is wrong."""

    kept = serializers.BooleanField()
    steps = StepOut(many=True)
    wrong = WrongOut(many=True)


class ConfigurationDoor(Door):
    """Users, projects, roles, partitions, templates, quotas, prices; a platform admin's."""

    takes = {"export": ConfigurationExportIn, "load": LoadIn}
    gives = {"export": (200, ExportOut), "load": (200, LoadedOut)}

    @action(detail=False, methods=["post"])
    def export(self, request: Request) -> Response:
        """The sections as they are, in a file that loads without a change."""
        self.allow(Verb.ORGANIZATION_MANAGE)
        given = self.taken()
        if given["shape"] == "csv" and len(given["sections"]) != 1:
            raise serializers.ValidationError({"sections": [_("A CSV holds one section.")]})
        chosen = sections_named(",".join(given["sections"]))
        return self.said({"text": written(shape=given["shape"], sections=chosen)})

    @action(detail=False, methods=["post"])
    def load(self, request: Request) -> Response:
        """Load a file, or tell what it would do; with one wrong line nothing of it is kept."""
        self.allow(Verb.ORGANIZATION_MANAGE)
        given = self.taken()
        if given["shape"] == "csv" and not given["section"]:
            raise serializers.ValidationError({"section": [_("Say which section a CSV holds.")]})
        return self.said(load(sections=SECTIONS, actor=self.actor, **given))

"""The catalogue of images and folders of programs, and of registries."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.lifecycle.catalogue import EnvironmentKind, InstructionSet
from pool.models import Environment, Registry
from pool.selectors.catalogue.lists import environment_list
from pool.services.catalogue.environments import (
    environment_change,
    environment_create,
    environment_deprecate,
    environment_remove,
    registry_allow,
    registry_remove,
)
from portal.access.guards import guard
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Filters, Given
from portal.api.v1.references import organization_named, person_named

SETS = [one.value for one in InstructionSet]


class EnvironmentOut(serializers.ModelSerializer[Environment]):
    """One entry; `tested` names card models, `organization` null is everybody's."""

    organization = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    owner = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)
    tested = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = Environment
        fields = [
            *("uid", "slug", "name", "kind", "reference", "digest", "instruction_set"),
            *("min_driver", "tested", "organization", "owner", "note", "active"),
            *("deprecated_at", "deprecated_note", "created_at"),
        ]


class Tested(serializers.ListField):
    """Card models."""

    child = serializers.CharField(max_length=96)

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=64, **kwargs)


class EnvironmentIn(Given):
    """An image by name and digest, or a folder that nodes have, with its bin folder."""

    slug = serializers.SlugField(max_length=63)
    name = serializers.CharField(max_length=120)
    kind = serializers.ChoiceField(
        choices=[one.value for one in EnvironmentKind], default=EnvironmentKind.IMAGE.value
    )
    reference = serializers.CharField(max_length=255)
    digest = serializers.CharField(max_length=71, default="", allow_blank=True)
    instruction_set = serializers.ChoiceField(choices=SETS)
    min_driver = serializers.CharField(max_length=40, default="", allow_blank=True)
    tested = Tested(default=list)
    organization = serializers.SlugField(max_length=63, required=False)
    owner = serializers.CharField(max_length=150, required=False)
    note = serializers.CharField(max_length=200, default="", allow_blank=True)


class EnvironmentChangeIn(Given):
    """What may change; another image or folder is another entry."""

    name = serializers.CharField(max_length=120, required=False)
    min_driver = serializers.CharField(max_length=40, required=False, allow_blank=True)
    tested = Tested(required=False)
    note = serializers.CharField(max_length=200, required=False, allow_blank=True)
    active = serializers.BooleanField(required=False)


class DeprecateIn(Given):
    """What to take instead; `undo` takes the mark back."""

    note = serializers.CharField(max_length=200, default="", allow_blank=True)
    undo = serializers.BooleanField(default=False)


class EnvironmentFilters(Filters):
    """Filters of the list."""

    instruction_set = serializers.ChoiceField(choices=SETS, required=False)
    active = serializers.BooleanField(required=False, allow_null=True, default=None)
    deprecated = serializers.BooleanField(required=False, allow_null=True, default=None)


class EnvironmentDoor(Listed):
    """What work may run in; a platform admin keeps everybody's, an org admin the organization's."""

    serializer_class = EnvironmentOut
    filters = EnvironmentFilters
    sorts = {"slug": "slug", "name": "name"}
    searched = ("slug", "name", "reference")
    queryset = Environment.objects.none()
    takes = {
        "create": EnvironmentIn,
        "partial_update": EnvironmentChangeIn,
        "deprecate": DeprecateIn,
    }
    gives = {"create": (201, EnvironmentOut), "destroy": (204, None)}

    def rows(self) -> QuerySet[Environment]:
        """Everybody's, and those of the caller's organizations."""
        return environment_list(standing=self.standing)

    def narrowed(self, rows: QuerySet[Environment], **asked: Any) -> QuerySet[Environment]:
        """By instruction set, offered, deprecated."""
        given = {name: value for name, value in asked.items() if value is not None}
        if "deprecated" in given:
            given["deprecated_at__isnull"] = not given.pop("deprecated")
        return rows.filter(**given)

    def create(self, request: Request) -> Response:
        """Put one into the catalogue."""
        given = self.taken()
        organization = given.pop("organization", None)
        if organization is not None:
            organization = organization_named(self.standing, organization)
            guard(self.standing, Verb.ENVIRONMENT_MANAGE, organization)
        else:
            self.allow(Verb.ENVIRONMENT_MANAGE)
        if "owner" in given:
            given["owner"] = person_named(self.standing, organization, given["owner"])
        row = environment_create(actor=self.actor, organization=organization, **given)
        return self.said(self.rows().get(pk=row.pk))

    def partial_update(self, request: Request, uid: str) -> Response:
        """Change what people read, what it needs, whether it is offered."""
        environment_change(environment=self._mine(), actor=self.actor, **self.taken())
        return self.said(self.one())

    @action(detail=True, methods=["post"])
    def deprecate(self, request: Request, uid: str) -> Response:
        """Warn whoever chooses it from now on."""
        environment_deprecate(environment=self._mine(), actor=self.actor, **self.taken())
        return self.said(self.one())

    def destroy(self, request: Request, uid: str) -> Response:
        """Take it out of the catalogue; refused while live work uses it."""
        environment_remove(environment=self._mine(), actor=self.actor)
        return self.said(None)

    def _mine(self) -> Environment:
        row: Environment = self.one()
        self.allow(Verb.ENVIRONMENT_MANAGE, row.organization)
        return row


class RegistryOut(serializers.ModelSerializer[Registry]):
    """Where images may come from."""

    class Meta:
        model = Registry
        fields = ["uid", "prefix", "note", "created_at"]


class RegistryIn(Given):
    """A host, with a path or without: registry.example.com/team."""

    prefix = serializers.CharField(max_length=200)
    note = serializers.CharField(max_length=200, default="", allow_blank=True)


class RegistryDoor(Listed):
    """The registries that a platform admin allows; everybody may read them."""

    serializer_class = RegistryOut
    queryset = Registry.objects.none()
    takes = {"create": RegistryIn}
    gives = {"create": (201, RegistryOut), "destroy": (204, None)}

    def rows(self) -> QuerySet[Registry]:
        """All."""
        return Registry.objects.all()

    def create(self, request: Request) -> Response:
        """Allow one."""
        self.allow(Verb.ENVIRONMENT_MANAGE)
        return self.said(registry_allow(actor=self.actor, **self.taken()))

    def destroy(self, request: Request, uid: str) -> Response:
        """No new image from there."""
        row = self.one()
        self.allow(Verb.ENVIRONMENT_MANAGE)
        registry_remove(registry=row, actor=self.actor)
        return self.said(None)

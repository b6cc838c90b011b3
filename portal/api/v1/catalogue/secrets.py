"""Secrets of people and projects: their values go in and never come out."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.models import Secret
from pool.rules.catalogue import MOST_SECRET_BYTES
from pool.selectors.catalogue.lists import secret_list
from pool.selectors.workloads import workload_list
from pool.services.catalogue.secrets import secret_remove, secret_set
from portal.access.guards import guard
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Filters, Given
from portal.api.v1.references import project_named

MOST_USES = 100


class SecretOut(serializers.ModelSerializer[Secret]):
    """A secret without its value. Without a `project` it is the caller's own.

    `version` counts how often it was set; `live` the workloads with it that have not ended.
    """

    project = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    live = serializers.IntegerField()

    class Meta:
        model = Secret
        fields = ["uid", "name", "project", "version", "note", "set_by", "set_at", "live"]


class SecretIn(Given):
    """Sets a secret; the same name again replaces its value for work that starts from now on."""

    name = serializers.CharField(max_length=63)
    value = serializers.CharField(
        max_length=MOST_SECRET_BYTES, trim_whitespace=False, write_only=True
    )
    project = serializers.SlugField(max_length=63, required=False)
    note = serializers.CharField(max_length=200, default="", allow_blank=True)


class RotateIn(Given):
    """A new value."""

    value = serializers.CharField(
        max_length=MOST_SECRET_BYTES, trim_whitespace=False, write_only=True
    )


class RemoveIn(Given):
    """`force` removes it though live work uses it: what runs keeps it, the rest is refused."""

    force = serializers.BooleanField(default=False)


class UseOut(serializers.Serializer[Any]):
    """A workload that is told the secret, as far as the caller may see it."""

    workload = serializers.CharField(source="uid")
    name = serializers.CharField()
    state = serializers.CharField()


class UsesOut(serializers.Serializer[Any]):
    """At most 100, newest first."""

    results = UseOut(many=True)


class SecretFilters(Filters):
    """Filters of the list."""

    project = serializers.SlugField(max_length=63, required=False)
    name = serializers.CharField(max_length=63, required=False)
    whose = serializers.ChoiceField(
        choices=["mine", "projects"], required=False, help_text="One's own, or those of projects."
    )


class SecretDoor(Listed):
    """One's own secrets, and those of the projects in which one runs work."""

    serializer_class = SecretOut
    filters = SecretFilters
    sorts = {"name": "name"}
    searched = ("name",)
    queryset = Secret.objects.none()
    takes = {"create": SecretIn, "rotate": RotateIn, "remove": RemoveIn}
    gives = {
        "create": (201, SecretOut),
        "rotate": (200, SecretOut),
        "remove": (204, None),
        "destroy": (204, None),
        "used_by": (200, UsesOut),
    }

    def rows(self) -> QuerySet[Secret]:
        """Those that the caller's work may be told."""
        return secret_list(standing=self.standing)

    def narrowed(self, rows: QuerySet[Secret], **asked: Any) -> QuerySet[Secret]:
        """By project and name, one's own or those of projects."""
        whose = asked.pop("whose", None)
        rows = rows.filter(project__isnull=whose == "mine") if whose else rows
        paths = {"project": "project__slug"}
        return rows.filter(**{paths.get(name, name): value for name, value in asked.items()})

    def create(self, request: Request) -> Response:
        """Set one of one's own, or of a project for those who lead it."""
        given = self.taken()
        project = given.pop("project", None)
        if project is not None:
            project = project_named(self.standing, project)
            guard(self.standing, Verb.SECRET_MANAGE, project)
        mine = self.user if project is None else None
        row, _new = secret_set(actor=self.actor, user=mine, project=project, **given)
        return self.said(self.rows().get(pk=row.pk))

    @action(detail=True, methods=["post"])
    def rotate(self, request: Request, uid: str) -> Response:
        """Set a new value; what runs keeps the old one until it starts anew."""
        row = self._mine()
        secret_set(
            name=row.name,
            user=row.user,
            project=row.project,
            note=row.note,
            actor=self.actor,
            **self.taken(),
        )
        return self.said(self.one())

    @action(detail=True, methods=["post"])
    def remove(self, request: Request, uid: str) -> Response:
        """Forget it; with `force` also while live work uses it."""
        secret_remove(secret=self._mine(), actor=self.actor, **self.taken())
        return self.said(None)

    def destroy(self, request: Request, uid: str) -> Response:
        """Forget it; refused while live work uses it."""
        secret_remove(secret=self._mine(), actor=self.actor)
        return self.said(None)

    @action(detail=True, methods=["get"], url_path="used-by")
    def used_by(self, request: Request, uid: str) -> Response:
        """Which work was told it, newest first."""
        row = self.one()
        rows = workload_list(standing=self.standing).filter(secret_uses__secret=row).distinct()
        return self.said({"results": list(rows.order_by("-pk")[:MOST_USES])})

    def _mine(self) -> Secret:
        row: Secret = self.one()
        if row.project is not None:
            guard(self.standing, Verb.SECRET_MANAGE, row.project)
        return row

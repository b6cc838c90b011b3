"""Storage objects: folders of the nodes that work may use."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from pool.lifecycle.catalogue import Access, Backing, StorageKind
from pool.models import Storage
from pool.selectors.catalogue.lists import storage_list, with_nodes
from pool.services.catalogue.storage import storage_change, storage_create, storage_remove
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Filters, Given
from portal.api.v1.references import organization_named, person_named, project_named

KINDS = [one.value for one in StorageKind]
MODES = [one.value for one in Access]


class AbsentOut(serializers.Serializer[Any]):
    """A node without it, and why as far as the node told."""

    node = serializers.CharField()
    why = serializers.CharField(allow_blank=True)


class StorageOut(serializers.ModelSerializer[Storage]):
    """One object. Of `organization`, `project` and `user` at most one says whose it is.

    `live` counts the workloads with it that have not ended.
    """

    organization = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    project = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    user = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)
    origin = serializers.CharField(source="source")
    creates = serializers.BooleanField(source="create")
    live = serializers.IntegerField()
    nodes = serializers.ListField(child=serializers.CharField(), source="nodes_with")
    absent = serializers.SerializerMethodField()

    class Meta:
        model = Storage
        fields = [
            *("uid", "name", "kind", "backing", "path", "origin", "mode", "creates"),
            *("organization", "project", "user", "note", "active", "live", "nodes", "absent"),
            "created_at",
        ]

    def get_absent(self, row: Any) -> list[dict[str, str]]:
        """Nodes without it."""
        return [{"node": name, "why": why} for name, why in row.nodes_without]


class StorageIn(Given):
    """A folder that lies at the same path on every node that has it.

    `{user}`, `{project}` and `{organization}` in the path stand for whoever runs the work.
    """

    name = serializers.CharField(max_length=63)
    kind = serializers.ChoiceField(choices=KINDS)
    backing = serializers.ChoiceField(
        choices=[one.value for one in Backing],
        default=Backing.HOST.value,
        help_text="All but host must be mounted at the path on a node, else that node has it not.",
    )
    path = serializers.CharField(max_length=400)
    origin = serializers.CharField(
        source="source",
        max_length=200,
        default="",
        allow_blank=True,
        help_text="What is mounted there: an NFS export, a bucket.",
    )
    mode = serializers.ChoiceField(choices=MODES, default=Access.READ.value)
    creates = serializers.BooleanField(
        source="create",
        default=False,
        help_text="A node makes the folders from the first word in braces on.",
    )
    organization = serializers.SlugField(max_length=63, required=False)
    project = serializers.SlugField(max_length=63, required=False)
    user = serializers.CharField(max_length=150, required=False)
    note = serializers.CharField(max_length=200, default="", allow_blank=True)


class StorageChangeIn(Given):
    """What may change; path and owner do not."""

    name = serializers.CharField(max_length=63, required=False)
    origin = serializers.CharField(
        source="source", max_length=200, required=False, allow_blank=True
    )
    mode = serializers.ChoiceField(choices=MODES, required=False)
    creates = serializers.BooleanField(source="create", required=False)
    note = serializers.CharField(max_length=200, required=False, allow_blank=True)
    active = serializers.BooleanField(required=False)


class StorageFilters(Filters):
    """Filters of the list."""

    kind = serializers.ChoiceField(choices=KINDS, required=False)
    project = serializers.SlugField(max_length=63, required=False)
    active = serializers.BooleanField(required=False, allow_null=True, default=None)


class StorageDoor(Listed):
    """Storage that the caller's work may use; a platform admin allows, changes and closes it."""

    serializer_class = StorageOut
    filters = StorageFilters
    sorts = {"name": "name", "kind": "kind"}
    searched = ("name", "path")
    queryset = Storage.objects.none()
    takes = {"create": StorageIn, "partial_update": StorageChangeIn}
    gives = {"create": (201, StorageOut), "destroy": (204, None)}

    def rows(self) -> QuerySet[Storage]:
        """Everybody's, and those of the caller's places."""
        return storage_list(standing=self.standing)

    def narrowed(self, rows: QuerySet[Storage], **asked: Any) -> QuerySet[Storage]:
        """By kind, project and whether it is offered."""
        given = {name: value for name, value in asked.items() if value is not None}
        paths = {"project": "project__slug"}
        return rows.filter(**{paths.get(name, name): value for name, value in given.items()})

    def completed(self, rows: list[Any]) -> list[Any]:
        """With the nodes that have each: one query more."""
        return with_nodes(rows)

    def said(self, row: Any) -> Response:
        """One, with its nodes."""
        if isinstance(row, Storage):
            with_nodes([row])
        return super().said(row)

    def create(self, request: Request) -> Response:
        """Allow a folder."""
        self.allow(Verb.STORAGE_MANAGE)
        given = self.taken()
        if "organization" in given:
            given["organization"] = organization_named(self.standing, given["organization"])
        if "project" in given:
            given["project"] = project_named(self.standing, given["project"])
        if "user" in given:
            given["user"] = person_named(self.standing, None, given["user"])
        row = storage_create(actor=self.actor, **given)
        return self.said(self.rows().get(pk=row.pk))

    def partial_update(self, request: Request, uid: str) -> Response:
        """Change what people read, whether work may write, whether it is offered."""
        row = self.one()
        self.allow(Verb.STORAGE_MANAGE)
        storage_change(storage=row, actor=self.actor, **self.taken())
        return self.said(self.one())

    def destroy(self, request: Request, uid: str) -> Response:
        """Take it out of the catalogue; refused while live work uses it."""
        row = self.one()
        self.allow(Verb.STORAGE_MANAGE)
        storage_remove(storage=row, actor=self.actor)
        return self.said(None)

"""Groups of a directory and the roles that they bring."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.lifecycle.roles import Role
from pool.models import GroupRole, User
from pool.models.people.groups import SOURCES
from pool.selectors.people.invited import group_role_list
from pool.selectors.people.mapped import group_role_holders
from pool.services.people.groups import group_role_change, group_role_remove, group_role_set
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Filters, Given
from portal.api.v1.references import organization_named, project_named


class GroupRoleOut(serializers.ModelSerializer[GroupRole]):
    """Whoever the directory lists in `group` holds `role` there, and no longer than that."""

    organization = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    project = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    role = serializers.ChoiceField(choices=[r.value for r in Role])
    directory = serializers.ChoiceField(choices=list(SOURCES), source="source")

    class Meta:
        model = GroupRole
        fields = ["uid", "directory", "group", "role", "organization", "project", "created_at"]


class GroupRoleIn(Given):
    """A group, by its cn or DN (LDAP) or by its value in the groups claim (single sign-on)."""

    directory = serializers.ChoiceField(choices=list(SOURCES))
    group = serializers.CharField(max_length=255)
    role = serializers.ChoiceField(choices=[r.value for r in Role])
    project = serializers.SlugField(max_length=63, required=False)
    organization = serializers.SlugField(max_length=63, required=False)


class GroupHolderOut(serializers.ModelSerializer[User]):
    """Somebody who holds a role by a group."""

    class Meta:
        model = User
        fields = ["uid", "username", "display_name"]


class GroupRoleFilters(Filters):
    """Filters of the list."""

    directory = serializers.ChoiceField(choices=list(SOURCES), required=False)
    group = serializers.CharField(max_length=255, required=False)


class GroupRoleDoor(Listed):
    """For platform admins: what the directories' groups are here."""

    http_method_names = ["get", "post", "put", "delete", "head"]
    serializer_class = GroupRoleOut
    filters = GroupRoleFilters
    sorts = {"group": "group"}
    searched = ("group",)
    queryset = GroupRole.objects.none()
    takes = {"create": GroupRoleIn, "update": GroupRoleIn}
    gives = {
        "create": (201, GroupRoleOut),
        "update": (200, GroupRoleOut),
        "destroy": (204, None),
        "holders": (200, GroupHolderOut),
    }

    def rows(self) -> QuerySet[GroupRole]:
        """All of them."""
        self.allow(Verb.GROUP_MANAGE)
        return group_role_list(standing=self.standing)

    def narrowed(self, rows: QuerySet[GroupRole], **asked: Any) -> QuerySet[GroupRole]:
        """By directory and group."""
        if "directory" in asked:
            rows = rows.filter(source=asked.pop("directory"))
        return rows.filter(**asked)

    def create(self, request: Request) -> Response:
        """Map a group to a role; the same twice is one."""
        self.allow(Verb.GROUP_MANAGE)
        return self.said(group_role_set(actor=self.actor, **self._words()))

    def update(self, request: Request, uid: str) -> Response:
        """Let it say something else, whole; who held the old role by it loses that at the next
        reading. Its uid changes: a mapping is what it says."""
        row: GroupRole = self.one()
        self.allow(Verb.GROUP_MANAGE)
        return self.said(group_role_change(group_role=row, actor=self.actor, **self._words()))

    @action(detail=True, methods=["get"])
    def holders(self, request: Request, uid: str) -> Response:
        """People who hold the role there because the directory says so; the first 1,000."""
        rows = group_role_holders(group_role=self.one())[:1000]
        shape = GroupHolderOut(rows, many=True, context=self.get_serializer_context())
        return Response({"results": shape.data})

    def _words(self) -> dict[str, Any]:
        given = self.taken()
        named, within = given.pop("project", None), given.pop("organization", None)
        return {
            "source": given.pop("directory"),
            "project": project_named(self.standing, named) if named else None,
            "organization": organization_named(self.standing, within) if within else None,
            **given,
        }

    def destroy(self, request: Request, uid: str) -> Response:
        """The group brings the role no more; it goes at the next reading."""
        group_role_remove(group_role=self.one(), actor=self.actor)
        return Response(status=204)

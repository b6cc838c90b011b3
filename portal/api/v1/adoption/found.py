"""Work that a node runs and the books do not know: a platform admin adopts or ends it."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.lifecycle.found import FoundState
from pool.models import FoundWork
from pool.selectors.adoption.found import found_list
from pool.services.adoption.adopt import EXPECTED_S, Home, found_adopt, found_stop
from portal.access.guards import guard
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Filters, Given, Reason
from portal.api.v1.references import person_named, project_named, template_named


class FoundOut(serializers.ModelSerializer[FoundWork]):
    """One run that nobody planned. `origin` is as what its node was once asked to run it."""

    node = serializers.SlugRelatedField[Any](slug_field="name", read_only=True)
    workload = serializers.SlugRelatedField[Any](slug_field="uid", read_only=True)
    origin = serializers.DictField(allow_null=True)

    class Meta:
        model = FoundWork
        fields = [
            "uid",
            "node",
            "attempt",
            "told_workload",
            "rank",
            "pid",
            "cards",
            "origin",
            "state",
            "state_since",
            "state_reason",
            "started_at",
            "found_at",
            "exit_code",
            "exit_reason",
            "workload",
        ]


class AdoptIn(Given):
    """Whose work it shall be: a project, a member of it, and the template it is shown by."""

    project = serializers.SlugField(max_length=63)
    user = serializers.CharField(max_length=150)
    template = serializers.SlugField(max_length=63)
    name = serializers.CharField(max_length=63, required=False, default="", allow_blank=True)
    expected_seconds = serializers.IntegerField(
        min_value=1, max_value=366 * 86_400, required=False, default=EXPECTED_S
    )


class FoundFilters(Filters):
    """Filters of the list."""

    state = serializers.ChoiceField(choices=[s.value for s in FoundState], required=False)
    node = serializers.CharField(max_length=253, required=False)


class FoundDoor(Listed):
    """Found work, for platform admins. It runs on until it ends or a person ends it."""

    serializer_class = FoundOut
    filters = FoundFilters
    queryset = FoundWork.objects.none()
    takes = {"adopt": AdoptIn, "stop": Reason}
    gives = {"stop": (202, FoundOut)}

    def rows(self) -> QuerySet[FoundWork]:
        """All; 403 for everybody but those who manage nodes."""
        guard(self.standing, Verb.NODE_MANAGE)
        return found_list()

    def narrowed(self, rows: QuerySet[Any], **asked: Any) -> QuerySet[Any]:
        """By state, and by the node's name."""
        node = asked.pop("node", "")
        rows = super().narrowed(rows, **asked)
        return rows.filter(node__name=node) if node else rows

    @action(detail=True, methods=["post"])
    def adopt(self, request: Request, uid: str) -> Response:
        """Take it into the books: from now on it counts, is billed and ends as any workload."""
        found = self.one()
        given = self.taken()
        project = project_named(self.standing, given["project"])
        home = Home(
            project=project,
            owner=person_named(self.standing, project.organization, given["user"]),
            template_version=template_named(self.standing, project, given["template"]),
            name=given["name"],
            expected_seconds=given["expected_seconds"],
        )
        found_adopt(found=found, home=home, actor=self.actor)
        return self.said(self.one())

    @action(detail=True, methods=["post"])
    def stop(self, request: Request, uid: str) -> Response:
        """End it: its node is told, and says when it is gone and clean."""
        found = self.one()
        given = self.taken()
        found_stop(found=found, actor=self.actor, reason=given["reason"])
        return self.said(self.one())

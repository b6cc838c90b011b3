"""Machines with cards, and the tokens that let them in."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.lifecycle.nodes import NodeState
from pool.models import JoinToken, Node
from pool.services.nodes import (
    TOKEN_SECONDS,
    join_token_issue,
    node_adopt,
    node_confirm_dead,
    node_cordon,
    node_credential_revoke,
    node_drain,
    node_retire,
    node_uncordon,
)
from portal.access.guards import guard
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Filters, Given, Nothing, Reason


class NodeOut(serializers.ModelSerializer[Node]):
    """One machine. Cores in thousandths, memory and disk in MiB.

    `generation` numbers what the portal wants of it, `reached` what the node has tried.
    """

    labels = serializers.DictField()

    class Meta:
        model = Node
        fields = [
            "uid",
            "name",
            "state",
            "state_since",
            "state_reason",
            "observe",
            "simulated",
            "identity",
            "fence",
            "cpu_milli",
            "memory_mib",
            "disk_mib",
            "labels",
            "agent_version",
            "protocol",
            "generation",
            "reached",
            "skew_s",
            "last_report_at",
            "joined_at",
            "example",
        ]


class Vouch(Given):
    """A reason is needed: it stands in the books."""

    reason = serializers.CharField(max_length=200)


class NodeFilters(Filters):
    """Filters of the list."""

    state = serializers.ChoiceField(choices=[s.value for s in NodeState], required=False)
    name = serializers.CharField(max_length=253, required=False)


class NodeDoor(Listed):
    """Nodes of the pool; a platform admin also takes them out of service and back."""

    serializer_class = NodeOut
    filters = NodeFilters
    queryset = Node.objects.none()
    takes = {
        "cordon": Reason,
        "drain": Reason,
        "uncordon": Nothing,
        "adopt": Nothing,
        "confirm_dead": Vouch,
        "retire": Reason,
        "revoke_credential": Reason,
    }
    gives = {"drain": (202, NodeOut)}

    def rows(self) -> QuerySet[Node]:
        """All of them; everybody may see what there is."""
        return Node.objects.all()

    @action(detail=True, methods=["post"])
    def cordon(self, request: Request, uid: str) -> Response:
        """Nothing new starts on the node; what runs goes on."""
        node = self._managed()
        given = self.taken()
        return self.said(node_cordon(node=node, actor=self.actor, reason=given["reason"]))

    @action(detail=True, methods=["post"])
    def uncordon(self, request: Request, uid: str) -> Response:
        """Back into service."""
        node = self._managed()
        self.taken()
        return self.said(node_uncordon(node=node, actor=self.actor))

    @action(detail=True, methods=["post"])
    def drain(self, request: Request, uid: str) -> Response:
        """Nothing new starts there; the node is cordoned once what runs has ended by itself."""
        node = self._managed()
        given = self.taken()
        return self.said(node_drain(node=node, actor=self.actor, reason=given["reason"]))

    @action(detail=True, methods=["post"])
    def adopt(self, request: Request, uid: str) -> Response:
        """A node that was only measured becomes one that runs work."""
        node = self._managed()
        self.taken()
        return self.said(node_adopt(node=node, actor=self.actor))

    @action(detail=True, methods=["post"], url_path="confirm-dead")
    def confirm_dead(self, request: Request, uid: str) -> Response:
        """You vouch that a silent node is dead: what it ran is lost, and may start elsewhere."""
        node = self._managed()
        given = self.taken()
        return self.said(node_confirm_dead(node=node, actor=self.actor, reason=given["reason"]))

    @action(detail=True, methods=["post"])
    def retire(self, request: Request, uid: str) -> Response:
        """A lost node never comes back: its credential opens nothing, its cards are retired."""
        node = self._managed()
        given = self.taken()
        return self.said(node_retire(node=node, actor=self.actor, reason=given["reason"]))

    @action(detail=True, methods=["post"], url_path="revoke-credential")
    def revoke_credential(self, request: Request, uid: str) -> Response:
        """The node's credential opens nothing any more; it needs a new join token."""
        node = self._managed()
        given = self.taken()
        node_credential_revoke(node=node, actor=self.actor, reason=given["reason"])
        return self.said(self.one())

    def _managed(self) -> Node:
        node: Node = self.one()
        guard(self.standing, Verb.NODE_MANAGE)
        return node


class JoinTokenOut(serializers.ModelSerializer[JoinToken]):
    """Lets one node in, once. Its text is told once."""

    used_by = serializers.SlugRelatedField[Any](slug_field="name", read_only=True)

    class Meta:
        model = JoinToken
        fields = ["uid", "node_name", "created_at", "expires_at", "used_at", "used_by"]


class JoinTokenTold(JoinTokenOut):
    """A new join token with its text."""

    token = serializers.CharField()

    class Meta(JoinTokenOut.Meta):
        fields = [*JoinTokenOut.Meta.fields, "token"]


class JoinTokenIn(Given):
    """`node` binds the token to a name; without it any new name may join with it."""

    node = serializers.CharField(max_length=253, required=False, default="", allow_blank=True)
    seconds = serializers.IntegerField(
        min_value=60, max_value=30 * 86_400, required=False, default=TOKEN_SECONDS
    )


class JoinTokenDoor(Listed):
    """Join tokens, for platform admins."""

    serializer_class = JoinTokenOut
    queryset = JoinToken.objects.none()
    told_once = ("token",)
    takes = {"create": JoinTokenIn}
    gives = {"create": (201, JoinTokenTold)}

    def rows(self) -> QuerySet[JoinToken]:
        """All, for those who manage nodes; 403 for everybody else."""
        guard(self.standing, Verb.NODE_MANAGE)
        return JoinToken.objects.select_related("used_by")

    def create(self, request: Request) -> Response:
        """Let one node in."""
        guard(self.standing, Verb.NODE_MANAGE)
        given = self.taken()
        row, plain = join_token_issue(actor=self.actor, **given)
        row.token = plain  # type: ignore[attr-defined]
        return self.said(row)

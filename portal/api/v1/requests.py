"""What people ask for beyond their allowance, and the word of those who decide."""

from typing import Any

from django.db.models import Q, QuerySet
from drf_spectacular.utils import OpenApiExample, extend_schema_serializer
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request as Call
from rest_framework.response import Response

from pool.lifecycle.leases import LeaseKind
from pool.lifecycle.requests import RequestState
from pool.models import Request, RequestComment
from pool.selectors.requests import (
    approval_list,
    comment_list,
    decidable_list,
    request_list,
    request_search,
)
from pool.services.catalogue.judging import given_from
from pool.services.decisions import request_approve, request_reject, request_return
from pool.services.requests import (
    request_comment,
    request_draft,
    request_edit,
    request_send,
    request_submit,
    request_withdraw,
)
from portal.access.guards import guard
from portal.access.roles import Verb
from portal.access.weights import weights_for, weights_of_change
from portal.api.door import Listed
from portal.api.fields import Filters, FreeJSON, Given, Nothing, Reason
from portal.api.v1.advice.together import GIVES, TAKES, DecidesTogether
from portal.api.v1.catalogue.shapes import GivenIn, GivenOut, changed, wanted
from portal.api.v1.references import partitions_named, project_named, template_named

MOST_SECONDS = 366 * 86_400


class RequestOut(GivenOut, serializers.ModelSerializer[Request]):
    """A person asks for `copies` times `need` for a time. `revision` grows with every change."""

    project = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    requester = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)
    template = serializers.CharField(source="template_version.template.slug")
    template_version = serializers.IntegerField(source="template_version.number")
    partitions = serializers.SlugRelatedField[Any](slug_field="slug", many=True, read_only=True)
    need = serializers.DictField()
    steps = serializers.ListField(child=serializers.CharField())
    decided_by = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)
    lease = serializers.SerializerMethodField()
    alters = serializers.SlugRelatedField[Any](slug_field="uid", read_only=True)

    class Meta:
        model = Request
        fields = [
            "uid",
            "project",
            "requester",
            "title",
            "purpose",
            "template",
            "template_version",
            "partitions",
            "need",
            "storage",
            "secrets",
            "environment",
            "image",
            "copies",
            "lease_kind",
            "duration_seconds",
            "starts_at",
            "steps",
            "step",
            "state",
            "revision",
            "submitted_at",
            "promised_at",
            "decided_by",
            "decided_at",
            "decision_reason",
            "pending_until",
            "lease",
            "alters",
            "alteration",
            "escalated_at",
            "created_at",
            "example",
        ]

    def get_lease(self, row: Request) -> str | None:
        """The lease that came of it."""
        return row.lease.uid if hasattr(row, "lease") else None


class CommentOut(serializers.ModelSerializer[RequestComment]):
    """A word between requester and approvers."""

    author = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)

    class Meta:
        model = RequestComment
        fields = ["uid", "author", "text", "at"]


@extend_schema_serializer(
    examples=[
        OpenApiExample(
            "Two quarters of a card for a day, with a folder and a secret",
            value={
                "project": "vision",
                "template": "finetune-20g-30",
                "duration_seconds": 86400,
                "copies": 2,
                "title": "Sweep over the learning rate",
                "storage": [{"storage": "st-01234567-89ab-cdef-0123-456789abcdef", "at": "data"}],
                "secrets": [
                    {"secret": "sc-01234567-89ab-cdef-0123-456789abcdef", "name": "HF_TOKEN"}
                ],
                "environment": "torch-2-6",
            },
            request_only=True,
        )
    ]
)
class RequestIn(GivenIn):
    """A request. Times in seconds. `draft` keeps it with its author until it is submitted.

    What it names of storage, secrets and environments (or an image) is judged at once, and is what
    work under its lease gets that names nothing itself.
    """

    project = serializers.SlugField(max_length=63)
    template = serializers.SlugField(max_length=63)
    duration_seconds = serializers.IntegerField(min_value=60, max_value=MOST_SECONDS)
    copies = serializers.IntegerField(min_value=1, max_value=1000, default=1)
    title = serializers.CharField(max_length=120, default="", allow_blank=True)
    purpose = serializers.CharField(max_length=4000, default="", allow_blank=True)
    need = FreeJSON(default=dict, help_text="What differs from the template.")
    partitions = serializers.ListField(
        child=serializers.SlugField(max_length=63), max_length=20, default=list
    )
    lease_kind = serializers.ChoiceField(
        choices=[k.value for k in LeaseKind], default=LeaseKind.ON_DEMAND.value
    )
    starts_at = serializers.DateTimeField(required=False, allow_null=True, default=None)
    image = serializers.CharField(max_length=255, default="", allow_blank=True)
    draft = serializers.BooleanField(default=False)


class RequestEdit(GivenIn):
    """What changes; what is left out stays. `revision` as it was read guards against a race."""

    duration_seconds = serializers.IntegerField(
        min_value=60, max_value=MOST_SECONDS, required=False
    )
    copies = serializers.IntegerField(min_value=1, max_value=1000, required=False)
    title = serializers.CharField(max_length=120, required=False, allow_blank=True)
    purpose = serializers.CharField(max_length=4000, required=False, allow_blank=True)
    need = FreeJSON(required=False)
    partitions = serializers.ListField(
        child=serializers.SlugField(max_length=63), max_length=20, required=False
    )
    lease_kind = serializers.ChoiceField(choices=[k.value for k in LeaseKind], required=False)
    starts_at = serializers.DateTimeField(required=False)
    image = serializers.CharField(max_length=255, required=False, allow_blank=True)
    revision = serializers.IntegerField(min_value=1, max_value=2**31 - 1, required=False)


class Changes(Given):
    """What an approver grants instead of what was asked; what is left out stays."""

    copies = serializers.IntegerField(min_value=1, max_value=1000, required=False)
    duration_seconds = serializers.IntegerField(
        min_value=60, max_value=MOST_SECONDS, required=False
    )
    need = FreeJSON(required=False)


class ApproveIn(Reason):
    """`revision` as it was read refuses the decision when the request has changed since."""

    revision = serializers.IntegerField(min_value=1, max_value=2**31 - 1, required=False)
    changes = Changes(required=False)


class DecideIn(Given):
    """A reason is needed: the requester reads it."""

    reason = serializers.CharField(max_length=4000)
    revision = serializers.IntegerField(min_value=1, max_value=2**31 - 1, required=False)


class CommentIn(Given):
    """A word about the request."""

    text = serializers.CharField(max_length=4000)


class RequestFilters(Filters):
    """Filters of the list. `to_decide` leaves what waits for the caller's word."""

    state = serializers.ChoiceField(choices=[s.value for s in RequestState], required=False)
    project = serializers.SlugField(max_length=63, required=False)
    requester = serializers.CharField(max_length=150, required=False)
    to_decide = serializers.BooleanField(required=False, default=False)


class RequestDoor(DecidesTogether, Listed):
    """Ask, decide, talk about it."""

    serializer_class = RequestOut
    filters = RequestFilters
    sorts = {"title": "title", "duration": "duration_seconds"}
    searched = ("title", "requester", "uid")
    queryset = Request.objects.none()
    takes = {
        "create": RequestIn,
        "partial_update": RequestEdit,
        "submit": Nothing,
        "approve": ApproveIn,
        "ask_back": DecideIn,
        "reject": DecideIn,
        "withdraw": Nothing,
        "comment": CommentIn,
        **TAKES,
    }
    gives = {"create": (201, RequestOut), "comment": (201, CommentOut), **GIVES}

    def rows(self) -> QuerySet[Request]:
        """Requests of the projects whose work the caller may read."""
        return request_list(standing=self.standing)

    def narrowed(self, rows: QuerySet[Request], **asked: Any) -> QuerySet[Request]:
        """By state, project, requester, what waits for the caller; no drafts of others."""
        if asked.pop("to_decide", False):
            rows = approval_list(standing=self.standing)
        rows = rows.exclude(~Q(requester=self.user), state=RequestState.DRAFT)
        paths = {"project": "project__slug", "requester": "requester__username"}
        return rows.filter(**{paths.get(name, name): value for name, value in asked.items()})

    def found(self, rows: QuerySet[Request], text: str) -> QuerySet[Request]:
        """By title, requester or uid."""
        return request_search(rows, text)

    def create(self, request: Call) -> Response:
        """Ask; unless it is a draft it is submitted at once."""
        given = self.taken()
        project = project_named(self.standing, given.pop("project"))
        guard(self.standing, Verb.REQUEST_MAKE, project)
        make = request_draft if given.pop("draft") else request_submit
        version = template_named(self.standing, project, given.pop("template"))
        places = tuple(partitions_named(project, given.pop("partitions")))
        weights = weights_for(
            project=project,
            version=version,
            overrides=given.get("need") or {},
            partitions=places,
            seconds=given["duration_seconds"],
            copies=given["copies"],
        )
        made = make(
            user=self.user,
            project=project,
            template_version=version,
            partitions=places,
            weights=weights,
            actor=self.actor,
            given=wanted(given),
            **given,
        )
        return self._now(made)

    def partial_update(self, request: Call, uid: str) -> Response:
        """Change what is not decided yet; the revision grows and its steps start again."""
        asked = self.one()
        guard(self.standing, Verb.REQUEST_MAKE, asked)
        given = self.taken()
        if "partitions" in given:
            given["partitions"] = tuple(partitions_named(asked.project, given["partitions"]))
        if (named := changed(given_from(asked.given), given)) is not None:
            given["given"] = named
        given["weights"] = weights_of_change(request=asked, changes=given)
        made = request_edit(request=asked, user=self.user, actor=self.actor, **given)
        return self._now(made)

    @action(detail=True, methods=["post"])
    def submit(self, request: Call, uid: str) -> Response:
        """Submit a draft, or again what was asked back."""
        asked = self._own()
        return self._now(request_send(request=asked, user=self.user, actor=self.actor))

    @action(detail=True, methods=["post"])
    def withdraw(self, request: Call, uid: str) -> Response:
        """Take it back before it is decided."""
        asked = self._own()
        return self._now(request_withdraw(request=asked, user=self.user, actor=self.actor))

    @action(detail=True, methods=["post"])
    def approve(self, request: Call, uid: str) -> Response:
        """Grant it, at once, with changes if you like; the last step opens the lease."""
        return self._decided(self._weighed)

    @action(detail=True, methods=["post"], url_path="ask-back")
    def ask_back(self, request: Call, uid: str) -> Response:
        """Give it back to the requester with a question."""
        return self._decided(
            lambda reason, **known: request_return(text=reason, **known),
        )

    @action(detail=True, methods=["post"])
    def reject(self, request: Call, uid: str) -> Response:
        """Refuse it for good."""
        return self._decided(request_reject)

    @action(detail=True, methods=["post"])
    def comment(self, request: Call, uid: str) -> Response:
        """Say something about it."""
        asked = self.one()
        guard(self.standing, Verb.REQUEST_MAKE, asked.project)
        text = self.taken()["text"]
        made = request_comment(request=asked, user=self.user, text=text, actor=self.actor)
        return self.said(made)

    @action(detail=True, methods=["get"], pagination_class=None)
    def comments(self, request: Call, uid: str) -> Response:
        """What was said about it, oldest first."""
        rows = comment_list(request=self.one())[:1000]
        return Response({"results": CommentOut(rows, many=True).data})

    def _weighed(self, *, request: Request, **given: Any) -> Request:
        """Approve; changes are weighed anew, so that they pass no limit of the policy unseen."""
        if given.get("changes"):
            given["weights"] = weights_of_change(request=request, changes=given["changes"])
        return request_approve(request=request, **given)

    def _own(self) -> Request:
        asked: Request = self.one()
        guard(self.standing, Verb.REQUEST_MAKE, asked)
        self.taken()
        return asked

    def _decided(self, decide: Any) -> Response:
        """Deputies find it where they decide for somebody; all others where they may read it."""
        rows = decidable_list(standing=self.standing)
        asked = rows.filter(uid=self.kwargs["uid"]).first()
        if asked is None:
            asked = self.one()
            guard(self.standing, Verb.REQUEST_DECIDE, asked)
        given = self.taken()
        made = decide(request=asked, user=self.user, actor=self.actor, **given)
        return self.said(rows.filter(pk=made.pk).first() or self.rows().get(pk=made.pk))

    def _now(self, row: Request) -> Response:
        """The row as it now is, read afresh with what its answer shows."""
        return self.said(self.rows().get(pk=row.pk))

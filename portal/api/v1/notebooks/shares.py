"""Notebooks over REST: going on in another size, and letting one's project read the files."""

from functools import partial
from typing import Any

from django.conf import settings
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.events import record
from pool.lifecycle.events import EventKind
from pool.models import NotebookShare, Workload
from pool.services.notebooks.resize import notebook_resized, seconds_of
from pool.services.notebooks.shares import notebook_share, notebook_unshare
from portal.access.guards import guard
from portal.access.passes import TICKET_S, ticket_issue
from portal.access.roles import Verb
from portal.access.weights import weights_for
from portal.api.door import Listed
from portal.api.fields import FreeJSON, Given, Nothing
from portal.api.v1.references import partitions_named, template_named
from portal.models import ApiToken

MOST_SECONDS = 366 * 86_400


class ResumeIn(Given):
    """Nothing for the same again. A notebook may go on in another size: with any word it does."""

    template = serializers.SlugField(max_length=63, required=False)
    need = FreeJSON(required=False, help_text="What differs from the template.")
    partitions = serializers.ListField(
        child=serializers.SlugField(max_length=63), max_length=20, required=False
    )
    expected_seconds = serializers.IntegerField(min_value=1, max_value=MOST_SECONDS, required=False)
    when_full = serializers.ChoiceField(choices=["wait", "ask"], required=False)


class ShareIn(Given):
    """Until when, at most 30 days from now."""

    until = serializers.DateTimeField()


class ShareOut(serializers.ModelSerializer[NotebookShare]):
    """Until when the people of its project may read the files of a notebook."""

    by = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)

    class Meta:
        model = NotebookShare
        fields = ["uid", "by", "created_at", "until"]


class UnsharedOut(serializers.Serializer[Any]):
    """Whether there was something to end."""

    ended = serializers.BooleanField()


class LookOut(serializers.Serializer[Any]):
    """Where to go: once, in `seconds`; the files can be read there and nothing else."""

    url = serializers.URLField()
    seconds = serializers.IntegerField()


TAKES = {"share": ShareIn, "unshare": Nothing, "look": Nothing}
GIVES: dict[str, tuple[int, type[serializers.BaseSerializer[Any]] | None]] = {
    "share": (201, ShareOut),
    "unshare": (200, UnsharedOut),
    "look": (200, LookOut),
}


class ShareVerbs(Listed):
    """Reading somebody's notebook, and letting it be read."""

    @action(detail=True, methods=["post"])
    def share(self, request: Request, uid: str) -> Response:
        """Let the people of its project read its files until a time; the owner's word alone."""
        row = self.one()
        guard(self.standing, Verb.NOTEBOOK_OPEN, row)
        until = self.taken()["until"]
        made = notebook_share(workload=row, user=self.user, until=until, actor=self.actor)
        return self.said(made)

    @action(detail=True, methods=["post"])
    def unshare(self, request: Request, uid: str) -> Response:
        """End it; whoever reads is shut out within seconds."""
        row = self.one()
        guard(self.standing, Verb.WORK_STOP, row)
        self.taken()
        return self.said({"ended": notebook_unshare(workload=row, actor=self.actor)})

    @action(detail=True, methods=["post"])
    def look(self, request: Request, uid: str) -> Response:
        """A single-use address, good for a minute, at which the files can be read."""
        row = self.one()
        guard(self.standing, Verb.WORK_SEE, row)
        self.taken()
        token = request.auth if isinstance(request.auth, ApiToken) else None
        session = "" if token else request._request.session.session_key or ""
        ticket = ticket_issue(
            workload=row, user=self.user, session_key=session, token=token, reads=True
        )
        record(EventKind.NOTEBOOK_VIEWED, row, actor=self.actor)
        url = f"{settings.GATEWAY_ORIGIN}/enter/{row.uid}?ticket={ticket}"
        return self.said({"url": url, "seconds": TICKET_S})

    def resized(self, row: Workload, given: dict[str, Any]) -> Response:
        """Go on in another size, as new work of the same owner."""
        guard(self.standing, Verb.WORK_SUBMIT, row.project)
        slug = given.pop("template", None) or row.template_version.template.slug
        version = template_named(self.standing, row.project, slug)
        need, said = given.get("need") or {}, given.pop("expected_seconds", None)
        seconds = seconds_of(workload=row, template_version=version, said=said)
        places = partitions_named(row.project, given.pop("partitions", []))
        weigh = partial(
            weights_for,
            project=row.project,
            version=version,
            overrides=need,
            partitions=places,
            seconds=seconds,
        )
        made = notebook_resized(
            workload=row,
            user=self.user,
            template_version=version,
            partitions=places,
            expected_seconds=seconds,
            weights=weigh,
            actor=self.actor,
            **given,
        )
        return self.said(made)

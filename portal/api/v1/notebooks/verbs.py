"""Verbs of notebooks: go in, keep it, and how it stands."""

from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from nodeagent.protocol.vocabulary import WorkloadKind
from pool.errors import Invalid
from pool.events import record
from pool.lifecycle.events import EventKind
from pool.models import Workload
from pool.selectors.notebooks.rules import rule_of
from pool.selectors.notebooks.shares import share_open
from pool.selectors.notebooks.standing import known_of, left_s
from pool.services.notebooks.keep import notebook_keep
from portal.access.guards import guard
from portal.access.passes import TICKET_S, ticket_issue
from portal.access.roles import Verb
from portal.api.fields import Nothing
from portal.api.v1.notebooks.nights import GIVES as NIGHT_GIVES
from portal.api.v1.notebooks.nights import TAKES as NIGHT_TAKES
from portal.api.v1.notebooks.nights import NightVerbs
from portal.api.v1.notebooks.shares import GIVES as SHARE_GIVES
from portal.api.v1.notebooks.shares import TAKES as SHARE_TAKES
from portal.api.v1.notebooks.shares import ShareVerbs
from portal.models import ApiToken


class EvidenceOut(serializers.Serializer[Any]):
    """One signal of a verdict; `moves` is null when it is not known."""

    signal = serializers.CharField()
    moves = serializers.BooleanField(allow_null=True)
    value = serializers.FloatField(allow_null=True)


class NotebookOut(serializers.Serializer[Any]):
    """How a notebook stands. Times in seconds; `left_seconds` is null while it is in use."""

    stage = serializers.CharField(help_text="environment, starting or ready; empty before.")
    words = serializers.CharField()
    verdict = serializers.CharField(help_text="active, holding, idle or unknown; empty before.")
    evidence = EvidenceOut(many=True)
    quiet_seconds = serializers.FloatField()
    limit_seconds = serializers.IntegerField(allow_null=True)
    left_seconds = serializers.FloatField(allow_null=True)
    warned_minutes = serializers.IntegerField(allow_null=True)
    keeps_left = serializers.IntegerField()
    shared_until = serializers.DateTimeField(allow_null=True)


class EntranceOut(serializers.Serializer[Any]):
    """Where to go: once, in `seconds`; a browser that follows it is let into this notebook."""

    url = serializers.URLField()
    seconds = serializers.IntegerField()


TAKES = {"open_notebook": Nothing, "keep": Nothing, **NIGHT_TAKES, **SHARE_TAKES}
GIVES: dict[str, tuple[int, type[serializers.BaseSerializer[Any]] | None]] = {
    "open_notebook": (200, EntranceOut),
    "keep": (200, NotebookOut),
    "notebook": (200, NotebookOut),
    **NIGHT_GIVES,
    **SHARE_GIVES,
}


class NotebookVerbs(NightVerbs, ShareVerbs):
    """What can be done with work of kind notebook alone."""

    told_once = ("url",)

    @action(detail=True, methods=["post"], url_path="open")
    def open_notebook(self, request: Request, uid: str) -> Response:
        """A single-use address, good for a minute. Only the owner's: a notebook acts as they."""
        row = self._taken(Verb.NOTEBOOK_OPEN)
        token = request.auth if isinstance(request.auth, ApiToken) else None
        session = "" if token else request._request.session.session_key or ""
        ticket = ticket_issue(workload=row, user=self.user, session_key=session, token=token)
        record(EventKind.NOTEBOOK_OPENED, row, actor=self.actor)
        url = f"{settings.GATEWAY_ORIGIN}/enter/{row.uid}?ticket={ticket}"
        return self.said({"url": url, "seconds": TICKET_S})

    @action(detail=True, methods=["post"])
    def keep(self, request: Request, uid: str) -> Response:
        """Count its idle time from now again; each keep after a warning uses one."""
        row = self._taken(Verb.WORK_STOP)
        notebook_keep(workload=row, actor=self.actor)
        return self.said(_standing(self._notebook(Verb.WORK_STOP)))

    @action(detail=True, methods=["get"], pagination_class=None)
    def notebook(self, request: Request, uid: str) -> Response:
        """How far it is, and whether it is used, with what decided that."""
        return self.said(_standing(self._notebook(Verb.WORK_SEE)))

    def _taken(self, verb: Verb) -> Workload:
        """The notebook, once the right and then the words of the body are in order."""
        guard(self.standing, verb, self.one())
        self.taken()
        return self._notebook(verb)

    def _notebook(self, verb: Verb) -> Workload:
        row: Workload = self.one()
        guard(self.standing, verb, row)
        if row.kind != WorkloadKind.NOTEBOOK:
            raise Invalid(kind=_("This is no notebook."))
        return row


def _standing(row: Workload) -> dict[str, Any]:
    known = known_of(row)
    most = rule_of(workload=row).keeps
    share = share_open(workload=row)
    until = share.until if share else None
    if known is None:
        blank = dict.fromkeys(("stage", "words", "verdict"), "")
        none = dict.fromkeys(("limit_seconds", "left_seconds", "warned_minutes"))
        rest = {"evidence": [], "quiet_seconds": 0.0, "keeps_left": most, "shared_until": until}
        return {**blank, **none, **rest}
    return {
        "stage": known.stage,
        "words": known.words,
        "verdict": known.verdict,
        "evidence": known.evidence,
        "quiet_seconds": known.quiet_s,
        "limit_seconds": known.limit_s,
        "left_seconds": left_s(known),
        "warned_minutes": known.warned,
        "keeps_left": max(most - known.keeps_used, 0),
        "shared_until": until,
    }

"""Jobs and what else holds cards: submit, watch, stop."""

from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from rest_framework.decorators import action
from rest_framework.exceptions import Throttled
from rest_framework.request import Request
from rest_framework.response import Response

from billing.selectors.usage import workload_cost
from nodeagent.protocol.vocabulary import ExitReason
from pool.cycle.changing import change_apply
from pool.errors import Invalid
from pool.models import Workload
from pool.rules.gangs import Gang
from pool.selectors.catalogue.lists import given_to
from pool.selectors.workloads import (
    attempt_list,
    workload_filter,
    workload_list,
    workload_search,
)
from pool.services.catalogue.giving import work_submit, work_warnings
from pool.services.queueing.steer import workload_rank
from pool.services.workloads import (
    workload_resume,
    workload_stop,
)
from portal.access.guards import guard
from portal.access.roles import Verb
from portal.access.showback import cost_shown, money_hidden
from portal.api.fields import Nothing
from portal.api.v1.attempts import AttemptOut
from portal.api.v1.catalogue.shapes import wanted_under
from portal.api.v1.notebooks.asking import template_asked
from portal.api.v1.notebooks.shares import ResumeIn
from portal.api.v1.notebooks.verbs import GIVES as NOTEBOOK_GIVES
from portal.api.v1.notebooks.verbs import TAKES as NOTEBOOK_TAKES
from portal.api.v1.notebooks.verbs import NotebookVerbs
from portal.api.v1.references import (
    lease_named,
    partitions_named,
    project_named,
    template_named,
)
from portal.api.v1.series_shapes import after_named, waited_for
from portal.api.v1.workload_series import (
    ChangedIn,
    CloneIn,
    HoldIn,
    SeriesVerbs,
    weights_of_many,
)
from portal.api.v1.workload_shapes import (
    ChangeIn,
    ExplanationOut,
    RankIn,
    WorkloadFilters,
    WorkloadIn,
    WorkloadOut,
    WorkloadRow,
)
from portal.api.v1.yielding.shapes import OrderOut
from portal.api.v1.yielding.verbs import TAKES as YIELD_TAKES
from portal.api.v1.yielding.verbs import YieldVerbs
from portal.explained import AskedTooOften, explained, may_change

HEAVY = tuple(
    f"{of}{name}" for of in ("", "parent__") for name in ("command", "env", "files", "comment")
)


class WorkloadDoor(NotebookVerbs, YieldVerbs, SeriesVerbs):
    """Submit work, watch it, stop it."""

    serializer_class = WorkloadOut
    filters = WorkloadFilters
    sorts = {"name": "name_folded"}
    searched = ("name", "owner", "uid")
    queryset = Workload.objects.none()
    takes = {
        "create": WorkloadIn,
        "cancel": Nothing,
        "stop": Nothing,
        "hold": HoldIn,
        "release": Nothing,
        "retry": Nothing,
        "clone": CloneIn,
        "partial_update": ChangedIn,
        "resume": ResumeIn,
        "explain": Nothing,
        "change": ChangeIn,
        "rank": RankIn,
        **YIELD_TAKES,
        **NOTEBOOK_TAKES,
    }
    gives = {
        "list": (200, WorkloadRow),
        "create": (201, WorkloadRow),
        "cancel": (202, WorkloadRow),
        "stop": (202, WorkloadRow),
        "destroy": (202, WorkloadRow),
        "hold": (200, WorkloadRow),
        "release": (200, WorkloadRow),
        "retry": (200, WorkloadRow),
        "clone": (201, WorkloadRow),
        "partial_update": (200, WorkloadRow),
        "resume": (200, WorkloadRow),
        "explain": (200, ExplanationOut),
        "change": (200, WorkloadRow),
        "rank": (200, WorkloadRow),
        "preempt": (202, OrderOut),
        "prove_preemption": (202, OrderOut),
        "declare": (200, WorkloadRow),
        **NOTEBOOK_GIVES,
    }

    def rows(self) -> QuerySet[Workload]:
        """Work of the projects that the caller may read."""
        rows = workload_list(standing=self.standing).select_related("parent")
        return rows.defer(*HEAVY) if self.action == "list" else rows

    def narrowed(self, rows: QuerySet[Workload], **asked: Any) -> QuerySet[Workload]:
        """By state or group of states, project, owner, kind, template, lease, request, name."""
        rows = workload_filter(rows, group=asked.pop("group", ""))
        if asked.pop("pieces", False):
            rows = rows.filter(array_size=None)
        elif "piece_of" not in asked and not self.text.startswith("wl-"):
            rows = rows.filter(parent=None)
        name = asked.pop("name", None)
        if name:
            rows = rows.filter(name_folded=name.casefold())
        paths = {
            "project": "project__slug",
            "owner": "owner__username",
            "template": "template_version__template__slug",
            "lease": "lease__uid",
            "request": "request__uid",
            "piece_of": "parent__uid",
        }
        return rows.filter(**{paths.get(key, key): value for key, value in asked.items()})

    def found(self, rows: QuerySet[Workload], text: str) -> QuerySet[Workload]:
        """By name, owner or uid."""
        return workload_search(rows, text)

    def create(self, request: Request) -> Response:
        """Submit. Inside the allowance or a lease it is queued; otherwise it waits for a word."""
        given = self.taken()
        project = project_named(self.standing, given.pop("project"))
        guard(self.standing, Verb.WORK_SUBMIT, project)
        version = template_named(self.standing, project, template_asked(given))
        if given.pop("kind") not in (None, version.kind):
            raise Invalid(kind=_("The template is for %(kind)s.") % {"kind": version.kind})
        places = partitions_named(project, given.pop("partitions"))
        gang = Gang(
            on_rank_death=given.pop("on_rank_death"),
            rendezvous_seconds=given.pop("rendezvous_seconds"),
        )
        after = after_named(self.standing, given.pop("after"))
        weigh = partial(weights_of_many, project, version, given, places)
        made = work_submit(
            given=wanted_under(given),
            user=self.user,
            project=project,
            template_version=version,
            partitions=places,
            gang=gang,
            weights=weigh,
            lease=lease_named(self.standing, project, given.pop("lease")),
            actor=self.actor,
            after=after,
            **given,
        )
        return self.said(made)

    def retrieve(self, request: Request, uid: str) -> Response:
        """One workload, with its runs and what it has cost so far."""
        row = self.one()
        row.waited_for = waited_for(row, self.standing)
        if row.parent is not None:
            row.command, row.env, row.files = row.parent.command, row.parent.env, row.parent.files
        row.given_storage, row.given_secrets = given_to(workload=row)
        row.warnings = work_warnings(workload=row)
        hidden = money_hidden(self.standing)
        row.cost = cost_shown(workload_cost(workload=row), row.project, hidden)
        row.runs = list(attempt_list(workload=row))
        return self.said(self.giving_way(row))

    def destroy(self, request: Request, uid: str) -> Response:
        """The same as `cancel`."""
        return self._steered(workload_stop)

    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, uid: str) -> Response:
        """End it for good: out of the queue, or stopped gracefully if it runs."""
        return self._steered(workload_stop)

    @action(detail=True, methods=["post"])
    def stop(self, request: Request, uid: str) -> Response:
        """Stop what runs, gracefully; it can be resumed. What waits is cancelled."""
        return self._steered(partial(workload_stop, reason=ExitReason.STOPPED))

    @action(detail=True, methods=["post"])
    def resume(self, request: Request, uid: str) -> Response:
        """Queue stopped or reclaimed work again, as a new run.

        A notebook may go on in another size: as new work with the same files, named in the answer.
        """
        row = self.one()
        guard(self.standing, Verb.WORK_STOP, row)
        given = self.taken()
        if given:
            return self.resized(row, given)
        workload_resume(workload=row, actor=self.actor)
        return self.said(self.one())

    @action(detail=True, methods=["post"])
    def explain(self, request: Request, uid: str) -> Response:
        """Why it waits, in the plan's own words, and what would start it now.

        It is worked out once for each state of the pool; whoever asks for too much of it waits.
        """
        row = self.one()
        self.taken()
        try:
            told = explained(workload=row, who=self.user.uid)
        except AskedTooOften as often:
            raise Throttled(wait=often.wait_s) from often
        row.waits, row.changes, row.bandwidth = told.waits, told.changes, told.bandwidth
        return self.said(row)

    @action(detail=True, methods=["post"])
    def change(self, request: Request, uid: str) -> Response:
        """Apply a change that `explain` offered; it is planned again, and refused when stale."""
        row = self.one()
        guard(self.standing, Verb.WORK_STOP, row)
        try:
            may_change(who=self.user.uid)
        except AskedTooOften as often:
            raise Throttled(wait=often.wait_s) from often
        change_apply(workload=row, actor=self.actor, **self.taken())
        return self.said(self.one())

    @action(detail=True, methods=["post"])
    def rank(self, request: Request, uid: str) -> Response:
        """Raise or lower waiting work inside its project."""
        row = self.one()
        guard(self.standing, Verb.WORK_RANK, row)
        workload_rank(workload=row, actor=self.actor, **self.taken())
        return self.said(self.one())

    @action(detail=True, methods=["get"], pagination_class=None)
    def attempts(self, request: Request, uid: str) -> Response:
        """Its runs, newest first."""
        rows = attempt_list(workload=self.one())[:200]
        return Response({"results": AttemptOut(rows, many=True).data})

    def _steered(self, verb: Any) -> Response:
        row = self.one()
        guard(self.standing, Verb.WORK_STOP, row)
        if self.action != "destroy":
            self.taken()
        verb(workload=row, actor=self.actor)
        return self.said(self.one())

"""Nights and hogs over REST: verbs of workloads."""

from typing import Any

from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from billing.services.nights import night_price
from pool.lifecycle.idleness import NightAnswer
from pool.models import NightKeep
from pool.rules.idling.words import MOST_REASON
from pool.selectors.approvals.powers import deciders_of
from pool.selectors.notebooks.nights import night_asked_of, night_open
from pool.services.notebooks.nights import NothingAsked, night_answer, night_ask
from pool.services.notebooks.nudge import MOST_WORDS, owner_nudged
from portal.access.guards import guard
from portal.access.roles import Verb
from portal.api.door import Listed
from portal.api.fields import Given
from portal.held import hogs_shared


class NightIn(Given):
    """Until when (within 24 hours), and why."""

    until = serializers.DateTimeField()
    reason = serializers.CharField(max_length=MOST_REASON)


class NightAnswerIn(Given):
    """What is said to the open wish: its asker withdraws it, who decides grants or refuses."""

    answer = serializers.ChoiceField(choices=[one.value for one in NightAnswer])
    words = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")


class NightOut(serializers.ModelSerializer[NightKeep]):
    """A wish; `answer` is empty while nobody has answered, `weights` what it will come to."""

    asked_by = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)
    answered_by = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)
    weights = serializers.DictField(child=serializers.IntegerField(), read_only=True)

    class Meta:
        model = NightKeep
        fields = [
            *("uid", "until", "reason", "weights", "asked_by", "asked_at"),
            *("answer", "answered_by", "answered_at", "words"),
        ]


class HogOut(serializers.Serializer[Any]):
    """Work that holds card memory while nothing computes. MiB, percent, thousandths, seconds."""

    workload = serializers.CharField()
    name = serializers.CharField()
    kind = serializers.CharField()
    project = serializers.CharField()
    owner = serializers.CharField()
    memory_mib = serializers.FloatField()
    share_milli = serializers.IntegerField()
    sm_percent = serializers.FloatField()
    quiet_seconds = serializers.FloatField(allow_null=True)


class HogsOut(serializers.Serializer[Any]):
    """The most memory first."""

    hogs = HogOut(many=True)


class NudgeIn(Given):
    """What the owner is told beside it."""

    words = serializers.CharField(
        max_length=MOST_WORDS, required=False, allow_blank=True, default=""
    )


class NudgedOut(serializers.Serializer[Any]):
    """Whether the owner was told; they are at most once an hour."""

    told = serializers.BooleanField()


TAKES = {"night": NightIn, "night_answer": NightAnswerIn, "nudge": NudgeIn}
GIVES: dict[str, tuple[int, type[serializers.BaseSerializer[Any]] | None]] = {
    "night": (201, NightOut),
    "night_answer": (200, NightOut),
    "nudge": (200, NudgedOut),
    "hogs": (200, HogsOut),
}


class NightVerbs(Listed):
    """Being left alone for a night, and memory that is held for nothing."""

    @action(detail=True, methods=["post"])
    def night(self, request: Request, uid: str) -> Response:
        """Ask that it is not reclaimed before a time; it is paid for until then."""
        row = self.one()
        guard(self.standing, Verb.NOTEBOOK_OPEN, row)
        given = self.taken()
        price = night_price(workload=row, until=given["until"])
        made = night_ask(
            workload=row,
            user=self.user,
            actor=self.actor,
            weights=price.weights,
            deciders=deciders_of(project=row.project, step="lead", but=self.user.pk),
            **given,
        )
        return self.said(made)

    @action(detail=True, methods=["post"], url_path="night/answer")
    def night_answer(self, request: Request, uid: str) -> Response:
        """Grant or refuse the wish that is open, or (its own asker) withdraw it.

        A deputy answers for somebody who is away.
        """
        asked = night_asked_of(standing=self.standing, uid=uid)
        row = asked or self.one()
        if asked is None:
            guard(self.standing, Verb.NOTEBOOK_OPEN, row)
        given = self.taken()
        answer = NightAnswer(given["answer"])
        if asked is None and answer is not NightAnswer.WITHDRAWN:
            guard(self.standing, Verb.REQUEST_DECIDE, row)
        if asked is not None and answer is NightAnswer.WITHDRAWN:
            guard(self.standing, Verb.NOTEBOOK_OPEN, row)
        wish = night_open(workload=row)
        if wish is None:
            raise NothingAsked
        said = {"answer": answer, "words": given["words"]}
        return self.said(night_answer(night=wish, user=self.user, actor=self.actor, **said))

    @action(detail=True, methods=["post"])
    def nudge(self, request: Request, uid: str) -> Response:
        """Ask the owner about memory that is held for nothing; once an hour."""
        row = self.one()
        guard(self.standing, Verb.WORK_STOP_ANY, row)
        words = self.taken()["words"]
        told = owner_nudged(workload=row, who=str(self.user), words=words, actor=self.actor)
        return self.said({"told": told})

    @action(detail=False, methods=["get"], pagination_class=None)
    def hogs(self, request: Request) -> Response:
        """Who holds card memory while nothing computes."""
        found = hogs_shared(standing=self.standing)
        lines = [
            {
                "workload": row.uid,
                "name": row.name,
                "kind": row.kind,
                "project": row.project.slug,
                "owner": row.owner.username,
                "memory_mib": use.memory_mib,
                "share_milli": round(1000 * use.share),
                "sm_percent": use.sm_percent,
                "quiet_seconds": use.quiet_s,
            }
            for row, use in found
        ]
        return self.said({"hogs": lines})

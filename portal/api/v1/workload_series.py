"""Verbs of arrays and of work that is run again: hold, release, retry, clone, change."""

from functools import partial
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from pool.models import Partition, Project, TemplateVersion, Workload
from pool.rules.arrays import MOST_PIECES, Array, array_problem, at_once, lasting
from pool.rules.gangs import Gang
from pool.rules.workloads import MOST_REASON
from pool.selectors.series.arrays import told
from pool.services.catalogue.giving import work_submit
from pool.services.series.arrays import array_throttle
from pool.services.series.dependencies import dependencies_change
from pool.services.workloads import (
    workload_hold,
    workload_release,
    workload_retry,
)
from portal.access.guards import guard, may
from portal.access.roles import Verb
from portal.access.weights import weights_for
from portal.api.door import Listed
from portal.api.fields import FreeJSON, Given, PlainMap
from portal.api.v1.catalogue.shapes import GivenIn, again
from portal.api.v1.references import partitions_named
from portal.api.v1.series_shapes import AfterIn, ArrayIn, after_named

MOST_SECONDS = 366 * 86_400


class HoldIn(Given):
    """Why it must not start; everybody who sees the work reads it."""

    reason = serializers.CharField(
        max_length=MOST_REASON, required=False, allow_blank=True, default=""
    )


class ChangedIn(Given):
    """What may change of work that is there already; what is not named stays.

    `throttle` is of an array, at any time. `after` replaces all that it waits for, and only while
    nothing of it has started.
    """

    throttle = serializers.IntegerField(
        min_value=1, max_value=MOST_PIECES, required=False, allow_null=True
    )
    after = AfterIn(many=True, required=False)


class CloneIn(GivenIn):
    """What is to be different in the new work; everything else is as in the old.

    Of an array all pieces are made again, unless `array` says otherwise.
    """

    name = serializers.CharField(max_length=63, required=False)
    command = serializers.ListField(
        child=serializers.CharField(max_length=32 * 1024, allow_blank=True, trim_whitespace=False),
        min_length=1,
        max_length=1024,
        required=False,
    )
    env = PlainMap(most=256, required=False)
    files = PlainMap(most=256, required=False)
    expected_seconds = serializers.IntegerField(min_value=1, max_value=MOST_SECONDS, required=False)
    need = FreeJSON(required=False, help_text="What differs from the template.")
    partitions = serializers.ListField(
        child=serializers.SlugField(max_length=63), max_length=20, required=False
    )
    runs = serializers.IntegerField(min_value=0, max_value=100, required=False)
    image = serializers.CharField(max_length=255, required=False, allow_blank=True)
    comment = serializers.CharField(max_length=4000, required=False, allow_blank=True)
    array = ArrayIn(required=False, allow_null=True)
    after = AfterIn(many=True, required=False)


class SeriesVerbs(Listed):
    """What can be done with work that is many, or is to run again."""

    def said(self, row: Any) -> Response:
        """One row, an array with its counts."""
        if isinstance(row, Workload):
            told([row])
        return super().said(row)

    def completed(self, rows: list[Any]) -> list[Any]:
        """The arrays with their counts: one query more."""
        return told(rows)

    @action(detail=True, methods=["post"])
    def hold(self, request: Request, uid: str) -> Response:
        """Keep it from starting until it is released; of an array what runs goes on.

        What somebody who leads the project holds, its owner does not release.
        """
        row = self._mine(uid)
        strict = row.owner_id != self.user.pk
        workload_hold(workload=row, actor=self.actor, strict=strict, **self.taken())
        return self._again()

    @action(detail=True, methods=["post"])
    def release(self, request: Request, uid: str) -> Response:
        """Back into the queue."""
        row = self._mine(uid)
        self.taken()
        leads = may(self.standing, Verb.WORK_STOP_ANY, row)
        workload_release(workload=row, actor=self.actor, strict=leads)
        return self._again()

    @action(detail=True, methods=["post"])
    def retry(self, request: Request, uid: str) -> Response:
        """Queue failed work for one more run; of an array its failed pieces."""
        row = self._mine(uid)
        self.taken()
        workload_retry(workload=row, actor=self.actor)
        return self._again()

    @action(detail=True, methods=["post"])
    def clone(self, request: Request, uid: str) -> Response:
        """Submit the same again, with what the body says different, as work of your own."""
        old: Workload = self.one()
        guard(self.standing, Verb.WORK_SUBMIT, old.project)
        given = self.taken()
        after = after_named(self.standing, given.pop("after", []))
        words = words_of(old) | given
        places = words.pop("partitions", None)
        chosen = partitions_named(old.project, places) if places is not None else []
        made = work_submit(
            given=again(old, words, given),
            user=self.user,
            project=old.project,
            template_version=old.template_version,
            partitions=chosen,
            weights=partial(weights_of_many, old.project, old.template_version, words, chosen),
            after=after,
            actor=self.actor,
            **words,
        )
        return self.said(made)

    def partial_update(self, request: Request, uid: str) -> Response:
        """Change the throttle of an array, or what waiting work waits for."""
        row = self._mine(uid)
        given = self.taken()
        if not given:
            raise serializers.ValidationError({"throttle": [_("Say what is to change.")]})
        if "after" in given:
            after = after_named(self.standing, given["after"])
            dependencies_change(workload=row, after=after, actor=self.actor)
        if "throttle" in given:
            array_throttle(array=row, throttle=given["throttle"], actor=self.actor)
        return self._again()

    def _mine(self, uid: str) -> Workload:
        row: Workload = self.one()
        guard(self.standing, Verb.WORK_STOP, row)
        return row

    def _again(self) -> Response:
        return self.said(self.one())


def words_of(old: Workload) -> dict[str, Any]:
    """The words by which the same would be submitted again; a piece as work of its own."""
    said = old.parent or old
    array = Array(old.array_spec, old.array_throttle) if old.array_size else None
    return {
        "name": old.name,
        "command": list(said.command),
        "env": dict(said.env),
        "files": dict(said.files),
        "need": dict(old.need),
        "expected_seconds": old.expected_seconds,
        "silence": old.silence,
        "runs": old.runs_asked,
        "comment": old.comment,
        "image": old.image,
        "array": array,
        "gang": Gang(on_rank_death=old.on_rank_death, rendezvous_seconds=old.rendezvous_seconds),
    }


def weights_of_many(
    project: Project, version: TemplateVersion, words: dict[str, Any], chosen: list[Partition]
) -> dict[str, float]:
    """What the whole of it would weigh, for the request that may be opened for it."""
    array: Array | None = words["array"]
    pieces, copies = 1, 1
    if array is not None and array_problem(array) is None:
        pieces = len(array.indices)
        copies = at_once(pieces, array.throttle)
    seconds = words["expected_seconds"] or version.default_seconds
    return weights_for(
        project=project,
        version=version,
        overrides=words["need"],
        partitions=chosen,
        seconds=lasting(seconds, pieces, copies),
        copies=copies,
    )

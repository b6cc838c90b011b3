"""Work after other work: what it waits for is said at first, and may change while it waits."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from django.db import connection, transaction
from django.utils.translation import gettext

from pool.clock import now
from pool.errors import IllegalMove, Invalid, Stale
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.workloads import ENDED, WAITING, WorkloadState
from pool.locks import DEPENDENCIES
from pool.models.dependencies import Dependency
from pool.models.workloads import Workload
from pool.rules.arrays import indices_of
from pool.rules.dependencies import MOST_AFTER, Pieces, Rule, Verdict, in_a_circle, judged
from pool.selectors.series.arrays import tallies
from pool.services.moves import move, move_pieces
from pool.services.series.arrays import array_locked
from pool.wake import round_wanted

_EDGES = """
WITH RECURSIVE reach(id) AS (
    SELECT unnest(%s::bigint[])
  UNION
    SELECT coalesce(o.parent_id, o.id)
    FROM reach r JOIN pool_dependency d ON d.workload_id = r.id
    JOIN pool_workload o ON o.id = d.on_id
)
SELECT r.id, coalesce(o.parent_id, o.id)
FROM reach r JOIN pool_dependency d ON d.workload_id = r.id
JOIN pool_workload o ON o.id = d.on_id
"""
"""From each that is waited for, however far, to those it waits for; pieces count as their array."""


@dataclass(frozen=True, slots=True)
class After:
    """One other that must have kept a rule first. `share_milli` in thousandths of its pieces."""

    on: Workload
    rule: Rule = Rule.SUCCESS
    share_milli: int | None = None
    each: bool = False


def dependencies_open(*, workload: Workload, after: Sequence[After]) -> None:
    """Write what new work waits for; its row was made in this transaction.

    Raises:
        Invalid: one of them cannot be waited for in this way.
    """
    if after:
        _write(workload, _refuse_wrong(workload, after))


@transaction.atomic
def dependencies_change(*, workload: Workload, after: Sequence[After], actor: Actor) -> Workload:
    """Let waiting work wait for these, and for nothing else.

    Edits are made one at a time, so that two of them cannot close a circle together.

    Raises:
        Invalid: one of them cannot be waited for, or would wait for this one in the end.
        IllegalMove: it is a piece of an array, or does not wait any more.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [DEPENDENCIES])
    workload = array_locked(workload)
    if workload.parent_id is not None or not _still_waits(workload):
        raise IllegalMove(noun="workload", state=workload.state, then="waiting for others")
    after = _refuse_wrong(workload, after)
    _refuse_circle(workload, after)
    Dependency.objects.filter(workload=workload).delete()
    _write(workload, after)
    record(
        EventKind.WORKLOAD_CHANGED,
        workload,
        actor=actor,
        after=[{"workload": one.on.uid, "on": str(one.rule)} for one in after],
    )
    round_wanted()
    return workload


def dependencies_judged(*, rows: Iterable[Dependency]) -> dict[int, Verdict]:
    """How each rule stands now, by its key; one query beside the rows with what they wait for."""
    found = list(rows)
    counts = tallies(rows=[one.on for one in found if one.rule == Rule.SHARE])
    verdicts: dict[int, Verdict] = {}
    for one in found:
        tally = counts.get(one.on_id)
        pieces = Pieces(tally.size, tally.done, tally.live) if tally else None
        rule = Rule.END if one.each else Rule(one.rule)
        verdicts[one.pk] = judged(
            rule, WorkloadState(one.on.state), pieces=pieces, share_milli=one.share_milli or 0
        )
    return verdicts


def dependencies_kept(*, workload: Workload) -> None:
    """Pass when nothing is left that locked work has to wait for.

    Raises:
        Stale: something was written meanwhile that it waits for.
    """
    ids = [workload.pk] if workload.parent_id is None else [workload.pk, workload.parent_id]
    rows = Dependency.objects.filter(workload__in=ids, each=False, met_at=None, broken_at=None)
    if rows.exists():
        raise Stale(workload=workload.uid, why="it waits for other work")


@transaction.atomic
def dependency_failed(*, workload: Workload, why: str, actor: Actor) -> bool:
    """End work that waits for what can never be; an array with all its pieces. Safe to repeat."""
    workload = array_locked(workload)
    if not _still_waits(workload):
        return False
    changes = {"ended_at": now(), "message": why[:400]}
    if workload.array_size:
        pieces = Workload.objects.filter(parent=workload, state__in=sorted(WAITING))
        failed = WorkloadState.DEPENDENCY_FAILED
        move_pieces(pieces, failed, of=workload, actor=actor, reason=why, changes=changes)
    move(workload, WorkloadState.DEPENDENCY_FAILED, actor=actor, reason=why, changes=changes)
    round_wanted()
    return True


@transaction.atomic
def pieces_failed(*, array: Workload, pieces: Sequence[int], why: str, actor: Actor) -> int:
    """End those pieces whose own counterpart has failed; how many."""
    array = array_locked(array)
    rows = Workload.objects.filter(parent=array, pk__in=pieces, state__in=sorted(WAITING))
    changes = {"ended_at": now(), "message": why[:400]}
    failed = WorkloadState.DEPENDENCY_FAILED
    count = move_pieces(rows, failed, of=array, actor=actor, reason=why, changes=changes)
    if count:
        round_wanted()
    return count


def _still_waits(workload: Workload) -> bool:
    """Nothing of it has started yet."""
    if workload.state in WAITING and not workload.array_size:
        return True
    if workload.state in ENDED or not workload.array_size:
        return False
    pieces = Workload.objects.filter(parent=workload)
    return not pieces.exclude(state__in=sorted(WAITING), attempts_made=0).exists()


def _write(workload: Workload, after: Sequence[After]) -> None:
    rows = [
        Dependency(
            workload=workload,
            on=one.on,
            rule=one.rule,
            share_milli=one.share_milli,
            each=one.each,
        )
        for one in after
    ]
    Dependency.objects.bulk_create(rows)


def _refuse_wrong(workload: Workload, after: Sequence[After]) -> list[After]:
    """The others as they are now."""
    if len(after) > MOST_AFTER:
        raise Invalid(after=gettext("At most %(most)s others are possible.") % {"most": MOST_AFTER})
    if len({one.on.pk for one in after}) < len(after):
        raise Invalid(after=gettext("Each may be named once."))
    rows = Workload.objects.in_bulk([one.on.pk for one in after])
    found = [replace(one, on=rows[one.on.pk]) for one in after]
    for one in found:
        if wrong := _problem(workload, one):
            raise Invalid(after=f"{one.on.uid}: {wrong}")
    return found


def _problem(workload: Workload, one: After) -> str:
    """Why it cannot be waited for in this way; empty when it can."""
    if workload.pk in (one.on.pk, one.on.parent_id):
        return gettext("Work cannot wait for itself.")
    if (one.rule is Rule.SHARE) != (one.share_milli is not None):
        return gettext("A share goes with the rule “share”, and only with it.")
    if one.rule is Rule.SHARE and not one.on.array_size:
        return gettext("Only an array has a share.")
    if one.share_milli is not None and not 1 <= one.share_milli <= 1000:
        return gettext("A share lies above 0 and is at most 1.")
    if one.each:
        return _each_problem(workload, one)
    if _verdict(one) is Verdict.BROKEN:
        return gettext("It has ended already, and not as it should.")
    return ""


def _each_problem(workload: Workload, one: After) -> str:
    if one.rule is Rule.SHARE or not (workload.array_size and one.on.array_size):
        return gettext("Piece after piece goes from an array to an array, without a share.")
    if set(indices_of(workload.array_spec)) - set(indices_of(one.on.array_spec)):
        return gettext("It has no piece for some index of this array.")
    return ""


def _verdict(one: After) -> Verdict:
    row = Dependency(pk=0, on=one.on, rule=one.rule, share_milli=one.share_milli, each=one.each)
    return dependencies_judged(rows=[row])[0]


def _refuse_circle(workload: Workload, after: Sequence[After]) -> None:
    roots = [one.on.parent_id or one.on.pk for one in after]
    with connection.cursor() as cursor:
        cursor.execute(_EDGES, [roots])
        found = cursor.fetchall()
    edges: dict[int, frozenset[int]] = {}
    for here, there in found:
        edges[here] = edges.get(here, frozenset()) | {there}
    edges[workload.pk] = frozenset(roots)
    if in_a_circle(edges, workload.pk):
        raise Invalid(after=gettext("In the end it would wait for itself."))

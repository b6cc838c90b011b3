"""Schedules: made, changed, paused, resumed, ended by people. Their times come in firing.py."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from nodeagent.protocol.vocabulary import Silence
from pool.clock import now
from pool.cron import cron_problem, times_after
from pool.errors import Forbidden, IllegalMove, NotYours, TooMany
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.leases import LeaseState
from pool.lifecycle.requests import RequestState
from pool.lifecycle.roles import RankDeath
from pool.lifecycle.schedules import SCHEDULE, ScheduleState
from pool.models.leases import Lease
from pool.models.partitions import Partition
from pool.models.requests import Request
from pool.models.schedules import Schedule
from pool.models.templates import TemplateVersion
from pool.models.tenants import Project
from pool.models.users import User
from pool.rules.arrays import Array, array_problem, at_once, indices_of, spec_of
from pool.rules.gangs import Gang, gang_problems
from pool.rules.needs import to_mapping
from pool.rules.problems import Problem
from pool.rules.problems import marked as _
from pool.rules.quotas import Allowance
from pool.rules.schedules import Missed, Overlap
from pool.rules.workloads import image_problem, reason_problem, work_problems
from pool.selectors.allowances import allowance_judged
from pool.selectors.leases import lease_that_holds
from pool.selectors.offers import host_of
from pool.selectors.series.schedules import orphans
from pool.services.approvals.given import judged_in
from pool.services.catalogue.judging import Given, given_from, given_judged, given_kept
from pool.services.moves import locked, move
from pool.services.people.told import tell_of_lost
from pool.services.refusals import refuse
from pool.services.requests import OPEN, request_locked, request_submit
from pool.services.rights import Weights
from pool.services.series.handed import personal_forgotten
from pool.services.surroundings.runners import kind_runnable, runner_for
from pool.services.wishes import (
    Wish,
    project_open,
    template_usable,
    wish_judged,
    wish_within_limits,
)

LEASE_SECONDS = 30 * 86_400
"""For so long, or as long as its template lets it, a schedule asks beyond the allowance."""

MOST_SCHEDULES = 100
"""Schedules of one member in one project."""

CHANGEABLE = (
    *("name", "command", "env", "files", "image", "priority", "runs", "silence", "comment"),
    *("on_rank_death", "rendezvous_seconds", "cron", "overlap", "missed", "given"),
)
"""What may change without a new request: the need and its time may not."""

OWNED = frozenset({"name", "command", "env", "files", "image", "silence", "comment", "given"})
"""What a run is. It runs under its owner's account, so that nobody else writes these words."""

JUDGED = frozenset({"env", "files", "image", "given"})
"""A change of these is judged with what is given; that something given is gone bars no other."""


@transaction.atomic
def schedule_create(
    *,
    user: User,
    project: Project,
    template_version: TemplateVersion,
    cron: str,
    actor: Actor,
    partitions: Iterable[Partition] = (),
    weights: Weights | None = None,
    lease_seconds: int = LEASE_SECONDS,
    **words: Any,
) -> Schedule:
    """Submit work again and again at the times of a cron line in the organization's zone.

    `words` are those of a submission (name, command, env, files, need, expected_seconds, priority,
    runs, silence, comment, array, image, on_rank_death, rendezvous_seconds, given), and `overlap`
    and `missed`. What is given is judged now, and again at each run: a secret or a folder that is
    gone by then keeps that run from starting. Where the project's allowance does not hold a run,
    one request of `lease_seconds` is opened for all of them.

    Raises:
        Invalid: a word is wrong, or the template is not offered.
        Suspended: the project may start nothing new.
        TooMany: the member has 100 schedules in the project.
        Impossible: no card of the partitions could ever hold a run.
        QuotaExceeded: a run is larger than a limit itself.
    """
    said = _said(template_version, words)
    _refuse_wrong(said, cron, template_version)
    project = project_open(project=project)
    template_usable(template_version=template_version, project=project)
    kind_runnable(template_version=template_version)
    mine = Schedule.objects.filter(project=project, owner=user)
    if mine.exclude(state=ScheduleState.ENDED).count() >= MOST_SCHEDULES:
        raise TooMany(what=gettext("schedules"), limit=MOST_SCHEDULES)
    wish = wish_judged(
        project=project,
        template_version=template_version,
        overrides=_judged(said, user, project, template_version),
        partitions=partitions,
    )
    wish = wish_within_limits(wish=wish, user=user)
    runner_for(image=said["image"], partitions=wish.partitions, cards=wish.need.parts > 0)
    array: Array | None = said.pop("array")
    row = Schedule(
        project=project,
        owner=user,
        template_version=template_version,
        cron=cron,
        array_spec=spec_of(array.indices) if array else "",
        array_throttle=array.throttle if array else None,
        next_at=_next_at(cron, project),
        example=project.example,
        **said,
    )
    row.request = _asked(row, wish, lease_seconds, weights, actor)
    row.save()
    row.partitions.set(partitions)
    request = row.request.uid if row.request else ""
    record(EventKind.SCHEDULE_CREATED, row, actor=actor, name=row.name, cron=cron, request=request)
    return row


@transaction.atomic
def schedule_change(*, schedule: Schedule, user: User, actor: Actor, **words: Any) -> Schedule:
    """Change what is run or when; what runs already goes on as it is.

    Raises:
        Invalid: a word is wrong.
        Forbidden: somebody else than its owner changes what is run.
        IllegalMove: it has ended.
    """
    row = schedule_locked(schedule)
    if row.state == ScheduleState.ENDED:
        raise IllegalMove(noun=SCHEDULE.name, state=row.state, then="changed")
    changed = sorted(name for name in CHANGEABLE if name in words and words[name] is not None)
    if user.pk != row.owner_id and OWNED.intersection(changed):
        raise Forbidden
    for name in changed:
        value = words[name]
        setattr(row, name, given_kept(value) if isinstance(value, Given) else value)
    said = {name: getattr(row, name) for name in CHANGEABLE} | {
        "expected_seconds": row.expected_seconds,
        "array": None,
    }
    _refuse_wrong(said, row.cron, row.template_version)
    if "cron" in changed and row.state == ScheduleState.ACTIVE:
        row.next_at = _next_at(row.cron, row.project)
    if JUDGED.intersection(changed):
        _judged(said | {"need": row.need}, row.owner, row.project, row.template_version)
    row.save()
    if row.request_id is not None and {"given", "image"}.intersection(changed):
        _asked_for_other_things(row, actor)
    record(EventKind.SCHEDULE_CHANGED, row, actor=actor, changed=changed, cron=row.cron)
    return row


@transaction.atomic
def schedule_pause(*, schedule: Schedule, actor: Actor, reason: str = "") -> Schedule:
    """Let its times pass without a run until it is resumed; twice changes nothing.

    Raises:
        Invalid: the reason is longer than 200 characters.
        IllegalMove: it has ended.
    """
    refuse({"reason": reason_problem(reason)})
    row = schedule_locked(schedule)
    if row.state == ScheduleState.PAUSED:
        return row
    move(row, ScheduleState.PAUSED, actor=actor, reason=reason, changes={"next_at": None})
    return row


@transaction.atomic
def schedule_resume(
    *, schedule: Schedule, user: User, actor: Actor, weights: Weights | None = None
) -> Schedule:
    """Let its times run again, from the next one on; twice changes nothing.

    A schedule whose owner has left goes over to whoever resumes it. Where its lease is over, or its
    request was refused, a new one is asked for.

    Raises:
        IllegalMove: it has ended.
        Suspended, Impossible, QuotaExceeded: as when it was made.
    """
    project = project_open(project=schedule.project)
    row = schedule_locked(schedule)
    if row.state == ScheduleState.ACTIVE:
        return row
    fresh = {"next_at": _next_at(row.cron, row.project)}
    move(row, ScheduleState.ACTIVE, actor=actor, changes=fresh)
    if orphans().filter(pk=row.pk).exists():
        told = {"before": row.owner.uid, "after": user.uid}
        row.owner = user
        event = record(EventKind.OWNER_CHANGED, row, actor=actor, **told)
        if lost := personal_forgotten(row=row, owner=user):
            tell_of_lost(row=row, heir=user, count=lost, event=event)
    if row.request is not None and _is_over(row.request):
        wish = wish_judged(
            project=project,
            template_version=row.template_version,
            overrides=row.need,
            partitions=row.partitions.all(),
        )
        row.request = _asked(row, wish, LEASE_SECONDS, weights, actor)
    row.save(update_fields=["owner", "given", "request"])
    return row


@transaction.atomic
def schedule_end(*, schedule: Schedule, actor: Actor) -> Schedule:
    """It is over for good; what it has started goes on. Twice changes nothing."""
    row = schedule_locked(schedule)
    if row.state != ScheduleState.ENDED:
        move(row, ScheduleState.ENDED, actor=actor, changes={"next_at": None})
    return row


def project_of_locked(schedule: Schedule) -> None:
    """Lock the project of a schedule, suspended or not: before the schedule, as everywhere."""
    mine = Schedule.objects.filter(pk=schedule.pk).values("project")
    projects = Project.objects.select_for_update(no_key=True, of=("self",))
    list(projects.filter(pk__in=mine))


def schedule_locked(schedule: Schedule) -> Schedule:
    """The schedule as it is now, locked.

    Raises:
        NotYours: it does not exist any more.
    """
    rows = Schedule.objects.filter(pk=schedule.pk)
    found = locked(
        rows.select_related("project__organization", "owner", "template_version", "request")
    )
    if not found:
        raise NotYours
    return found[0]


def _said(version: TemplateVersion, words: Mapping[str, Any]) -> dict[str, Any]:
    """The words of a run, with what the template says where a person says nothing."""
    seconds = words.get("expected_seconds")
    return {
        "name": (words.get("name") or version.template.slug).strip(),
        "command": words.get("command"),
        "env": dict(words.get("env") or {}),
        "files": dict(words.get("files") or {}),
        "need": dict(words.get("need") or {}),
        "expected_seconds": version.default_seconds if seconds is None else seconds,
        "priority": words.get("priority") or version.priority,
        "silence": words.get("silence") or Silence.KEEP.value,
        "runs": words.get("runs") or 0,
        "on_rank_death": words.get("on_rank_death") or RankDeath.FAIL.value,
        "rendezvous_seconds": words.get("rendezvous_seconds") or 600,
        "image": words.get("image") or "",
        "comment": words.get("comment") or "",
        "overlap": words.get("overlap") or Overlap.SKIP.value,
        "missed": words.get("missed") or Missed.SKIP.value,
        "array": words.get("array"),
        "given": given_kept(words.get("given") or Given()),
    }


def _judged(
    said: Mapping[str, Any], user: User, project: Project, version: TemplateVersion
) -> Mapping[str, Any]:
    """The need, with what storage and environment ask of a node.

    Raises:
        Invalid: something of it is not there, or not the person's to use.
    """
    named = {name: said[name] for name in ("need", "env", "files", "image")}
    given = given_from(said["given"])
    return given_judged(given=given, user=user, project=project, version=version, **named).need


def _refuse_wrong(said: Mapping[str, Any], cron: str, version: TemplateVersion) -> None:
    names = ("name", "comment", "command", "env", "files", "priority", "runs", "silence")
    wrong: dict[str, Problem | None] = dict(
        work_problems(
            **{name: said[name] for name in names},
            seconds=said["expected_seconds"],
            most_seconds=version.max_seconds,
        )
    )
    wrong |= gang_problems(
        Gang(
            on_rank_death=said["on_rank_death"],
            rendezvous_seconds=said["rendezvous_seconds"],
        )
    )
    wrong["image"] = image_problem(said["image"])
    wrong["cron"] = cron_problem(cron)
    wrong["overlap"] = _one_of(said["overlap"], tuple(Overlap))
    wrong["missed"] = _one_of(said["missed"], tuple(Missed))
    wrong["array"] = array_problem(said["array"]) if said["array"] else None
    refuse(wrong)


def _one_of(value: Any, known: tuple[str, ...]) -> Problem | None:
    if value in known:
        return None
    return Problem(_("Choose from: %(known)s."), {"known": ", ".join(known)})


def _next_at(cron: str, project: Project) -> datetime:
    return times_after(cron, now(), zone=project.organization.zone, count=1)[0]


def _asked(
    row: Schedule, wish: Wish, seconds: int, weights: Weights | None, actor: Actor
) -> Request | None:
    """One request for all runs, where neither the allowance nor a lease holds them."""
    pieces = len(indices_of(row.array_spec)) if row.array_spec else 1
    judged = allowance_judged(
        project=wish.project,
        need=wish.need,
        options=wish.options,
        partitions=wish.partitions,
        seconds=row.expected_seconds,
        when_full="wait",
    )
    if judged.answer is not Allowance.BEYOND or _has_lease(wish):
        return None
    return request_submit(
        user=row.owner,
        project=wish.project,
        template_version=row.template_version,
        actor=actor,
        need=to_mapping(wish.need),
        copies=at_once(pieces, row.array_throttle),
        duration_seconds=min(seconds, row.template_version.max_seconds),
        partitions=wish.partitions,
        title=row.name,
        like={"given": judged_in(row.given, row.uid), "image": row.image},
        weights=weights() if callable(weights) else weights or {},
    )


def _asked_for_other_things(row: Schedule, actor: Actor) -> None:
    """Its open request names what its runs use now: whoever read the old has to look again."""
    assert row.request is not None
    request = request_locked(request=row.request)
    told = {"given": judged_in(row.given, row.uid), "image": row.image}
    other = sorted(name for name, one in told.items() if getattr(request, name) != one)
    if request.state not in OPEN or not other:
        return
    for name, value in told.items():
        setattr(request, name, value)
    request.revision, request.step = request.revision + 1, 0
    request.pending_decision = request.pending_until = None
    request.save(update_fields=[*told, "revision", "step", "pending_decision", "pending_until"])
    record(EventKind.REQUEST_CHANGED, request, actor=actor, changed=other)


def _has_lease(wish: Wish) -> bool:
    held = lease_that_holds(
        project=wish.project,
        template=wish.template_version.template_id,
        need=wish.need,
        micro=wish.micro,
        host=host_of(need=wish.need, options=wish.options),
        at=now(),
    )
    return held is not None


def _is_over(request: Request) -> bool:
    """Whether nothing can run by right of it any more."""
    if request.state in (RequestState.REJECTED, RequestState.WITHDRAWN):
        return True
    lease = Lease.objects.filter(request=request).order_by("-pk").first()
    return lease is not None and lease.state != LeaseState.ACTIVE

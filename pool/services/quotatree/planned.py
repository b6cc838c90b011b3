"""Changes of quota rows on a day to come, and grants that end: kept as rows, swept, idempotent."""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext

from pool.clock import now
from pool.errors import Invalid, NotYours
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.targets import PlannedQuotaKind, PlannedQuotaState
from pool.models.quotas import Quota
from pool.models.quotatree.plans import PlannedQuota
from pool.models.tenants import Organization, Project
from pool.rules.policies import reason_problem
from pool.rules.quotas import ceiling_of, over_by
from pool.services.moves import locked, move
from pool.services.quotas import QuotaLine, quota_line_check, quotas_set
from pool.services.refusals import refuse
from pool.sweeps import each
from pool.wake import round_wanted

FARTHEST = timedelta(days=3 * 366)
"""No change is planned further ahead, and no grant lasts longer."""


@transaction.atomic
def quota_plan(
    *,
    line: QuotaLine,
    does: str,
    starts_at: datetime,
    reason: str,
    actor: Actor,
    ends_at: datetime | None = None,
) -> PlannedQuota:
    """Plan that a row is set to the line's limit on a day, or has so much more until another.

    What starts in the past starts with the next sweep. A grant is of a row that is there when it
    starts: where nothing binds there is nothing to add to.

    Raises:
        Invalid: the line is not right, the times are not, or no reason is given.
    """
    quota_line_check(line)
    refuse({"reason": reason_problem(reason)})
    _times(does, starts_at, ends_at)
    if line.limit is None or (does == PlannedQuotaKind.GRANT and line.limit == 0):
        raise Invalid(amount=gettext("Say how much."))
    row = PlannedQuota.objects.create(
        **line.place,
        does=does,
        amount=line.limit,
        starts_at=starts_at,
        ends_at=ends_at,
        reason=reason.strip(),
        actor_label=actor.label[:160],
    )
    record(
        EventKind.QUOTA_PLANNED,
        row,
        actor=actor,
        project=line.project,
        does=does,
        of=line.kind,
        unit=line.unit,
        card_model=line.card_model,
        partition=line.partition.uid,
        amount=line.limit,
        starts_at=starts_at.isoformat(),
        ends_at=None if ends_at is None else ends_at.isoformat(),
        reason=row.reason,
    )
    return row


def _times(does: str, starts_at: datetime, ends_at: datetime | None) -> None:
    latest = now() + FARTHEST
    if does not in set(PlannedQuotaKind):
        known = ", ".join(PlannedQuotaKind)
        raise Invalid(does=gettext("Choose from: %(known)s.") % {"known": known})
    if starts_at > latest:
        raise Invalid(starts_at=gettext("This lies too far ahead."))
    if does == PlannedQuotaKind.SET and ends_at is not None:
        raise Invalid(ends_at=gettext("A value that is set stays; only a grant ends."))
    if does == PlannedQuotaKind.GRANT:
        if ends_at is None:
            raise Invalid(ends_at=gettext("Say when the grant ends."))
        if ends_at <= max(starts_at, now()) or ends_at > latest + FARTHEST:
            raise Invalid(ends_at=gettext("The end must lie ahead, after the start."))


@transaction.atomic
def quota_plan_cancel(*, plan: PlannedQuota, actor: Actor, reason: str = "") -> PlannedQuota:
    """Call off what has not begun, or end a grant before its time; over is over.

    Raises:
        NotYours: it does not exist any more.
        IllegalMove: it is over already.
    """
    found = locked(PlannedQuota.objects.filter(pk=plan.pk))
    if not found:
        raise NotYours
    row = found[0]
    if row.state == PlannedQuotaState.IN_FORCE:
        _grant_ends(row, actor)
    move(row, PlannedQuotaState.CANCELLED, actor=actor, reason=reason)
    return row


def quota_plans_due(*, actor: Actor) -> int:
    """Carry out what is due, each in its own transaction; how many were. Safe to repeat."""
    at = now()
    starts = PlannedQuota.objects.filter(state=PlannedQuotaState.AHEAD, starts_at__lte=at)
    ends = PlannedQuota.objects.filter(state=PlannedQuotaState.IN_FORCE, ends_at__lte=at)
    due = [*starts.order_by("starts_at", "pk"), *ends.order_by("ends_at", "pk")]
    return each(due, lambda one: _carried_out(one.pk, actor), of="quota.plan")


@transaction.atomic
def _carried_out(key: int, actor: Actor) -> bool:
    at = now()
    rows = locked(PlannedQuota.objects.filter(pk=key))
    row = rows[0] if rows else None
    if row is None:
        return False
    if row.state == PlannedQuotaState.IN_FORCE and row.ends_at is not None and row.ends_at <= at:
        _grant_ends(row, actor)
        move(row, PlannedQuotaState.DONE, actor=actor, reason=gettext("its time is over"))
        return True
    if row.state != PlannedQuotaState.AHEAD or row.starts_at > at:
        return False
    if row.does == PlannedQuotaKind.SET:
        quotas_set(lines=[_line(row)], actor=actor, reason=row.reason, change=row.uid)
        move(row, PlannedQuotaState.DONE, actor=actor)
        return True
    return _grant_starts(row, at, actor)


def _grant_starts(row: PlannedQuota, at: datetime, actor: Actor) -> bool:
    over = row.ends_at is not None and row.ends_at <= at
    if over or not _granted(row, row.amount, actor):
        why = gettext("its time passed") if over else gettext("no limit is set there any more")
        move(row, PlannedQuotaState.CANCELLED, actor=actor, reason=why)
        return True
    move(row, PlannedQuotaState.IN_FORCE, actor=actor)
    return True


def _grant_ends(row: PlannedQuota, actor: Actor) -> None:
    _granted(row, -row.amount, actor)


def _granted(row: PlannedQuota, more: int, actor: Actor) -> bool:
    """Add to (or take from) what grants give of the row; whether it is there.

    A row that was taken away and made anew meanwhile has lost the grant with it.
    """
    found = locked(Quota.objects.filter(**_line(row).place))
    if not found:
        return False
    quota = found[0]
    more = max(more, -quota.granted)
    base = quota.limit_value - quota.granted
    quota.granted += more
    quota.limit_value = base + quota.granted
    quota.ceiling = ceiling_of(quota.limit_value, quota.held)
    quota.save(update_fields=["granted", "limit_value", "ceiling", "changed_at"])
    record(
        EventKind.QUOTA_CHANGED,
        quota,
        actor=actor,
        project=row.project,
        of=row.kind,
        unit=row.unit,
        card_model=row.card_model,
        partition=row.partition.uid,
        before=base,
        after=base,
        granted=quota.granted,
        held=quota.held,
        over_by=over_by(quota.limit_value, quota.held),
        reason=row.reason,
        change=row.uid,
    )
    round_wanted()
    return True


def _line(row: PlannedQuota) -> QuotaLine:
    tenant: Organization | Project | None = row.project or row.organization
    assert tenant is not None, "the table has one tenant"
    return QuotaLine(
        tenant=tenant,
        user=row.user,
        partition=row.partition,
        card_model=row.card_model,
        unit=row.unit,
        kind=row.kind,
        limit=row.amount,
    )

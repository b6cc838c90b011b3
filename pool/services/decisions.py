"""Decisions on requests: yes, yes with changes, no, ask back; at once or ten seconds later."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from pool.clock import now
from pool.errors import AlreadyDecided, Forbidden, Invalid, OwnRequest, PoolError, Stale
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.requests import RequestState
from pool.lifecycle.workloads import WorkloadState
from pool.models.partitions import Partition
from pool.models.requests import Request
from pool.models.users import User
from pool.rules.approval import may_decide
from pool.rules.workloads import comment_problem
from pool.selectors.approvals.powers import roles_to_decide, stands_in_for
from pool.services.approvals.altering import lease_granted
from pool.services.approvals.told import tell_deciders, tell_requester
from pool.services.calendar.reservations import reservation_confirm
from pool.services.entitlements import entitlement_give_back
from pool.services.moves import locked, move
from pool.services.queue import workloads_let_in
from pool.services.refusals import refuse
from pool.services.requests import (
    request_close,
    request_comment,
    request_locked,
    request_rewrite,
    wish_of,
)
from pool.sweeps import each

UNDO_SECONDS = 10
"""How long a decision made at a page waits for its undo."""

CHANGEABLE = frozenset(
    {"need", "copies", "duration_seconds", "lease_kind", "starts_at", "partitions"}
)
"""What an approver may change; the requester's own words are not among them."""


@transaction.atomic
def request_approve(
    *,
    request: Request,
    user: User,
    actor: Actor,
    revision: int | None = None,
    changes: Mapping[str, Any] | None = None,
    weights: Mapping[str, float] | None = None,
    reason: str = "",
    delay_s: int = 0,
) -> Request:
    """Say yes to the step that is due, with changes if any; the last step opens the lease.

    `weights` are those of the request as changed, from the door; without them the old ones grow
    with the size, and are unknown for another kind of card.

    Raises:
        OwnRequest, Forbidden: the person may not decide this step.
        AlreadyDecided: another was first; who and when is told.
        Stale: the request is no longer the revision that was read.
        Invalid, Impossible, QuotaExceeded: the changes could not be granted.
    """
    _changeable(changes or {})
    request = _decidable(request, user, revision)
    plain = _plain(changes or {})
    if plain and weights is not None:
        plain["weights"] = dict(weights)
    decision = {"decision": "approve", "changes": plain, "reason": reason}
    return _decide(request, user, actor, decision, delay_s)


@transaction.atomic
def request_reject(
    *,
    request: Request,
    user: User,
    actor: Actor,
    reason: str,
    revision: int | None = None,
    delay_s: int = 0,
) -> Request:
    """Say no, with a reason that the requester reads. Raises as request_approve does."""
    if not str(reason).strip():
        raise Invalid(reason=gettext("Say why, in a word the requester can use."))
    request = _decidable(request, user, revision)
    return _decide(request, user, actor, {"decision": "reject", "reason": reason}, delay_s)


@transaction.atomic
def request_return(
    *,
    request: Request,
    user: User,
    actor: Actor,
    text: str,
    revision: int | None = None,
    delay_s: int = 0,
) -> Request:
    """Ask back: the requester changes it or answers, and sends it again. Raises as approve does."""
    if not str(text).strip():
        raise Invalid(text=gettext("Write what you want to know."))
    request = _decidable(request, user, revision)
    return _decide(request, user, actor, {"decision": "return", "reason": text}, delay_s)


@transaction.atomic
def request_undo(*, request: Request, user: User, actor: Actor) -> Request:
    """Take one's own decision back while it still waits; afterwards nothing is undone.

    Raises:
        Forbidden: it is another's decision.
        Stale: there is none that waits.
    """
    request = request_locked(request=request)
    pending = request.pending_decision
    if not pending or request.state != RequestState.SUBMITTED:
        raise Stale
    if pending["by"] != user.pk:
        raise Forbidden
    _pend(request, None, None)
    record(EventKind.REQUEST_CHANGED, request, actor=actor, undone=pending["decision"])
    return request


def request_decisions_due(*, actor: Actor) -> int:
    """Let decisions whose ten seconds are over take effect, each in its own transaction.

    A decision that can no longer be carried out is dropped, and the request says why.
    """
    due = Request.objects.filter(state=RequestState.SUBMITTED, pending_until__lte=now())
    keys = due.order_by("pk").values_list("pk", flat=True)
    return each(keys, lambda key: _take_effect(key, actor), of="request.decision")


def _take_effect(key: int, actor: Actor) -> bool:
    try:
        with transaction.atomic():
            return _due(key)
    except PoolError as refused:
        with transaction.atomic():
            request = request_locked(request=Request(pk=key))
            pending = request.pending_decision or {}
            _pend(request, None, None)
            record(
                EventKind.REQUEST_CHANGED,
                request,
                actor=actor,
                dropped=pending.get("decision", ""),
                why=refused.code,
                message=str(refused)[:400],
            )
        return False


def _due(key: int) -> bool:
    request = request_locked(request=Request(pk=key))
    pending, until = request.pending_decision, request.pending_until
    if not pending or until is None or until > now() or request.state != RequestState.SUBMITTED:
        return False
    user = User.objects.get(pk=pending["by"])
    _may(request, user)
    _carry_out(request, user, Actor(**pending["actor"]), pending)
    return True


def _changeable(changes: Mapping[str, Any]) -> None:
    """Refuse words that are not an approver's, and a start that is not a time."""
    said = gettext("An approver cannot change this.")
    wrong = dict.fromkeys(sorted(set(changes) - CHANGEABLE), said)
    start = changes.get("starts_at")
    if start is not None and not isinstance(start, datetime):
        wrong["starts_at"] = gettext("A time with its zone is needed.")
    if wrong:
        raise Invalid(**wrong)


def _decidable(request: Request, user: User, revision: int | None) -> Request:
    """The request, locked, if this person may decide on this reading of it now."""
    request = request_locked(request=request)
    _undecided(request, user)
    _may(request, user)
    if revision is not None and revision != request.revision:
        raise Stale(revision=request.revision)
    return request


def _undecided(request: Request, user: User) -> None:
    """Refuse when another was first: with a decision, or with one that waits for its undo."""
    pending = request.pending_decision
    if request.state == RequestState.SUBMITTED:
        if pending and pending["by"] != user.pk:
            raise AlreadyDecided(by=pending["name"], at=pending["at"], state=pending["decision"])
        return
    if request.decided_by is not None and request.decided_at is not None:
        raise AlreadyDecided(
            by=str(request.decided_by),
            at=request.decided_at.isoformat(timespec="seconds"),
            state=request.state,
        )
    raise Stale(state=request.state)


def _may(request: Request, user: User) -> None:
    if request.requester_id == user.pk:
        raise OwnRequest
    roles = roles_to_decide(user=user, request=request)
    step = request.steps[request.step] if request.step < len(request.steps) else "lead"
    if not may_decide(step, roles):
        raise Forbidden(step=step)


def _decide(
    request: Request, user: User, actor: Actor, decision: dict[str, Any], delay_s: int
) -> Request:
    """Carry it out at once, or let it wait for its undo."""
    refuse({"reason": comment_problem(decision["reason"])})
    if delay_s <= 0:
        _carry_out(request, user, actor, decision)
        return request
    pending = decision | {
        "by": user.pk,
        "name": str(user),
        "at": now().isoformat(timespec="seconds"),
        "actor": {"kind": actor.kind, "id": actor.id, "label": actor.label},
    }
    _pend(request, pending, delay_s)
    record(EventKind.REQUEST_CHANGED, request, actor=actor, pending=decision["decision"])
    return request


def _pend(request: Request, pending: dict[str, Any] | None, delay_s: int | None) -> None:
    request.pending_decision = pending
    request.pending_until = None if delay_s is None else now() + timedelta(seconds=delay_s)
    request.save(update_fields=["pending_decision", "pending_until"])


def _carry_out(request: Request, user: User, actor: Actor, decision: Mapping[str, Any]) -> None:
    match decision["decision"]:
        case "approve":
            _approve(request, user, actor, decision)
        case "reject":
            said = _decided(user, decision["reason"])
            request_close(
                request=request,
                then=RequestState.REJECTED,
                actor=actor,
                reason=decision["reason"],
                changes=said,
            )
            tell_requester(request=request, by=user, reason=decision["reason"])
        case _:
            _give_back_to_requester(request, user, actor, decision["reason"])


def _approve(request: Request, user: User, actor: Actor, decision: Mapping[str, Any]) -> None:
    """Pass every step this person may pass; the lease opens after the last."""
    changes = _rows(decision.get("changes") or {})
    if changes:
        request = request_rewrite(request=request, words=changes, actor=actor)
    roles = roles_to_decide(user=user, request=request)
    deputy_of = stands_in_for(user=user, request=request)
    passed = request.step
    while passed < len(request.steps) and may_decide(request.steps[passed], roles):
        passed += 1
    if passed < len(request.steps):
        request.step, request.revision = passed, request.revision + 1
        request.step_since, request.reminded, request.escalated_at = now(), 0, None
        request.save(update_fields=["step", "revision", "step_since", "reminded", "escalated_at"])
        _pend(request, None, None)
        record(EventKind.REQUEST_CHANGED, request, actor=actor, passed=request.steps[:passed])
        tell_deciders(request=request)
        return
    taken = request.entitled
    wish = wish_of(request=request, user=request.requester) if request.alters_id else None
    move(
        request,
        RequestState.APPROVED,
        actor=actor,
        reason=decision["reason"],
        changes=_decided(user, decision["reason"]) | {"step": passed, "entitled": []},
        told={"changed": sorted(changes)}
        | ({"deputy_of": deputy_of.username} if deputy_of else {}),
    )
    lease = lease_granted(request=request, wish=wish, taken=taken, actor=actor)
    reservation_confirm(request=request, lease=lease, actor=actor)
    waiting = request.workloads.filter(state=WorkloadState.AWAITING_APPROVAL)
    workloads_let_in(rows=locked(waiting), lease=lease, actor=actor)
    tell_requester(request=request, by=user, reason=decision["reason"])


def _give_back_to_requester(request: Request, user: User, actor: Actor, text: str) -> None:
    """Ask back: nothing is pending meanwhile, and the work that waits goes on waiting."""
    request_comment(request=request, user=user, text=text, actor=actor)
    entitlement_give_back(project=request.project, taken=request.entitled)
    move(
        request,
        RequestState.RETURNED,
        actor=actor,
        reason=text,
        changes=_decided(user, text) | {"entitled": [], "revision": request.revision + 1},
    )
    tell_requester(request=request, by=user, reason=text)


def _decided(user: User, reason: str) -> dict[str, Any]:
    return {
        "decided_by": user,
        "decided_at": now(),
        "decision_reason": reason,
        "pending_decision": None,
        "pending_until": None,
    }


def _plain(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Changes as JSON, for the time they wait."""
    plain = dict(changes)
    if "partitions" in plain:
        plain["partitions"] = [one.slug for one in plain["partitions"]]
    if plain.get("starts_at") is not None:
        plain["starts_at"] = plain["starts_at"].isoformat()
    return plain


def _rows(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Changes as services take them."""
    changes = dict(plain)
    if "partitions" in changes:
        changes["partitions"] = tuple(Partition.objects.filter(slug__in=changes["partitions"]))
    if changes.get("starts_at") is not None:
        changes["starts_at"] = datetime.fromisoformat(changes["starts_at"])
    return changes

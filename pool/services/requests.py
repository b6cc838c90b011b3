"""Requests: drafted, changed, sent, talked about, withdrawn. Decisions are in decisions.py."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from pool.clock import now
from pool.errors import Forbidden, Invalid, NotYours, Stale
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.leases import LeaseKind
from pool.lifecycle.requests import RequestState
from pool.lifecycle.workloads import WorkloadState
from pool.models.partitions import Partition
from pool.models.requests import Request, RequestComment
from pool.models.templates import TemplateVersion
from pool.models.tenants import Project
from pool.models.users import User
from pool.rules.approval import Asked, policy_from, steps_for
from pool.rules.needs import SIZES, Need, changed, from_mapping, to_mapping
from pool.rules.requests import request_problems
from pool.rules.workloads import comment_problem
from pool.selectors.memberships import standing
from pool.selectors.offers import asked_where
from pool.services.calendar.reservations import reservation_ask, reservation_drop
from pool.services.entitlements import entitlement_give_back, entitlement_take
from pool.services.moves import locked, move
from pool.services.queue import workloads_withdrawn
from pool.services.refusals import refuse, refusing
from pool.services.weights import card_seconds, weights_grown
from pool.services.wishes import (
    Wish,
    need_wished,
    partitions_wished,
    project_open,
    template_usable,
    wish_judged,
    wish_within_limits,
)

PROMISE = timedelta(hours=24)
"""The time within which an answer is promised."""

OPEN = (RequestState.DRAFT, RequestState.RETURNED, RequestState.SUBMITTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """The words of a request, as far as its requester may choose them."""

    need: Mapping[str, Any] = field(default_factory=dict)
    copies: int = 1
    duration_seconds: int = 0
    lease_kind: str = LeaseKind.ON_DEMAND
    starts_at: datetime | None = None
    partitions: tuple[Partition, ...] = ()
    title: str = ""
    purpose: str = ""
    weights: Mapping[str, float] = field(default_factory=dict)


@transaction.atomic
def request_draft(
    *,
    user: User,
    project: Project,
    template_version: TemplateVersion,
    actor: Actor,
    **words: Any,
) -> Request:
    """Keep a request that nobody has to answer yet; words are the fields of Asking.

    Raises:
        Invalid: a field is wrong, or the template is not offered.
        Suspended: the project may ask for nothing new.
    """
    project = project_open(project=project)
    template_usable(template_version=template_version, project=project)
    asking = _asking(template_version, words)
    need = need_wished(template_version=template_version, overrides=asking.need)
    request = Request.objects.create(
        project=project,
        requester=user,
        template_version=template_version,
        need=to_mapping(need),
        example=project.example,
        **_columns(asking),
    )
    request.partitions.set(
        partitions_wished(project=project, wanted=asking.partitions) if asking.partitions else []
    )
    record(EventKind.REQUEST_DRAFTED, request, actor=actor, title=request.title)
    return request


@transaction.atomic
def request_submit(
    *,
    user: User,
    project: Project,
    template_version: TemplateVersion,
    actor: Actor,
    **words: Any,
) -> Request:
    """Draft a request and send it at once; words are the fields of Asking.

    Raises:
        Invalid, Suspended, Impossible, QuotaExceeded: as request_draft and request_send.
    """
    request = request_draft(
        user=user, project=project, template_version=template_version, actor=actor, **words
    )
    return request_send(request=request, user=user, actor=actor)


@transaction.atomic
def request_send(*, request: Request, user: User, actor: Actor) -> Request:
    """Send a draft, or answer what was asked back: from now on it counts as pending.

    Raises:
        Forbidden: it is another person's.
        IllegalMove: it is neither a draft nor asked back.
        Suspended, Impossible, QuotaExceeded: it could not be granted by anybody.
    """
    project_open(project=request.project)
    request = request_locked(request=request)
    _own(request, user)
    wish = wish_of(request=request, user=user)
    request.partitions.set(wish.partitions)
    taken = entitlement_take(project=request.project, wanted=_wanted(wish, request.copies))
    at = now()
    move(
        request,
        RequestState.SUBMITTED,
        actor=actor,
        changes={
            "submitted_at": at,
            "promised_at": at + PROMISE,
            "entitled": taken,
            "steps": list(steps_of(request=request, wish=wish)),
            "step": 0,
            "revision": request.revision + 1,
            "decided_by": None,
            "decided_at": None,
            "decision_reason": "",
        },
        told={"title": request.title},
    )
    reservation_ask(request=request, actor=actor)
    return request


@transaction.atomic
def request_edit(
    *, request: Request, user: User, actor: Actor, revision: int | None = None, **words: Any
) -> Request:
    """Change a request that is not decided: its revision grows, its steps start again.

    Words are fields of Asking; those not given stay. A pending decision on the older reading is
    dropped.

    Raises:
        Forbidden: it is another person's.
        Stale: it is decided, or no longer the revision that was read.
        Invalid, Impossible, QuotaExceeded: the new words could not be granted.
    """
    project_open(project=request.project)
    request = request_locked(request=request)
    _own(request, user)
    if request.state not in OPEN or revision not in (None, request.revision):
        raise Stale
    request.step = 0
    return request_rewrite(request=request, words=words, actor=actor)


def request_rewrite(*, request: Request, words: Mapping[str, Any], actor: Actor) -> Request:
    """Write new words into a locked request and take its entitlement anew; for edits and deciders.

    Raises:
        Invalid, Impossible, QuotaExceeded: the new words could not be granted.
    """
    kept = {name: getattr(request, name) for name in _KEPT} | dict(words)
    with refusing():
        kept["need"] = changed(request.need, words.get("need") or {})
    asking = _asking(request.template_version, kept)
    need = need_wished(template_version=request.template_version, overrides=asking.need)
    places = _places(request, words, asking)
    old = from_mapping(request.need)
    had = set(request.partitions.all())
    before = card_seconds(request=request, need=old, partitions=had)
    request.partitions.set(places)
    values = _columns(asking) | {"need": to_mapping(need), "revision": request.revision + 1}
    values |= {"pending_decision": None, "pending_until": None}
    for name, value in values.items():
        setattr(request, name, value)
    if "weights" not in words:
        after = card_seconds(request=request, need=need, partitions=places)
        request.weights = (
            weights_grown(weights=request.weights, before=before, after=after)
            if _same_price(old, need) and (not had or had >= set(places))
            else {}
        )
    if request.state == RequestState.SUBMITTED:
        entitlement_give_back(project=request.project, taken=request.entitled)
        wish = wish_of(request=request, user=request.requester)
        request.partitions.set(wish.partitions)
        request.entitled = entitlement_take(
            project=request.project, wanted=_wanted(wish, request.copies)
        )
        request.steps = list(steps_of(request=request, wish=wish))
        request.step = min(request.step, len(request.steps) - 1)
    request.save()
    if request.state == RequestState.SUBMITTED:
        reservation_ask(request=request, actor=actor)
    record(EventKind.REQUEST_CHANGED, request, actor=actor, changed=sorted(map(str, words)))
    return request


@transaction.atomic
def request_withdraw(*, request: Request, user: User, actor: Actor) -> Request:
    """Take a request back; doing it twice changes nothing. Work that waited for it is cancelled.

    Raises:
        Forbidden: it is another person's, and the caller does not lead the project.
        IllegalMove: it is decided.
    """
    request = request_locked(request=request)
    if request.requester_id != user.pk and not standing(user=user).leads(request.project):
        raise Forbidden
    if request.state == RequestState.WITHDRAWN:
        return request
    request_close(request=request, then=RequestState.WITHDRAWN, actor=actor, reason="withdrawn")
    return request


@transaction.atomic
def request_comment(*, request: Request, user: User, text: str, actor: Actor) -> RequestComment:
    """A word between requester and approvers.

    Raises:
        Invalid: empty, or longer than 4,000 characters.
    """
    refuse({"text": comment_problem(text)})
    if not text.strip():
        raise Invalid(text=gettext("Write something first."))
    comment = RequestComment.objects.create(request=request, author=user, text=text.strip())
    record(
        EventKind.REQUEST_COMMENTED,
        request,
        actor=actor,
        project=request.project,
        comment=comment.uid,
    )
    return comment


def request_locked(*, request: Request) -> Request:
    """The request as it is now, its row locked.

    Who decided is not joined: after a wait for the lock the join would still show the time before.

    Raises:
        NotYours: it does not exist any more.
    """
    rows = Request.objects.filter(pk=request.pk).select_related(
        "project__organization", "requester", "template_version__template"
    )
    found = locked(rows)
    if not found:
        raise NotYours
    return found[0]


def request_close(
    *,
    request: Request,
    then: RequestState,
    actor: Actor,
    reason: str,
    changes: Mapping[str, Any] | None = None,
) -> None:
    """A locked request ends without a lease: entitlement back, waiting work cancelled."""
    if request.state == RequestState.SUBMITTED:
        entitlement_give_back(project=request.project, taken=request.entitled)
    waiting = request.workloads.filter(state=WorkloadState.AWAITING_APPROVAL)
    workloads_withdrawn(rows=locked(waiting), actor=actor, reason=f"request {then}: {reason}")
    cleared: dict[str, Any] = {"entitled": [], "pending_decision": None, "pending_until": None}
    move(request, then, actor=actor, reason=reason, changes={**cleared, **(changes or {})})
    reservation_drop(request=request, actor=actor, reason=f"request {then}")


def wish_of(*, request: Request, user: User) -> Wish:
    """What the request asks for, judged against the cards and limits of now."""
    template_usable(template_version=request.template_version, project=request.project)
    wish = wish_judged(
        project=request.project,
        template_version=request.template_version,
        overrides=request.need,
        partitions=tuple(request.partitions.all()),
    )
    return wish_within_limits(wish=wish, user=user, copies=request.copies)


def steps_of(*, request: Request, wish: Wish) -> tuple[str, ...]:
    """Whose yes it needs, by its template's policy."""
    with refusing():
        policy = policy_from(request.template_version.approval)
    asked = Asked(
        cards=wish.micro * request.copies / 1_000_000,
        days=request.duration_seconds / 86_400,
        reserved=request.lease_kind == LeaseKind.RESERVED,
        partitions=frozenset(one.slug for one in wish.partitions),
        weights=request.weights,
    )
    return steps_for(policy, asked)


_KEPT = (
    "need",
    "copies",
    "duration_seconds",
    "lease_kind",
    "starts_at",
    "title",
    "purpose",
    "weights",
)


def _same_price(old: Need, need: Need) -> bool:
    """Whether a second of a card can cost no more than before: nothing but its size has changed.

    Otherwise the old weights say nothing of the new need, and unknown ones pass every limit.
    """
    plain = {name: getattr(need, name) for name in (*SIZES, "parts", "proportional")}
    return replace(old, **plain) == need


def _places(request: Request, words: Mapping[str, Any], asking: Asking) -> tuple[Partition, ...]:
    """The partitions of the new words; another kind of card looks at all of them again."""
    if "partitions" in words:
        return partitions_wished(project=request.project, wanted=asking.partitions)
    other_cards = {"vendors", "labels", "models"} & set(words.get("need") or {})
    wanted = () if other_cards else tuple(request.partitions.all())
    return partitions_wished(project=request.project, wanted=wanted)


def _wanted(wish: Wish, copies: int) -> Any:
    return asked_where(
        need=wish.need, copies=copies, options=wish.options, partitions=wish.partitions
    )


def _asking(template_version: TemplateVersion, words: Mapping[str, Any]) -> Asking:
    """The words in their shape, checked one by one."""
    strange = set(words) - set(Asking.__dataclass_fields__)
    if strange:
        raise Invalid(**{name: gettext("This is not a part of a request.") for name in strange})
    given = {name: value for name, value in words.items() if value is not None}
    if not given.get("duration_seconds"):
        given["duration_seconds"] = template_version.default_seconds
    asking = Asking(**given)
    refuse(
        request_problems(
            title=asking.title,
            purpose=asking.purpose,
            copies=asking.copies,
            seconds=asking.duration_seconds,
            most_seconds=template_version.max_seconds,
            lease_kind=asking.lease_kind,
            starts_at=asking.starts_at,
            now=now(),
            weights=asking.weights,
        )
    )
    return asking


def _columns(asking: Asking) -> dict[str, Any]:
    words = {name: getattr(asking, name) for name in _KEPT if name != "need"}
    return words | {"weights": dict(asking.weights), "title": asking.title.strip()}


def _own(request: Request, user: User) -> None:
    if request.requester_id != user.pk:
        raise Forbidden

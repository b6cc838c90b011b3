"""Requests: drafted, changed, sent, talked about, withdrawn. Decisions are in decisions.py."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from pool.clock import now
from pool.errors import Forbidden, Invalid, NotYours, Stale
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.requests import RequestState
from pool.lifecycle.workloads import WorkloadState
from pool.models.leases import Lease
from pool.models.requests import Request, RequestComment
from pool.models.templates import TemplateVersion
from pool.models.tenants import Project
from pool.models.users import User
from pool.rules.needs import changed, from_mapping, to_mapping
from pool.rules.workloads import comment_problem
from pool.selectors.memberships import standing
from pool.services.approvals.altering import as_the_lease, pending_take
from pool.services.approvals.asking import KEPT, asking_of, columns_of, places_of, same_price
from pool.services.approvals.given import (
    asked_anew,
    asked_judged,
    asked_rewritten,
    plain_need,
)
from pool.services.approvals.steps import promised_by, steps_of
from pool.services.approvals.told import tell_deciders, tell_of_comment
from pool.services.calendar.reservations import reservation_ask, reservation_drop
from pool.services.catalogue.judging import given_from
from pool.services.entitlements import entitlement_give_back
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

OPEN = (RequestState.DRAFT, RequestState.RETURNED, RequestState.SUBMITTED)


@transaction.atomic
def request_draft(
    *,
    user: User,
    project: Project,
    template_version: TemplateVersion,
    actor: Actor,
    alters: Lease | None = None,
    alteration: str = "",
    like: Mapping[str, Any] | None = None,
    **words: Any,
) -> Request:
    """Keep a request that nobody has to answer yet; words are the fields of Asking.

    `like` are the columns of what its work uses, where that was judged before.

    Raises:
        Invalid: a field is wrong, or the template is not offered.
        Suspended: the project may ask for nothing new.
    """
    project = project_open(project=project)
    template_usable(template_version=template_version, project=project)
    asking = asking_of(template_version, words)
    if like is None:
        need, given = asked_judged(
            asking=asking, user=user, project=project, version=template_version
        )
        like = {"given": given}
    else:
        need = to_mapping(need_wished(template_version=template_version, overrides=asking.need))
    request = Request.objects.create(
        alters=alters,
        alteration=alteration,
        project=project,
        requester=user,
        template_version=template_version,
        need=need,
        example=project.example,
        **columns_of(asking) | dict(like),
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
    request.need, request.given = asked_anew(request=request)
    wish = wish_of(request=request, user=user)
    request.partitions.set(wish.partitions)
    taken = pending_take(request=request, wish=wish)
    at = now()
    move(
        request,
        RequestState.SUBMITTED,
        actor=actor,
        changes={
            "need": request.need,
            "given": request.given,
            "submitted_at": at,
            "promised_at": promised_by(organization=request.project.organization, at=at),
            "step_since": at,
            "reminded": 0,
            "escalated_at": None,
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
    tell_deciders(request=request)
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
    kept = (
        {"given": given_from(request.given)} | {n: getattr(request, n) for n in KEPT} | dict(words)
    )
    with refusing():
        kept["need"] = changed(plain_need(request), words.get("need") or {})
    asking = asking_of(request.template_version, kept)
    said, given = asked_rewritten(request=request, asking=asking)
    need = from_mapping(said)
    places = places_of(request, words, asking)
    old = from_mapping(request.need)
    had = set(request.partitions.all())
    values = columns_of(asking) | {"need": said, "given": given}
    as_the_lease(request=request, words=values | {"partitions": set(places)})
    before = card_seconds(request=request, need=old, partitions=had)
    request.partitions.set(places)
    values |= {"revision": request.revision + 1, "pending_decision": None, "pending_until": None}
    for name, value in values.items():
        setattr(request, name, value)
    if "weights" not in words:
        after = card_seconds(request=request, need=need, partitions=places)
        request.weights = (
            weights_grown(weights=request.weights, before=before, after=after)
            if same_price(old, need) and (not had or had >= set(places))
            else {}
        )
    if request.state == RequestState.SUBMITTED:
        entitlement_give_back(project=request.project, taken=request.entitled)
        wish = wish_of(request=request, user=request.requester)
        request.partitions.set(wish.partitions)
        request.entitled = pending_take(request=request, wish=wish)
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
    tell_of_comment(request=request, author=user, text=comment.text, comment=comment.uid)
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


def _own(request: Request, user: User) -> None:
    if request.requester_id != user.pk:
        raise Forbidden

"""A person takes found work into the books, or ends it; its processes notice nothing of the first.

What is held is written as for any start, only that the slices are there and the attempt has begun:
the node's next report brings it to running, and its end, log and bill follow the usual road.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import msgspec
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _
from psycopg.types.range import Range

from nodeagent.protocol.desired import WantedSlice
from nodeagent.protocol.report import Origin
from nodeagent.protocol.vocabulary import PLACED_MODES, Mode
from pool.carving.sizes import CardSize, Share, profile_micro, share_micro
from pool.clock import now
from pool.errors import Invalid, Stale
from pool.events import Actor, record
from pool.lifecycle.cards import CardState
from pool.lifecycle.events import EventKind
from pool.lifecycle.found import FoundState
from pool.lifecycle.nodes import NodeState
from pool.lifecycle.roles import QuotaKind
from pool.lifecycle.slices import SliceState
from pool.lifecycle.workloads import WorkloadState
from pool.models.adoption.found import FoundWork
from pool.models.cards import Card
from pool.models.expressions import open_life
from pool.models.nodes import Node
from pool.models.placements import Hold
from pool.models.slices import Slice
from pool.models.templates import TemplateVersion
from pool.models.tenants import Membership, Project
from pool.models.users import User
from pool.models.workloads import Attempt, Workload
from pool.rules.needs import from_mapping, to_mapping
from pool.scheduling.outcome import HostPart, Part, Placed
from pool.selectors.offers import card_facts, geometry_of
from pool.services import levels
from pool.services.alerts import alert_resolve
from pool.services.hardware.cuts import card_isolation, sums_checked
from pool.services.moves import locked, move
from pool.services.placements import (
    Ground,
    asked_of,
    node_wish,
    placement_write,
)
from pool.wake import round_wanted

EXPECTED_S = 86_400
"""How long adopted work is taken to last when the person does not say."""

TOLD_SOON = timedelta(minutes=1)
"""Within this a node that is well has the new wish, and tells as what unknown work was started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """Whose work it shall be, and by which template it is shown."""

    project: Project
    owner: User
    template_version: TemplateVersion
    name: str = ""
    expected_seconds: int = EXPECTED_S


@dataclass(slots=True)
class _Ground:
    """The locked rows on which it runs."""

    node: Node
    cards: dict[str, Card]
    living: dict[str, Slice]
    new: list[Slice] = field(default_factory=list)


def found_adopt(*, found: FoundWork, home: Home, actor: Actor) -> Workload:
    """Take it into the books as a workload of this project; limits count it from now on.

    Raises:
        Invalid: the node does not say as what it runs, it is part of a gang, its workload is in the
            books already, or the owner is no member of the project.
        QuotaExceeded: the project's limit would be passed.
        Stale: it is over, or the books have given its place to something else.
    """
    origin = _origin(found)
    if Workload.objects.filter(uid=found.told_workload).exists():
        raise Invalid(workload=_("The books know this workload already: stop one of the two."))
    if not Membership.objects.filter(project=home.project, user=home.owner).exists():
        raise Invalid(owner=_("The owner is no member of the project."))
    return _taken(found, origin, lambda: _made(found, origin, home), actor)


def found_adopt_known(*, found: FoundWork, workload: Workload, actor: Actor) -> Workload:
    """The same for work that waits in the books: they are older than its start.

    Raises:
        Invalid, QuotaExceeded, Stale: as above; nothing was changed.
    """
    return _taken(found, _origin(found), lambda: workload, actor)


@transaction.atomic
def found_stop(*, found: FoundWork, actor: Actor, reason: str = "") -> FoundWork:
    """End it: its node is told with its next wish. Safe to repeat.

    Raises:
        IllegalMove: it was adopted or is over.
    """
    (row,) = locked(FoundWork.objects.filter(pk=found.pk).select_related("node"))
    if row.state != FoundState.STOPPING:
        words = {"attempt": row.attempt, "node": row.node.uid}
        move(row, FoundState.STOPPING, actor=actor, reason=reason, told=words)
    node_wish(node_id=row.node_id, uid=row.node.uid)
    return row


def _origin(found: FoundWork) -> Origin:
    if found.origin is None and now() - found.found_at < TOLD_SOON:
        raise Invalid(found=_("Its node tells in a moment as what it was started: try again."))
    if found.origin is None:
        text = _("Its node does not know any more as what it was started: stop it or let it end.")
        raise Invalid(found=text)
    origin = msgspec.convert(found.origin, Origin)
    if origin.size > 1:
        raise Invalid(found=_("It is a part of work on several nodes: stop it or let it end."))
    if Attempt.objects.filter(uid=found.attempt).exists():
        raise Invalid(found=_("The books know this run already."))
    return origin


def _taken(found: FoundWork, origin: Origin, workload: Any, actor: Actor) -> Workload:
    try:
        with transaction.atomic():
            return _take(found, origin, workload(), actor)
    except IntegrityError as refused:
        diag = getattr(refused.__cause__, "diag", None)
        raise Stale(constraint=getattr(diag, "constraint_name", "") or "") from refused


def _take(found: FoundWork, origin: Origin, workload: Workload, actor: Actor) -> Workload:
    """Quota rows, workload, cards, slices, node: locked in the one order, then written."""
    partition = (
        Card.objects.filter(uuid__in=[one.card for one in origin.slices])
        .values_list("partition_id", flat=True)
        .first()
    )
    rows = levels.level_rows(
        organization_id=workload.project.organization_id,
        project_id=workload.project_id,
        owner_id=workload.owner_id,
        partition_id=partition or 0,
        kinds=[QuotaKind.LIMIT],
    )
    (work,) = locked(
        Workload.objects.filter(pk=workload.pk).select_related(
            "project", "template_version", "lease", "owner"
        )
    )
    if work.state != WorkloadState.QUEUED:
        raise Stale(workload=work.uid, state=work.state)
    ground = _ground(found, origin)
    slices = [_slice(ground, one) for one in origin.slices]
    sums_checked(list(ground.cards.values()), [*ground.living.values(), *ground.new])
    Slice.objects.bulk_create(ground.new)
    placed = _placed(work, origin, ground.node, slices, partition or 0)
    taken = levels.level_take(rows=rows, asked=asked_of(placed))
    placement_write(
        ground=Ground(
            work,
            {card.pk: card for card in ground.cards.values()},
            {},
            {ground.node.pk: ground.node},
        ),
        placed=placed,
        slices=slices,
        taken=taken,
        actor=actor,
        attempt_uid=found.attempt,
    )
    _settle(found, work, actor)
    return work


def _ground(found: FoundWork, origin: Origin) -> _Ground:
    """Raises Stale: the node is not there, or a card is another node's."""
    cards = {
        row.uuid: row
        for row in locked(Card.objects.filter(uuid__in={one.card for one in origin.slices}))
    }
    living = {
        row.uid: row
        for row in locked(Slice.objects.filter(card__in=cards.values(), lived__upper_inf=True))
    }
    (node,) = locked(Node.objects.filter(pk=found.node_id))
    if node.state not in (NodeState.READY, NodeState.CORDONED, NodeState.DRAINING):
        raise Stale(node=node.uid, state=node.state)
    for one in origin.slices:
        card = cards.get(one.card)
        if card is None or card.node_id != node.pk or card.state == CardState.LOST:
            raise Stale(card=one.card)
    return _Ground(node, cards, living)


def _slice(ground: _Ground, wanted: WantedSlice) -> Slice:
    """The books' row of a slice on which it runs: one that they kept, or a new one that is there.

    Raises:
        Stale: somebody else holds it.
    """
    kept = ground.living.get(wanted.uid)
    if kept is not None:
        held = Hold.objects.filter(slice=kept, held__upper_inf=True).exists()
        if held or kept.state not in (SliceState.PLANNED, SliceState.CREATING, SliceState.READY):
            raise Stale(slice=kept.uid, state=kept.state)
        return kept
    card = ground.cards[wanted.card]
    mode = Mode(wanted.mode)
    low = wanted.start or 0
    row = Slice(
        uid=wanted.uid,
        card=card,
        mode=mode,
        isolation=card_isolation(card, mode),
        profile=wanted.profile,
        span=Range(low, low + (wanted.size or 0)) if mode in PLACED_MODES else None,
        lived=open_life(card.pk),
        memory_mib=wanted.memory_mib,
        compute_milli=wanted.compute_milli,
        equivalents_micro=_micro(card, wanted),
        state=SliceState.READY,
        adopted=True,
        wished_in=ground.node.generation + 1,
    )
    ground.new.append(row)
    return row


def _micro(card: Card, wanted: WantedSlice) -> int:
    """Its card equivalents, in millionths, as they would have been planned."""
    geometry = geometry_of(card_facts(card), Mode(wanted.mode))
    profiles = geometry.profiles if geometry is not None else ()
    named = next((one for one in profiles if one.name == wanted.profile), None)
    if geometry is not None and named is not None:
        return profile_micro(geometry, named)
    size = CardSize(nominal_gb=card.nominal_gb, memory_mib=card.memory_mib)
    return share_micro(size, Share(wanted.memory_mib, wanted.compute_milli))


def _placed(
    work: Workload, origin: Origin, node: Node, slices: list[Slice], partition: int
) -> Placed:
    parts = tuple(
        Part(card=one.card_id, card_micro=one.equivalents_micro, slice=one.pk) for one in slices
    )
    host = HostPart(
        node=node.pk,
        cpu_milli=origin.cpu_milli,
        memory_mib=origin.memory_mib,
        disk_mib=origin.disk_mib,
    )
    return Placed(workload=work.pk, partition=partition, parts=parts, hosts=(host,))


def _made(found: FoundWork, origin: Origin, home: Home) -> Workload:
    """A row for work that the books never had; its uid is the one that its processes know."""
    version = home.template_version
    name = home.name.strip()[:63] or f"found-{found.attempt[-12:]}"
    words = {"uid": found.told_workload} if found.told_workload.startswith("wl-") else {}
    return Workload.objects.create(
        project=home.project,
        owner=home.owner,
        name=name,
        name_folded=name.casefold()[:80],
        kind=origin.kind,
        template_version=version,
        need=_need(origin),
        command=list(origin.command),
        runner=origin.runner,
        image=origin.image,
        cpu_milli=origin.cpu_milli,
        ram_mib=origin.memory_mib,
        disk_mib=origin.disk_mib,
        expected_seconds=home.expected_seconds,
        grace_seconds=origin.grace_s,
        priority=version.priority,
        preemptible=version.preemptible,
        attempts_made=max(origin.number - 1, 0),
        queued_at=now(),
        example=home.project.example,
        **words,
    )


def _need(origin: Origin) -> dict[str, Any]:
    """What it has, as a need: should it go back to the queue, as much is asked again."""
    if not origin.slices:
        return {"parts": 0}
    one = origin.slices[0]
    said: dict[str, Any] = {"parts": len(origin.slices), "modes": [str(one.mode)]}
    if one.mode is Mode.WHOLE:
        said["whole"] = True
    elif one.mode in PLACED_MODES:
        said["profile"] = one.profile
    else:
        said |= {"memory_mib": one.memory_mib, "compute_milli": one.compute_milli}
    return to_mapping(from_mapping(said))


def _settle(found: FoundWork, work: Workload, actor: Actor) -> None:
    """The found row ends in the workload; what was found is no alert any more."""
    (row,) = locked(FoundWork.objects.filter(pk=found.pk).select_related("node"))
    words = {"workload": work.uid, "attempt": row.attempt, "node": row.node.uid}
    move(row, FoundState.ADOPTED, actor=actor, changes={"workload": work}, told=words)
    record(EventKind.WORKLOAD_SUBMITTED, work, actor=actor, name=work.name, adopted=row.uid)
    alert_resolve(key=f"found:{row.node.uid}:{row.attempt}", actor=actor, reason="adopted")
    round_wanted()

"""Licence seats: set, removed, and counted under their locks when something starts."""

from typing import Any

from django.db import transaction
from django.db.models import Count, Q
from django.utils.translation import gettext

from nodeagent.protocol.vocabulary import Mode
from pool.errors import Invalid, Stale
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models.partitions import Partition
from pool.models.placements import Hold
from pool.models.seats import Seats
from pool.models.tenants import Organization
from pool.models.workloads import Workload
from pool.rules.tenants import title_problem
from pool.services.moves import locked
from pool.services.refusals import refuse
from pool.wake import round_wanted

MOST = 1_000_000


@transaction.atomic
def seats_set(
    *,
    name: str,
    mode: str,
    total: int,
    actor: Actor,
    organization: Organization | None = None,
    partition: Partition | None = None,
) -> Seats:
    """So many holders of the mode at a time, there; the same again changes nothing.

    Fewer seats stop nothing that runs: nothing new starts until enough are given back.

    Raises:
        Invalid: an unknown mode, or a number out of range.
    """
    wrong: dict[str, str] = {}
    if mode not in set(Mode):
        wrong["mode"] = gettext("Choose from: %(known)s.") % {"known": ", ".join(Mode)}
    if not isinstance(total, int) or isinstance(total, bool) or not 0 <= total <= MOST:
        said = gettext("A whole number from %(least)s to %(most)s is needed.")
        wrong["total"] = said % {"least": 0, "most": MOST}
    if wrong:
        raise Invalid(**wrong)
    refuse({"name": title_problem(name)})
    row, made = Seats.objects.get_or_create(
        mode=mode,
        organization=organization,
        partition=partition,
        defaults={"name": name, "total": total},
    )
    row = locked(Seats.objects.filter(pk=row.pk))[0]
    before = None if made else row.total
    if not made and (row.name, row.total) == (name, total):
        return row
    row.name, row.total = name, total
    row.save()
    record(
        EventKind.SEATS_CHANGED,
        row,
        actor=actor,
        mode=mode,
        before=before,
        after=total,
        organization=organization.uid if organization else "",
        partition=partition.uid if partition else "",
    )
    round_wanted()
    return row


@transaction.atomic
def seats_remove(*, seats: Seats, actor: Actor) -> None:
    """The licence binds nobody any more; what runs goes on."""
    for row in locked(Seats.objects.filter(pk=seats.pk)):
        record(
            EventKind.SEATS_CHANGED, row, actor=actor, mode=row.mode, before=row.total, after=None
        )
        row.delete()
        round_wanted()


def seats_check(*, workload: Workload, partition_id: int, modes: list[str]) -> None:
    """Pass when every licence that binds the start has the seats left; its rows stay locked.

    Raises:
        Stale: one has not; the next round tells why.
    """
    mine = Q(organization=None) | Q(organization=workload.project.organization_id)
    here = Q(partition=None) | Q(partition=partition_id)
    for row in locked(Seats.objects.filter(mine, here, mode__in=set(modes))):
        wanted = modes.count(row.mode)
        if seats_used(row) + wanted > row.total:
            raise Stale(seats=row.uid, why="no licence seat is left")


def seats_used(row: Seats) -> int:
    """How many open holds of its mode there are where it counts."""
    holds = Hold.objects.filter(mode=row.mode, held__upper_inf=True).exclude(slice=None)
    where: dict[str, Any] = {}
    if row.organization_id is not None:
        where["placement__attempt__workload__project__organization"] = row.organization_id
    if row.partition_id is not None:
        where["placement__partition"] = row.partition_id
    return int(holds.filter(**where).aggregate(n=Count("pk"))["n"])

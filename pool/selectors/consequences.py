"""What a yes would change: quota rows and free cards before and after, and who must still agree."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Q, Sum

from pool.lifecycle.cards import CardState
from pool.lifecycle.requests import RequestState
from pool.lifecycle.roles import QuotaKind, QuotaUnit
from pool.models.cards import Card
from pool.models.partitions import Partition
from pool.models.placements import Hold
from pool.models.quotas import Quota
from pool.models.requests import Request
from pool.models.templates import TemplateVersion
from pool.models.tenants import Project
from pool.rules.approval import may_decide
from pool.rules.needs import Need, from_mapping
from pool.rules.quotas import over_by
from pool.selectors.memberships import Standing
from pool.selectors.offers import Asked, asked_where, options_for

CARD = 1_000_000


@dataclass(frozen=True, slots=True)
class Change:
    """One quota row before and after, in its unit; `of` is limit or entitlement, `row` its key."""

    tenant: str
    of: str
    partition: Partition
    card_model: str
    unit: str
    limit: int
    before: int
    after: int
    row: int = 0

    @property
    def over(self) -> int:
        """By how much the limit would be passed; then work waits, or the yes is refused."""
        return over_by(self.limit, self.after)


@dataclass(frozen=True, slots=True)
class Cards:
    """Cards of one kind in one partition, in millionths: all, free now, free when this runs."""

    partition: Partition
    label: str
    total: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Say:
    """One step: whose yes, whether it is said, and whether the reader may say it now."""

    role: str
    done: bool
    mine: bool


@dataclass(frozen=True, slots=True)
class Consequences:
    """Everything a decider sees beside the request; `own` when it is the reader's own."""

    quotas: tuple[Change, ...]
    cards: tuple[Cards, ...]
    steps: tuple[Say, ...]
    own: bool = False


def consequences_of(*, request: Request, standing: Standing) -> Consequences:
    """What approving the request would change; eight queries, whatever the number of cards."""
    need = from_mapping(request.need)
    partitions = list(request.partitions.all())
    pending = request.state == RequestState.SUBMITTED
    mine = {one["quota"]: int(one["amount"]) for one in request.entitled} if pending else {}
    quotas, cards = changes_for(
        project=request.project,
        need=need,
        copies=request.copies,
        partitions=partitions,
        version=request.template_version,
        counted=mine,
    )
    own = request.requester_id == standing.user
    roles = standing.roles_in(request.project)
    steps = tuple(
        Say(
            role=role,
            done=not pending or number < request.step,
            mine=pending and number == request.step and not own and may_decide(role, roles),
        )
        for number, role in enumerate(request.steps)
    )
    return Consequences(quotas, cards, steps, own)


def changes_for(
    *,
    project: Project,
    need: Need,
    copies: int,
    partitions: Iterable[Partition],
    version: TemplateVersion,
    counted: dict[int, int] | None = None,
) -> tuple[tuple[Change, ...], tuple[Cards, ...]]:
    """Quota rows and cards before and after, where the need would be counted.

    `counted` is what the rows hold for it already, by their keys, and is left out of *before*.
    """
    options = options_for(
        need=need,
        partitions=partitions,
        trust=project.trust_group_id,
        version=version,
        unlimited_modes=version.unlimited_modes,
    )
    wanted = asked_where(need=need, copies=copies, options=options, partitions=partitions)
    if not wanted:
        return (), ()
    partition, asked = _where(wanted, counted or {})
    rows = Quota.objects.filter(
        Q(organization=project.organization_id) | Q(project=project, user=None),
        partition=partition,
        kind__in=[QuotaKind.LIMIT, QuotaKind.ENTITLEMENT],
    ).select_related("organization", "project")
    changes = tuple(
        _change(row, partition, asked, (counted or {}).get(row.pk, 0))
        for row in rows.order_by("organization", "project", "kind", "pk")
        if asked.get((row.card_model, row.unit))
    )
    return changes, _cards(partition, asked)


def _where(
    wanted: list[tuple[Partition, Asked]], counted: dict[int, int]
) -> tuple[Partition, Asked]:
    """The partition that counts it already, else the first."""
    there = set(Quota.objects.filter(pk__in=counted).values_list("partition_id", flat=True))
    return next((one for one in wanted if one[0].pk in there), wanted[0])


def _change(row: Quota, partition: Partition, asked: Asked, counted: int) -> Change:
    before = row.held - counted
    return Change(
        tenant=str(row.organization or row.project),
        of=row.kind,
        partition=partition,
        card_model=row.card_model,
        unit=row.unit,
        limit=row.limit_value,
        before=before,
        after=before + asked[row.card_model, row.unit],
        row=row.pk,
    )


def _cards(partition: Partition, asked: Asked) -> tuple[Cards, ...]:
    found = []
    for (label, unit), amount in asked.items():
        if not label or unit != QuotaUnit.CARDS_MICRO:
            continue
        cards = Card.objects.filter(partition=partition, label=label)
        total = cards.exclude(state=CardState.RETIRED).aggregate(n=Count("pk"))["n"] * CARD
        holds = Hold.objects.filter(card__in=cards, held__upper_inf=True)
        free = total - int(holds.aggregate(sum=Sum("equivalents_micro"))["sum"] or 0)
        found.append(Cards(partition, label, total, free, max(0, free - amount)))
    return tuple(found)

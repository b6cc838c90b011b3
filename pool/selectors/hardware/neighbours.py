"""How far a fault on a shared card reaches, and how often one has."""

from datetime import timedelta

from django.db.models import QuerySet

from nodeagent.protocol.vocabulary import UNISOLATED
from pool.clock import now
from pool.lifecycle.events import EventKind
from pool.models.cards import Card
from pool.models.events import Event
from pool.models.placements import Hold
from pool.models.workloads import Workload

SHOWN = timedelta(days=7)


def times_struck(*, card: Card) -> int:
    """How many attempts on the card ended together with neighbours within the last week."""
    told = Event.objects.filter(kind=EventKind.CARD_STRUCK, subject=f"card:{card.uid}")
    return told.filter(at__gt=now() - SHOWN).count()


def in_reach(*, card: Card) -> int:
    """How many workloads one fault on the card can end; 0 when hardware keeps all apart."""
    return _sharing([card.pk]).count()


def neighbours_of(*, workload: Workload) -> int:
    """How many other workloads can end this one by a fault of theirs, on the cards it holds now."""
    mine = Hold.objects.filter(
        placement__attempt__workload=workload, held__upper_inf=True, isolation__in=UNISOLATED
    )
    cards = list(mine.exclude(card=None).values_list("card", flat=True))
    return _sharing(cards).exclude(pk=workload.pk).count() if cards else 0


def _sharing(cards: list[int]) -> QuerySet[Workload]:
    open_holds = Hold.objects.filter(
        card__in=cards, slice__isnull=False, held__upper_inf=True, isolation__in=UNISOLATED
    )
    return Workload.objects.filter(pk__in=open_holds.values("placement__attempt__workload"))

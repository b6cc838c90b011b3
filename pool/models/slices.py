"""What can be held of a card: the whole, or a part."""

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import (
    DateTimeRangeField,
    IntegerRangeField,
    RangeOperators,
)
from django.db import models
from django.db.models import Q

from nodeagent.protocol.vocabulary import Isolation, Mode
from pool.lifecycle.slices import SLICE, SliceState
from pool.models.cards import Card
from pool.models.ids import UidField


class Slice(models.Model):
    """A part of a card while `lived`; `span` is its place on the card's axis, None for soft modes.

    Memory in usable MiB, compute in thousandths of the card, `equivalents_micro` in millionths.
    `encoder_units` and `decoder_units` are what a soft share takes of the card's video engines:
    whole cards and MIG slices bring their own.
    `wished_in` is the node's generation that first wanted it made, or later wanted it gone: a
    report of an older one says nothing about it.
    """

    uid = UidField(prefix="sl")
    card = models.ForeignKey(Card, on_delete=models.PROTECT, related_name="slices")
    mode = models.CharField(max_length=16)
    isolation = models.CharField(max_length=12)
    profile = models.CharField(max_length=40)
    span = IntegerRangeField(null=True, blank=True)
    lived = DateTimeRangeField()
    memory_mib = models.PositiveIntegerField()
    compute_milli = models.PositiveIntegerField()
    equivalents_micro = models.PositiveIntegerField()
    encoder_units = models.PositiveSmallIntegerField(default=0, db_default=0)
    decoder_units = models.PositiveSmallIntegerField(default=0, db_default=0)
    state = models.CharField(max_length=12, default=SLICE.first)
    state_since = models.DateTimeField(auto_now_add=True)
    state_reason = models.CharField(max_length=200, blank=True)
    deadline = models.DateTimeField(null=True, blank=True)
    device = models.CharField(max_length=120, blank=True)
    adopted = models.BooleanField(default=False)
    wished_in = models.BigIntegerField(default=0)

    class Meta:
        ordering = ["card", "pk"]
        constraints = [
            ExclusionConstraint(
                name="slice_no_overlap_on_card",
                expressions=[
                    ("card", RangeOperators.EQUAL),
                    ("span", RangeOperators.OVERLAPS),
                    ("lived", RangeOperators.OVERLAPS),
                ],
            ),
            ExclusionConstraint(
                name="slice_one_mode_per_card",
                expressions=[
                    ("card", RangeOperators.EQUAL),
                    ("mode", RangeOperators.NOT_EQUAL),
                    ("lived", RangeOperators.OVERLAPS),
                ],
            ),
            models.CheckConstraint(
                name="slice_place_by_mode",
                condition=Q(span__isnull=False, mode__in=["whole", "mig"])
                | Q(span=None) & ~Q(mode__in=["whole", "mig"]),
            ),
            models.CheckConstraint(
                name="slice_state_known", condition=Q(state__in=sorted(SliceState))
            ),
            models.CheckConstraint(name="slice_mode_known", condition=Q(mode__in=sorted(Mode))),
            models.CheckConstraint(
                name="slice_isolation_known", condition=Q(isolation__in=sorted(Isolation))
            ),
            models.CheckConstraint(
                name="slice_life_ends_when_gone",
                condition=Q(state="gone", lived__upper_inf=False)
                | ~Q(state="gone") & Q(lived__upper_inf=True),
            ),
            models.CheckConstraint(
                name="slice_within_a_card",
                condition=Q(
                    memory_mib__gt=0, compute_milli__lte=1000, equivalents_micro__lte=1_000_000
                ),
            ),
            models.CheckConstraint(
                name="slice_engines_of_soft_shares",
                condition=Q(encoder_units=0, decoder_units=0) | ~Q(mode__in=["whole", "mig"]),
            ),
        ]
        indexes = [
            models.Index(fields=["card"], name="slice_living", condition=Q(lived__upper_inf=True)),
        ]

    def __str__(self) -> str:
        return f"{self.card_id}/{self.profile}"

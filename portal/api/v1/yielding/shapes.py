"""What clients may say of orders to leave and of critical budgets, and what they get to see."""

from typing import Any

from rest_framework import serializers

from pool.lifecycle.yielding import YieldKind, YieldOutcome
from pool.models import YieldOrder
from pool.services.yielding.asked import MOST_REASON
from portal.api.door import UID
from portal.api.fields import Given

MOST_SECONDS = 366 * 86_400


class PreemptIn(Given):
    """Why this running work must leave now; who waits for its room, if somebody does."""

    reason = serializers.CharField(max_length=MOST_REASON)
    winner = serializers.RegexField(
        f"^{UID}$",
        required=False,
        allow_null=True,
        default=None,
        help_text="Waiting work for which the room is kept.",
    )


class DeclareIn(Given):
    """How long the work says it takes, from its start, in seconds."""

    expected_seconds = serializers.IntegerField(min_value=1, max_value=MOST_SECONDS)


class OrderOut(serializers.ModelSerializer[YieldOrder]):
    """One order to leave, with the times of its four steps; null what has not happened.

    Who gets the room is nobody's business; `kind` says for what. `restarted_at` is when the work
    ran again. `survived` is true once it was told, left and ran again, false when it did not.
    """

    kind = serializers.ChoiceField(choices=[one.value for one in YieldKind])
    outcome = serializers.ChoiceField(choices=["", *(one.value for one in YieldOutcome)])
    attempt = serializers.IntegerField(source="attempt.number")
    lost_card_seconds = serializers.FloatField(source="lost_card_s")
    restarted_at = serializers.DateTimeField(allow_null=True)
    survived = serializers.SerializerMethodField()

    class Meta:
        model = YieldOrder
        fields = [
            "uid",
            "attempt",
            "kind",
            "reason",
            "ordered_at",
            "deadline",
            "noticed_at",
            "ack_at",
            "checkpoint_at",
            "checkpoint_step",
            "checkpoint_path",
            "released_at",
            "outcome",
            "restarted_at",
            "lost_card_seconds",
            "survived",
        ]

    def get_survived(self, row: Any) -> bool | None:
        """None while it is not known yet."""
        return survived(row)


def survived(row: Any) -> bool | None:
    """Whether the work came through its order: it left, went back to the queue, and ran again."""
    if row.outcome == YieldOutcome.RELEASED:
        return True if row.restarted_at is not None else None
    return None if row.settled_at is None else row.outcome == YieldOutcome.FINISHED


class GrantIn(Given):
    """A month, named by its first day, and how many card-hours of critical work it may have."""

    month = serializers.DateField()
    card_hours = serializers.IntegerField(min_value=0, max_value=10_000_000)


class GrantOut(serializers.Serializer[Any]):
    """One month of critical work, in card-seconds. `promised` is what runs or waits now."""

    month = serializers.DateField()
    granted_card_seconds = serializers.IntegerField()
    used_card_seconds = serializers.FloatField()
    promised_card_seconds = serializers.FloatField()

"""What clients may say of a workload, and what they get to see."""

from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from nodeagent.protocol.vocabulary import Silence, WorkloadKind
from pool.cycle.waiting import UNITS
from pool.lifecycle.roles import Priority, RankDeath
from pool.lifecycle.workloads import WorkloadState
from pool.models import Workload
from pool.scheduling.suggest import Change
from pool.selectors.workloads import GROUPS
from portal.api.door import UID
from portal.api.fields import Filters, FreeJSON, Given, PlainMap
from portal.api.v1.attempts import AttemptOut
from portal.api.v1.catalogue.shapes import GivenIn, MountOut, TellOut
from portal.api.v1.series_shapes import AfterIn, AfterOut, ArrayIn, ArrayOut, array_said
from portal.api.v1.yielding.shapes import OrderOut

MOST_SECONDS = 366 * 86_400
MOST_FILES_BYTES = 1024 * 1024


@extend_schema_serializer(
    examples=[
        OpenApiExample(
            "The smallest job",
            value={
                "kind": "job",
                "project": "vision",
                "template": "finetune-20g-30",
                "command": ["python", "train.py"],
                "expected_seconds": 3600,
            },
            request_only=True,
        )
    ]
)
class WorkloadIn(GivenIn):
    """Work to run. Times in seconds. What `need` leaves out comes from the template.

    Under a `lease`, where none of storage, secrets, environment and image is named, it gets what
    the lease's request named, without the personal secrets of anybody else.
    """

    kind = serializers.ChoiceField(
        choices=[k.value for k in WorkloadKind],
        default=None,
        allow_null=True,
        help_text="If given, the template must be of this kind.",
    )
    project = serializers.SlugField(max_length=63)
    template = serializers.SlugField(
        max_length=63, default="", allow_blank=True, help_text="Left out: `notebook` for notebooks."
    )
    name = serializers.CharField(max_length=63, default="", allow_blank=True)
    command = serializers.ListField(
        child=serializers.CharField(max_length=32 * 1024, allow_blank=True, trim_whitespace=False),
        max_length=1024,
        default=list,
        help_text="What a job runs; a notebook needs none.",
    )
    env = PlainMap(most=256, default=dict)
    files = PlainMap(most=256, default=dict, help_text="Texts put beside the command, by name.")
    expected_seconds = serializers.IntegerField(
        min_value=1, max_value=MOST_SECONDS, required=False, allow_null=True, default=None
    )
    need = FreeJSON(
        default=dict,
        help_text="What differs from the template, in the words of a need; "
        "`encoder_units` and `decoder_units` are video engines for each part.",
    )
    partitions = serializers.ListField(
        child=serializers.SlugField(max_length=63), max_length=20, default=list
    )
    lease = serializers.RegexField(f"^{UID}$", required=False, allow_null=True, default=None)
    priority = serializers.ChoiceField(
        choices=[p.value for p in Priority], default="", allow_blank=True
    )
    silence = serializers.ChoiceField(
        choices=[s.value for s in Silence], default=Silence.KEEP.value
    )
    runs = serializers.IntegerField(
        min_value=0, max_value=100, default=0, help_text="How often it is run again if it fails."
    )
    on_rank_death = serializers.ChoiceField(
        choices=[one.value for one in RankDeath],
        default=RankDeath.FAIL.value,
        help_text="Work on several nodes: what the death of one of its ranks means for the whole.",
    )
    rendezvous_seconds = serializers.IntegerField(
        min_value=1,
        max_value=86_400,
        default=600,
        help_text="Work on several nodes: how long its ranks may wait for each other.",
    )
    image = serializers.CharField(
        max_length=255,
        default="",
        allow_blank=True,
        help_text="It runs in a container of this image; without one, as a process of the node.",
    )
    when_full = serializers.ChoiceField(
        choices=["wait", "ask"],
        default="",
        allow_blank=True,
        help_text="If it fits the allowance but not beside what lives in it now.",
    )
    comment = serializers.CharField(max_length=4000, default="", allow_blank=True)
    array = ArrayIn(required=False, allow_null=True, default=None)
    after = AfterIn(many=True, required=False, default=list)


class WorkloadRow(serializers.ModelSerializer[Workload]):
    """A workload as lists show it."""

    project = serializers.CharField(source="project.slug")
    organization = serializers.CharField(source="project.organization.slug")
    owner = serializers.CharField(source="owner.username")
    template = serializers.CharField(source="template_version.template.slug")
    template_version = serializers.IntegerField(source="template_version.number")
    request = serializers.SlugRelatedField[Any](slug_field="uid", read_only=True)
    lease = serializers.SlugRelatedField[Any](slug_field="uid", read_only=True)
    environment = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    need = serializers.DictField()
    piece_of = serializers.SlugRelatedField[Any](slug_field="uid", read_only=True, source="parent")
    array = serializers.SerializerMethodField()

    class Meta:
        model = Workload
        fields = [
            "uid",
            "name",
            "piece_of",
            "array_index",
            "array",
            "kind",
            "project",
            "organization",
            "owner",
            "template",
            "template_version",
            "environment",
            "state",
            "state_since",
            "entitlement",
            "request",
            "lease",
            "need",
            "expected_seconds",
            "priority",
            "preemptible",
            "attempts_made",
            "exit_code",
            "exit_reason",
            "message",
            "stop_reason",
            "submitted_at",
            "queued_at",
            "started_at",
            "ended_at",
            "hold_reason",
            "hold_by",
            "example",
        ]

    @extend_schema_field(ArrayOut(allow_null=True))
    def get_array(self, row: Workload) -> dict[str, Any] | None:
        """How many pieces stand where; null for work that is no array."""
        return array_said(row)


class CostOut(serializers.Serializer[Any]):
    """What was run up so far, in 10⁻⁶ of the currency; null while no price is known."""

    currency = serializers.CharField()
    amount_micro = serializers.IntegerField(allow_null=True)
    complete = serializers.BooleanField()
    card_seconds = serializers.FloatField()
    running = serializers.BooleanField()
    per_hour_micro = serializers.IntegerField(allow_null=True)


class WorkloadOut(WorkloadRow):
    """One workload, with what it runs, its runs, and its cost so far."""

    command = serializers.ListField(child=serializers.CharField())
    env = serializers.DictField(child=serializers.CharField())
    files = serializers.DictField(child=serializers.CharField())
    storage = MountOut(many=True, source="given_storage")
    secrets = TellOut(many=True, source="given_secrets")
    warnings = serializers.ListField(child=serializers.CharField())
    waits = serializers.DictField(allow_null=True)
    after = AfterOut(many=True, source="waited_for")
    attempts = AttemptOut(many=True, source="runs")
    cost = CostOut()
    orders = OrderOut(many=True, source="told")
    loss_card_seconds = serializers.FloatField(
        allow_null=True, help_text="Card-seconds that leaving now would throw away."
    )
    room_until = serializers.DateTimeField(
        allow_null=True, help_text="Until when room is kept for it while others leave."
    )

    class Meta(WorkloadRow.Meta):
        fields = [
            *WorkloadRow.Meta.fields,
            "comment",
            "command",
            "env",
            "files",
            "storage",
            "secrets",
            "warnings",
            "silence",
            "runner",
            "image",
            "grace_seconds",
            "runs_asked",
            "runs_left",
            "starts_left",
            "on_rank_death",
            "rendezvous_seconds",
            "waits",
            "after",
            "attempts",
            "cost",
            "orders",
            "loss_card_seconds",
            "room_until",
        ]


class ChangeOut(serializers.Serializer[Any]):
    """One change that would start it now; the new number, null where the change has none."""

    change = serializers.ChoiceField(choices=[one.value for one in Change])
    amount = serializers.IntegerField(allow_null=True)
    unit = serializers.ChoiceField(choices=sorted(set(UNITS.values())), allow_null=True)


class ChangeIn(Given):
    """One change that `explain` offered, with its number where it has one."""

    change = serializers.ChoiceField(choices=[one.value for one in Change])
    amount = serializers.IntegerField(
        min_value=1, max_value=2**31 - 1, required=False, allow_null=True, default=None
    )


class RankIn(Given):
    """Another priority class for work that waits; critical is granted with a budget."""

    priority = serializers.ChoiceField(
        choices=[one.value for one in Priority if one is not Priority.CRITICAL]
    )
    reason = serializers.CharField(max_length=200)


class HeavyOut(serializers.Serializer[Any]):
    """The measured runs that make work count as heavy on memory bandwidth.

    Heavy ones do not share a card's memory with each other. `own` says whether they are runs of
    the same person; otherwise everybody's of the same template.
    """

    runs = serializers.IntegerField()
    heavy_runs = serializers.IntegerField()
    percent = serializers.FloatField(help_text="Median memory activity of those runs.")
    own = serializers.BooleanField()


class ExplanationOut(serializers.ModelSerializer[Workload]):
    """Why it waits; null when it does not, or would start in the next round.

    Each of the `changes` was tried on the pool as it is now, and would start it at once without
    costing anybody else a start.
    """

    waits = serializers.DictField(allow_null=True)
    changes = ChangeOut(many=True)
    bandwidth = HeavyOut(allow_null=True)

    class Meta:
        model = Workload
        fields = ["uid", "state", "waits", "changes", "bandwidth"]


class WorkloadFilters(Filters):
    """Filters of the list. Pieces of arrays stand in it only where `piece_of` or `pieces` asks."""

    piece_of = serializers.RegexField(f"^{UID}$", required=False)
    pieces = serializers.BooleanField(required=False, help_text="Pieces instead of their arrays.")

    state = serializers.ChoiceField(choices=[s.value for s in WorkloadState], required=False)
    group = serializers.ChoiceField(choices=sorted(GROUPS), required=False)
    kind = serializers.ChoiceField(choices=[k.value for k in WorkloadKind], required=False)
    project = serializers.SlugField(max_length=63, required=False)
    owner = serializers.CharField(max_length=150, required=False)
    template = serializers.SlugField(max_length=63, required=False)
    lease = serializers.RegexField(f"^{UID}$", required=False)
    request = serializers.RegexField(f"^{UID}$", required=False)
    name = serializers.CharField(max_length=63, required=False)

"""One run of a workload."""

from typing import Any

from rest_framework import serializers

from pool.models import Attempt


class AttemptOut(serializers.ModelSerializer[Attempt]):
    """What a node reported of a run. The exit code after a signal is minus the signal's number."""

    node = serializers.SlugRelatedField[Any](slug_field="name", read_only=True)

    class Meta:
        model = Attempt
        fields = [
            "uid",
            "number",
            "state",
            "node",
            "created_at",
            "accepted_at",
            "started_at",
            "ended_at",
            "exit_code",
            "exit_reason",
            "message",
            "log_bytes",
            "peak_memory_mib",
            "checkpoint_step",
            "checkpoint_at",
        ]

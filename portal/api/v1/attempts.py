"""One run of a workload."""

from typing import Any

from rest_framework import serializers

from pool.models import Attempt, Rank


class RankOut(serializers.ModelSerializer[Rank]):
    """One node's part of a run on several nodes; `state` is what its node told last."""

    node = serializers.SlugRelatedField[Any](slug_field="name", read_only=True)
    state = serializers.ChoiceField(
        choices=["placed", "starting", "running", "ended", "clean", "lost"], source="stage"
    )

    class Meta:
        model = Rank
        fields = [
            "rank",
            "node",
            "cards",
            "state",
            "started_at",
            "ended_at",
            "exit_code",
            "exit_reason",
            "message",
            "log_bytes",
            "peak_memory_mib",
        ]


class AttemptOut(serializers.ModelSerializer[Attempt]):
    """What a node reported of a run. The exit code after a signal is minus the signal's number.

    A run on several nodes (`size`) has `ranks`; `node` is rank 0's, where they meet at
    `master_port`. For all other runs the list is empty. Its slices are given to nobody else before
    it is clean (`clean_at`); `unclean` says why it is not yet, `removed` what its node found of it
    after its end and took away.
    """

    node = serializers.SlugRelatedField[Any](slug_field="name", read_only=True)
    ranks = RankOut(many=True, read_only=True)
    removed = serializers.ListField(child=serializers.CharField(), read_only=True)

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
            "checkpoint_path",
            "draining",
            "overran_at",
            "size",
            "master_port",
            "clean_at",
            "unclean",
            "removed",
            "ranks",
        ]

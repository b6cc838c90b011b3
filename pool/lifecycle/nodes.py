"""The life of a node."""

from enum import StrEnum

from pool.lifecycle.table import Lifecycle


class NodeState(StrEnum):
    """Where a node stands."""

    JOINING = "joining"
    OBSERVED = "observed"
    READY = "ready"
    CORDONED = "cordoned"
    DRAINING = "draining"
    SILENT = "silent"
    LOST = "lost"
    RETIRED = "retired"


N = NodeState

NODE = Lifecycle(
    name="node",
    first=N.JOINING,
    moves={
        N.JOINING: frozenset({N.OBSERVED, N.READY, N.SILENT}),
        N.OBSERVED: frozenset({N.READY, N.SILENT}),
        N.READY: frozenset({N.CORDONED, N.DRAINING, N.SILENT}),
        N.CORDONED: frozenset({N.READY, N.DRAINING, N.SILENT}),
        N.DRAINING: frozenset({N.CORDONED, N.SILENT}),
        N.SILENT: frozenset({N.JOINING, N.OBSERVED, N.READY, N.CORDONED, N.DRAINING, N.LOST}),
        N.LOST: frozenset({N.JOINING, N.RETIRED}),
        N.RETIRED: frozenset(),
    },
    passing={
        N.JOINING: "GPUPOOL_NODE_SILENT_SECONDS without a hello, then silent",
        N.DRAINING: "until nothing runs there; shown with its age",
        N.SILENT: "until it answers, or is fenced or confirmed dead",
    },
)

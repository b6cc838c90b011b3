"""Words that mean the same on both sides of the wire."""

from enum import StrEnum


class Vendor(StrEnum):
    """Who made the card; each has an instruction set of its own."""

    NVIDIA = "nvidia"
    AMD = "amd"
    ASCEND = "ascend"
    OTHER = "other"


class Mode(StrEnum):
    """How a card is shared. One card is in one mode at a time."""

    WHOLE = "whole"
    MIG = "mig"
    VGPU = "vgpu"
    MPS = "mps"
    TIMESLICE = "timeslice"
    VNPU = "vnpu"
    AMD_PARTITION = "amd_partition"


class Isolation(StrEnum):
    """What keeps two holders of one card apart."""

    HARDWARE = "hardware"
    SOFTWARE = "software"
    PROCESS = "process"
    NONE = "none"
    UNKNOWN = "unknown"


MODE_ISOLATION: dict[Mode, Isolation] = {
    Mode.WHOLE: Isolation.HARDWARE,
    Mode.MIG: Isolation.HARDWARE,
    Mode.VGPU: Isolation.SOFTWARE,
    Mode.MPS: Isolation.PROCESS,
    Mode.TIMESLICE: Isolation.NONE,
    Mode.VNPU: Isolation.UNKNOWN,
    Mode.AMD_PARTITION: Isolation.UNKNOWN,
}
"""The isolation of a mode where the card says nothing of its own (requirement P2)."""

UNISOLATED = frozenset({Isolation.PROCESS, Isolation.NONE, Isolation.UNKNOWN})
"""Holders of one card must belong to one trust group under these (requirement P5)."""

PLACED_MODES = frozenset({Mode.WHOLE, Mode.MIG})
"""Modes whose slices lie at a place on the card's own axis."""


class WorkloadKind(StrEnum):
    """What a workload is."""

    JOB = "job"
    NOTEBOOK = "notebook"
    REPLICA = "replica"
    EXTERNAL = "external"


class SliceFound(StrEnum):
    """A slice as the node finds it."""

    CREATING = "creating"
    READY = "ready"
    CLEANING = "cleaning"
    DELETING = "deleting"
    FAILED = "failed"


class WorkFound(StrEnum):
    """An attempt as the node finds it."""

    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    EXITED = "exited"
    REFUSED = "refused"


class WorkWanted(StrEnum):
    """What the portal wants of an attempt."""

    RUN = "run"
    STOP = "stop"


class ExitReason(StrEnum):
    """Why an attempt ended, apart from its exit code."""

    FINISHED = "finished"
    OWN_ERROR = "own_error"
    OOM_CARD = "oom_card"
    OOM_HOST = "oom_host"
    LIMIT = "limit"
    CANCELLED = "cancelled"
    STOPPED = "stopped"
    PREEMPTED = "preempted"
    RECLAIMED = "reclaimed"
    NEIGHBOUR = "neighbour"
    START_FAILED = "start_failed"
    NODE_STOPPED = "node_stopped"
    NODE_LOST = "node_lost"
    FENCED = "fenced"
    KILLED = "killed"
    RANK_DIED = "rank_died"
    IMPOSSIBLE = "impossible"


class StepKind(StrEnum):
    """What an agent may do to come nearer to the desired state."""

    CREATE_SLICE = "create_slice"
    DELETE_SLICE = "delete_slice"
    SET_MODE = "set_mode"
    START_WORK = "start_work"
    STOP_WORK = "stop_work"
    NOTIFY_WORK = "notify_work"
    CLEAN = "clean"


class Fidelity(StrEnum):
    """How a measured value came to be."""

    MEASURED = "measured"
    ESTIMATED = "estimated"
    UNAVAILABLE = "unavailable"


class Silence(StrEnum):
    """What a workload chose for the case that its node is cut off."""

    KEEP = "keep"
    REQUEUE = "requeue"

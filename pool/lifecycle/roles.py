"""Roles of people, and kinds of tenant."""

from enum import StrEnum


class Role(StrEnum):
    """What a person is in an organization or a project."""

    PLATFORM_ADMIN = "platform_admin"
    ORG_ADMIN = "org_admin"
    LEAD = "lead"
    MEMBER = "member"
    VIEWER = "viewer"
    BILLING_READER = "billing_reader"


class Priority(StrEnum):
    """Priority classes, strongest first; critical is granted and budgeted."""

    CRITICAL = "critical"
    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"
    SCAVENGER = "scavenger"


class QuotaUnit(StrEnum):
    """What a quota row counts; `cards_each` bounds every single workload, nothing is held of it."""

    CARDS_MICRO = "cards_micro"
    MEMORY_MIB = "memory_mib"
    COMPUTE_MILLI = "compute_milli"
    CARD_SECONDS = "card_seconds"
    CPU_MILLI = "cpu_milli"
    RAM_MIB = "ram_mib"
    DISK_MIB = "disk_mib"
    WORKLOADS = "workloads"
    CARDS_EACH = "cards_each"


class QuotaKind(StrEnum):
    """Three separate limits, shown apart."""

    LIMIT = "limit"
    ALLOWANCE = "allowance"
    ENTITLEMENT = "entitlement"


class WorkClass(StrEnum):
    """What kind of work a template is for; ceilings and placement go by it."""

    PRETRAINING = "pretraining"
    TRAINING = "training"
    FINETUNING = "finetuning"
    INFERENCE = "inference"
    BATCH_INFERENCE = "batch_inference"
    NOTEBOOK = "notebook"
    DESKTOP = "desktop"
    TRANSCODING = "transcoding"
    HPC = "hpc"
    DATA = "data"


class RankDeath(StrEnum):
    """What becomes of a gang when one of its ranks dies: the whole fails, or starts again."""

    FAIL = "fail"
    RESTART = "restart"

"""Tables of the pool, one file a noun."""

from pool.models.accuracy import Accuracy
from pool.models.adoption.found import FoundWork
from pool.models.alerting.rules import AlertRule, AlertSilence
from pool.models.alerting.ways import AlertChannel, AlertDelivery, AlertRoute
from pool.models.alerts import Alert
from pool.models.approvals.delegations import Delegation
from pool.models.approvals.notices import Notice, NoticeChoice, NoticeDelivery, NoticeHook
from pool.models.approvals.policies import ApprovalPolicy
from pool.models.cards import Card
from pool.models.catalogue.environments import Environment, Registry
from pool.models.catalogue.secrets import Secret
from pool.models.catalogue.storage import Storage
from pool.models.catalogue.uses import SecretUse, StorageUse
from pool.models.dependencies import Dependency
from pool.models.events import Event
from pool.models.fairness import FairUse
from pool.models.installation import ClockShift, Installation
from pool.models.leases import Lease
from pool.models.nodes import JoinToken, Node, NodeWatch
from pool.models.notebooks.nights import NightKeep
from pool.models.notebooks.notebooks import IdleRule, Notebook
from pool.models.notebooks.shares import NotebookShare
from pool.models.partitions import Partition
from pool.models.people.groups import GroupRole
from pool.models.people.invitations import Invitation
from pool.models.placements import Hold, Placement, Promise
from pool.models.planning.rollouts import RolloutMove
from pool.models.policies import PolicyVersion
from pool.models.quotas import Quota
from pool.models.quotatree.cutbacks import Cutback
from pool.models.quotatree.drifts import QuotaDrift
from pool.models.quotatree.periods import QuotaPeriod
from pool.models.quotatree.plans import PlannedQuota
from pool.models.ranks import Rank
from pool.models.requests import Request, RequestComment
from pool.models.reservations import Reservation, ReservedCard
from pool.models.rounds import Round, RoundTotal
from pool.models.samples import LogChunk, Sample
from pool.models.schedules import Schedule, ScheduleRun
from pool.models.seats import Seats
from pool.models.slices import Slice
from pool.models.telemetry.learned import LearnedBandwidth
from pool.models.telemetry.rollups import HourRollup, MinuteRollup, RollupDue
from pool.models.templates import Template, TemplateVersion
from pool.models.tenants import Membership, Organization, Project, TrustGroup
from pool.models.users import User
from pool.models.whatif.studies import Study
from pool.models.whatif.traces import Trace
from pool.models.windows import Window
from pool.models.workloads import Attempt, Workload
from pool.models.yielding import CriticalBudget, YieldOrder

__all__ = [
    "Accuracy",
    "Alert",
    "AlertChannel",
    "AlertDelivery",
    "AlertRoute",
    "AlertRule",
    "AlertSilence",
    "ApprovalPolicy",
    "Attempt",
    "Card",
    "ClockShift",
    "CriticalBudget",
    "Cutback",
    "Delegation",
    "Dependency",
    "Environment",
    "Event",
    "FairUse",
    "FoundWork",
    "GroupRole",
    "Hold",
    "HourRollup",
    "IdleRule",
    "Installation",
    "Invitation",
    "JoinToken",
    "LearnedBandwidth",
    "Lease",
    "LogChunk",
    "Membership",
    "MinuteRollup",
    "NightKeep",
    "Node",
    "NodeWatch",
    "Notebook",
    "NotebookShare",
    "Notice",
    "NoticeChoice",
    "NoticeDelivery",
    "NoticeHook",
    "Organization",
    "Partition",
    "Placement",
    "PlannedQuota",
    "PolicyVersion",
    "Project",
    "Promise",
    "Quota",
    "QuotaDrift",
    "QuotaPeriod",
    "Rank",
    "Registry",
    "Request",
    "RequestComment",
    "Reservation",
    "ReservedCard",
    "RollupDue",
    "RolloutMove",
    "Round",
    "RoundTotal",
    "Sample",
    "Schedule",
    "ScheduleRun",
    "Seats",
    "Secret",
    "SecretUse",
    "Slice",
    "Storage",
    "StorageUse",
    "Study",
    "Template",
    "TemplateVersion",
    "Trace",
    "TrustGroup",
    "User",
    "Window",
    "Workload",
    "YieldOrder",
]

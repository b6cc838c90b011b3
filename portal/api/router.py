"""Addresses of /api/v1/."""

from rest_framework.routers import SimpleRouter

from portal.api.v1.adoption.found import FoundDoor
from portal.api.v1.advice.advisor import AdviceDoor
from portal.api.v1.advice.deputies import DelegationDoor
from portal.api.v1.advice.notices import NoticeDoor
from portal.api.v1.advice.policies import ApprovalPolicyDoor
from portal.api.v1.alerting.baseline import BaselineDoor
from portal.api.v1.alerting.rules import AlertRuleDoor
from portal.api.v1.alerting.silences import AlertSilenceDoor
from portal.api.v1.alerting.ways import AlertChannelDoor, AlertDeliveryDoor, AlertRouteDoor
from portal.api.v1.alerts import AlertDoor
from portal.api.v1.billing.agreed import ContractDoor, DiscountDoor, OverheadDoor
from portal.api.v1.billing.budgets import BudgetDoor
from portal.api.v1.billing.disputes import DisputeDoor
from portal.api.v1.billing.invoices import InvoiceDoor
from portal.api.v1.billing.reports import ReportDoor
from portal.api.v1.calendar.policies import PolicyDoor
from portal.api.v1.calendar.reservations import ReservationDoor
from portal.api.v1.calendar.seats import SeatsDoor
from portal.api.v1.calendar.windows import WindowDoor
from portal.api.v1.cards import CardDoor
from portal.api.v1.catalogue.environments import EnvironmentDoor, RegistryDoor
from portal.api.v1.catalogue.secrets import SecretDoor
from portal.api.v1.catalogue.storage import StorageDoor
from portal.api.v1.events import EventDoor
from portal.api.v1.leases import LeaseDoor
from portal.api.v1.memberships import MembershipDoor
from portal.api.v1.nodes import JoinTokenDoor, NodeDoor
from portal.api.v1.notebooks.rules import IdleRuleDoor
from portal.api.v1.partitions import PartitionDoor
from portal.api.v1.people.accounts import AccountDoor
from portal.api.v1.people.groups import GroupRoleDoor
from portal.api.v1.people.invitations import InvitationDoor
from portal.api.v1.placements import PlacementDoor
from portal.api.v1.planning.capacity import CapacityDoor
from portal.api.v1.planning.rollout import RolloutDoor
from portal.api.v1.prices import PriceDoor
from portal.api.v1.queue import QueueDoor
from portal.api.v1.quotas import QuotaDoor
from portal.api.v1.quotatree.books import CutbackDoor, DriftDoor
from portal.api.v1.quotatree.configuration import ConfigurationDoor
from portal.api.v1.quotatree.plans import PlanDoor
from portal.api.v1.requests import RequestDoor
from portal.api.v1.samples import SampleDoor
from portal.api.v1.schedules import ScheduleDoor
from portal.api.v1.slices import SliceDoor
from portal.api.v1.templates import TemplateDoor
from portal.api.v1.tenants import OrganizationDoor, ProjectDoor
from portal.api.v1.tokens import TokenDoor
from portal.api.v1.usage import UsageDoor
from portal.api.v1.users import UserDoor
from portal.api.v1.whatif.records import RecordDoor
from portal.api.v1.whatif.studies import StudyDoor
from portal.api.v1.whoami import WhoamiDoor
from portal.api.v1.workloads import WorkloadDoor

router = SimpleRouter()
router.trailing_slash = "/?"
for noun, door in (
    ("advice", AdviceDoor),
    ("alerts", AlertDoor),
    ("alert-channels", AlertChannelDoor),
    ("alert-deliveries", AlertDeliveryDoor),
    ("alert-routes", AlertRouteDoor),
    ("alert-rules", AlertRuleDoor),
    ("alert-silences", AlertSilenceDoor),
    ("baseline", BaselineDoor),
    ("approval-policies", ApprovalPolicyDoor),
    ("capacity", CapacityDoor),
    ("rollout", RolloutDoor),
    ("reports", ReportDoor),
    ("budgets", BudgetDoor),
    ("contracts", ContractDoor),
    ("discounts", DiscountDoor),
    ("overheads", OverheadDoor),
    ("cards", CardDoor),
    ("delegations", DelegationDoor),
    ("disputes", DisputeDoor),
    ("environments", EnvironmentDoor),
    ("events", EventDoor),
    ("group-roles", GroupRoleDoor),
    ("idle-rules", IdleRuleDoor),
    ("invitations", InvitationDoor),
    ("found-work", FoundDoor),
    ("invoices", InvoiceDoor),
    ("join-tokens", JoinTokenDoor),
    ("leases", LeaseDoor),
    ("memberships", MembershipDoor),
    ("nodes", NodeDoor),
    ("notices", NoticeDoor),
    ("organizations", OrganizationDoor),
    ("partitions", PartitionDoor),
    ("placements", PlacementDoor),
    ("policies", PolicyDoor),
    ("prices", PriceDoor),
    ("projects", ProjectDoor),
    ("queue", QueueDoor),
    ("configuration", ConfigurationDoor),
    ("cutbacks", CutbackDoor),
    ("quota-drifts", DriftDoor),
    ("quota-plans", PlanDoor),
    ("quotas", QuotaDoor),
    ("records", RecordDoor),
    ("registries", RegistryDoor),
    ("requests", RequestDoor),
    ("reservations", ReservationDoor),
    ("samples", SampleDoor),
    ("schedules", ScheduleDoor),
    ("seats", SeatsDoor),
    ("service-accounts", AccountDoor),
    ("secrets", SecretDoor),
    ("slices", SliceDoor),
    ("storage", StorageDoor),
    ("templates", TemplateDoor),
    ("tokens", TokenDoor),
    ("usage", UsageDoor),
    ("users", UserDoor),
    ("what-ifs", StudyDoor),
    ("whoami", WhoamiDoor),
    ("windows", WindowDoor),
    ("workloads", WorkloadDoor),
):
    router.register(noun, door, basename=noun)

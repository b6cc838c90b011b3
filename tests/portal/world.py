"""Two tenants, people in every role with a token each, one of every noun: for tests of doors."""

from datetime import date, timedelta
from typing import Any

from billing.models import Budget, Contract, Discount, Dispute, Month, Overhead
from billing.models.prices import Price
from billing.models.usage import Usage
from pool.clock import now
from pool.events import SYSTEM, record
from pool.lifecycle.events import EventKind
from pool.models import (
    Alert,
    AlertChannel,
    AlertDelivery,
    AlertRoute,
    AlertRule,
    AlertSilence,
    Attempt,
    Card,
    Cutback,
    Delegation,
    Environment,
    FoundWork,
    GroupRole,
    Hold,
    IdleRule,
    JoinToken,
    Lease,
    Membership,
    Placement,
    PlannedQuota,
    PolicyVersion,
    Quota,
    QuotaDrift,
    Registry,
    Request,
    Reservation,
    Schedule,
    Seats,
    Slice,
    Storage,
    Window,
    Workload,
)
from pool.services.catalogue.secrets import secret_set
from pool.services.people.invitations import invitation_send
from pool.services.quotas import QuotaLine, quotas_set
from tests import rows
from tests.portal.callers import Caller, caller

HOUR = timedelta(hours=1)
ROLES = (
    "platform_admin",
    "org_admin",
    "lead",
    "member",
    "viewer",
    "billing_reader",
    "stranger",
)
"""`stranger` is a member of another organization."""


class Tenant:
    """An organization with one project, its people, and one of everything they own."""

    def __init__(self, world: "World", name: str) -> None:
        self.world = world
        self.organization = rows.organization(slug=f"{name}-org", name=name)
        self.project = rows.project(slug=name, name=name, organization=self.organization)
        self.people = {
            role: caller(rows.member(self.project, role=role, username=f"{name}-{role}"))
            for role in ("lead", "member", "viewer")
        }
        for role in ("org_admin", "billing_reader"):
            user = rows.user(username=f"{name}-{role}")
            Membership.objects.create(user=user, organization=self.organization, role=role)
            self.people[role] = caller(user)
        for kind, limit in (("allowance", 2_000_000), ("limit", 8_000_000)):
            rows.quota(project=self.project, partition=world.partition, kind=kind, limit=limit)
        self.owner = self.people["member"].user
        self.workload = self.work()
        self.request = self.asked()
        self.lease = self.leased()
        self.reservation = Reservation.objects.create(
            request=self.request, project=self.project, span=(now() + HOUR, now() + 2 * HOUR)
        )
        self.delegation = Delegation.objects.create(
            person=self.people["lead"].user,
            deputy=self.people["org_admin"].user,
            span=(now() + 900 * HOUR, now() + 901 * HOUR),
        )
        self.schedule = Schedule.objects.create(
            project=self.project,
            owner=self.owner,
            name="nightly",
            template_version=world.version,
            command=["true"],
            expected_seconds=60,
            cron="0 2 * * *",
            next_at=now() + HOUR,
        )
        self.placement = self.placed()
        self.hold = self.placement.holds.get(mode="whole")
        self.slice = self.hold.slice
        self.usage = self.used()
        self.budget = Budget.objects.create(
            organization=self.organization, project=self.project, limit_micro=10**12
        )
        self.invoice = Month.objects.create(
            organization=self.organization,
            first=date(2020, 1, 1),
            zone="UTC",
            currency="EUR",
            state="reviewed",
        )
        self.dispute = Dispute.objects.create(
            month=self.invoice,
            project=self.project,
            line_id="ln-1",
            text="not ours",
            opened_by=self.people["billing_reader"].user,
        )
        self.alert = Alert.objects.create(
            key=f"queue-wait-{name}", subject=f"workload:{self.workload.uid}", title="waits long"
        )
        self.idle_rule = IdleRule.objects.create(
            project=self.project, idle_seconds=3600, warn_minutes=[2]
        )
        self.silence = AlertSilence.objects.create(
            project=self.project, ends_at=now() + HOUR, reason="a move", by_label="lead"
        )
        self.event_id = record(
            EventKind.WORKLOAD_EXPLAINED, self.workload, actor=SYSTEM, project=self.project
        )
        admin = self.people["org_admin"].user
        self.study = rows.study(owner=admin, organization=self.organization)
        self.quota = Quota.objects.filter(project=self.project).first()
        self.membership = Membership.objects.get(user=self.owner)
        self.quota_change = f"qx-{name}"
        line = QuotaLine(
            tenant=self.project, partition=world.partition, unit="workloads", limit=100_000
        )
        quotas_set(lines=[line], actor=SYSTEM, change=self.quota_change)
        self.planned_quota = PlannedQuota.objects.create(
            **line.place, does="set", amount=90_000, starts_at=now() + HOUR, reason="a new year"
        )
        self.cutback = Cutback.objects.create(
            lease=self.lease, used_milli=0, copies=1, keeps=0, due_at=now() + HOUR
        )
        self.account = rows.user(
            username=f"{name}-robot", service_account=True, service_project=self.project
        )
        self.storage = Storage.objects.create(
            name=f"{name} data",
            name_folded=f"{name} data",
            kind="dataset",
            path=f"/srv/{name}",
            project=self.project,
        )
        self.secret, _ = secret_set(name="TOKEN", value="hush", project=self.project, actor=SYSTEM)
        self.environment = Environment.objects.create(
            slug=f"{name}-torch",
            name=f"{name} torch",
            reference="registry.example.com/torch:2",
            digest="sha256:" + "a" * 64,
            organization=self.organization,
        )
        self.invitation, self.invited = invitation_send(
            email=f"{name}@example.org",
            role="member",
            project=self.project,
            user=self.people["lead"].user,
            actor=SYSTEM,
        )

    def work(self, **given: Any) -> Workload:
        return rows.workload(
            into=self.project, owner=self.owner, version=self.world.version, **given
        )

    def asked(self, **given: Any) -> Request:
        return Request.objects.create(
            **{
                "project": self.project,
                "requester": self.owner,
                "template_version": self.world.version,
                "need": self.world.version.need,
                "duration_seconds": 3600,
                "steps": ["lead"],
                "state": "submitted",
                "submitted_at": now(),
            }
            | given
        )

    def leased(self) -> Lease:
        lead = self.people["lead"].user
        request = self.asked(state="approved", decided_by=lead, decided_at=now())
        return Lease.objects.create(
            request=request,
            project=self.project,
            template_version=self.world.version,
            need=self.world.version.need,
            valid=(now(), now() + HOUR),
        )

    def placed(self) -> Placement:
        """A workload that ran an hour on a whole card, and is over."""
        done = self.work(
            name="done", name_folded="done", state="succeeded", exit_code=0, ended_at=now()
        )
        start, end = now() - 2 * HOUR, now() - HOUR
        attempt = Attempt.objects.create(
            workload=done, number=1, node=self.world.node, state="ended", exit_code=0
        )
        placement = Placement.objects.create(
            attempt=attempt,
            partition=self.world.partition,
            state="closed",
            opened_at=start,
            closed_at=end,
        )
        card = self.world.free_card()
        cut = Slice.objects.create(
            card=card,
            mode="whole",
            isolation="hardware",
            profile="whole",
            span=(0, 8),
            lived=(start, None),
            memory_mib=card.memory_mib,
            compute_milli=1000,
            equivalents_micro=1_000_000,
            state="ready",
        )
        Hold.objects.create(
            placement=placement,
            slice=cut,
            card=card,
            node=self.world.node,
            mode="whole",
            isolation="hardware",
            trust=self.project.trust_group_id,
            fenced=True,
            held=(start, end),
            equivalents_micro=1_000_000,
        )
        return placement

    def used(self) -> Usage:
        attempt = self.placement.attempt
        hour = self.hold.held.lower.replace(minute=0, second=0, microsecond=0)
        return Usage.objects.create(
            hold=self.hold,
            hour=hour,
            starts_at=self.hold.held.lower,
            ends_at=hour + HOUR,
            reserved_us=1_000_000,
            organization=self.organization,
            project=self.project,
            owner=self.owner,
            workload=attempt.workload,
            attempt=attempt,
            mode="whole",
            price_class="standard",
            equivalents_micro=1_000_000,
            memory_mib=1,
            compute_milli=1000,
            cpu_milli=0,
            ram_mib=0,
            disk_mib=0,
            currency="EUR",
            amount_micro=7,
            metered_at=now(),
        )


class World:
    """The pool with two tenants; `own` is looked at, `other` must never show."""

    def __init__(self) -> None:
        self.partition = rows.partition(slug="a100", modes=["whole", "mig"])
        self.version = rows.template()
        self.node = rows.node(cards=4, name="node-a")
        self._cards = iter(Card.objects.order_by("pk"))
        admin = rows.user(username="root")
        Membership.objects.create(user=admin, role="platform_admin")
        self.admin = caller(admin)
        self.own = Tenant(self, "vision")
        self.other = Tenant(self, "speech")
        self.price = Price.objects.create(
            partition=self.partition, currency="EUR", rate_micro=1_900_000, valid=(now(), None)
        )
        self.contract = Contract.objects.create(since=now().date().replace(day=1))
        self.discount = Discount.objects.create(
            kind="preemptible", milli=100, valid=(now(), None), note="gives way"
        )
        self.overhead = Overhead.objects.create(
            first=now().date().replace(day=1),
            kind="operations",
            label="Power",
            currency="EUR",
            amount_micro=10**9,
        )
        self.window = Window.objects.create(
            reason="new fans", span=(now() + 900 * HOUR, now() + 901 * HOUR)
        )
        self.window.nodes.set([self.node])
        self.drifted = self.own.quota
        QuotaDrift.objects.create(quota=self.drifted, held=0, counted=0, seen_at=now())
        self.seats = Seats.objects.create(name="vWS", mode="vgpu", total=8)
        self.policy = PolicyVersion.objects.create(
            number=1, values={"heavy_gb": 32}, reason="small cards", actor_label="root"
        )
        self.group_role = GroupRole.objects.create(
            source="ldap", group="cn=admins", role="platform_admin"
        )
        self.registry = Registry.objects.create(prefix="registry.example.com")
        self.found = FoundWork.objects.create(node=self.node, attempt="at-found")
        self.alert_rule = AlertRule.objects.create(
            slug="own",
            name="Own",
            family="hardware",
            severity="info",
            metric="temperature",
            scope="card",
            aggregate="max",
            window_seconds=60,
            side="above",
            threshold=70,
        )
        self.alert_channel = AlertChannel.objects.create(
            name="ops", kind="mail", target="ops@example.org"
        )
        self.alert_route = AlertRoute.objects.create(channel=self.alert_channel, days=[0])
        self.alert_delivery = AlertDelivery.objects.create(
            alert=self.own.alert, channel=self.alert_channel, word="fired", due_at=now()
        )
        self.join_token = JoinToken.objects.create(token_hash="0" * 64, expires_at=now() + HOUR)

    def hold_card(self) -> Card:
        return self.own.hold.card

    def free_card(self) -> Card:
        return next(self._cards)

    def by(self, role: str) -> Caller:
        """Somebody with that role as `own` sees it."""
        if role == "platform_admin":
            return self.admin
        return self.other.people["member"] if role == "stranger" else self.own.people[role]

    def job(self, **given: Any) -> dict[str, Any]:
        """A body that may be submitted in `own`."""
        return {
            "project": "vision",
            "template": self.version.template.slug,
            "command": ["python", "train.py"],
            "expected_seconds": 600,
            **given,
        }

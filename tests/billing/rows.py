"""Rows that money needs: a project with its work, and holds of any span, told in the log."""

import itertools
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db import transaction
from psycopg.types.range import Range

from billing.models.prices import Price
from pool.events import SYSTEM, record
from pool.lifecycle.events import EventKind
from pool.models import (
    Attempt,
    Card,
    Hold,
    Node,
    Organization,
    Partition,
    Placement,
    Project,
    Slice,
    Template,
    TemplateVersion,
    TrustGroup,
    User,
    Workload,
)

LABEL = "A100-80GB"
numbers = itertools.count(1)


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@dataclass
class Books:
    """One project, one partition with a priced card; holds are made on cards of their own."""

    project: Project
    partition: Partition
    node: Node
    user: User
    version: TemplateVersion

    @classmethod
    def opened(cls, *, zone="UTC", rate=1_900_000):
        n = next(numbers)
        organization = Organization.objects.create(slug=f"o{n}", name=f"Org {n}", zone=zone)
        trust = TrustGroup.objects.create(name=f"t{n}")
        project = Project.objects.create(
            organization=organization, slug=f"p{n}", name=f"Project {n}", trust_group=trust
        )
        partition = Partition.objects.create(slug=f"part{n}", name=f"Partition {n}")
        template = Template.objects.create(slug=f"tp{n}", name="Job")
        books = cls(
            project=project,
            partition=partition,
            node=Node.objects.create(name=f"n{n}", name_folded=f"n{n}", identity=True, fence=True),
            user=User.objects.create(username=f"u{n}"),
            version=TemplateVersion.objects.create(template=template, number=1),
        )
        if rate is not None:
            books.price(rate, "2020-01-01")
        return books

    def price(self, rate, start, end=None, **key):
        return Price.objects.create(
            partition=self.partition,
            currency="EUR",
            rate_micro=rate,
            valid=Range(at(start), end and at(end)),
            **key,
        )

    def workload(self, **more):
        return Workload.objects.create(
            project=self.project,
            owner=self.user,
            name="job",
            name_folded="job",
            template_version=self.version,
            expected_seconds=60,
            **more,
        )

    def placement(self, workload=None, **attempt):
        workload = workload or self.workload()
        number = workload.attempts.count() + 1
        tried = Attempt.objects.create(
            workload=workload, number=number, node=self.node, state="ended", **attempt
        )
        return Placement.objects.create(
            attempt=tried,
            partition=self.partition,
            state="open",
            opened_at=at("2026-01-01"),
        )

    def hold(self, span, *, micro=142_857, placement=None, **more):
        """A hold of a slice of a new card for `span` = (start, end or None); not yet told."""
        n = next(numbers)
        card = Card.objects.create(
            uuid=f"GPU-{n}",
            node=self.node,
            vendor="nvidia",
            model="NVIDIA A100-SXM4-80GB",
            label=LABEL,
            nominal_gb=80,
            memory_mib=81920,
        )
        lived = Range(at("2020-01-01"), None)
        cut = Slice.objects.create(
            card=card,
            mode="mig",
            isolation="hardware",
            profile="1g.10gb",
            span=Range(0, 1),
            lived=lived,
            memory_mib=9728,
            compute_milli=142,
            equivalents_micro=micro,
        )
        return Hold.objects.create(
            placement=placement or self.placement(),
            slice=cut,
            card=card,
            node=self.node,
            mode="mig",
            isolation="hardware",
            trust=self.project.trust_group_id,
            fenced=True,
            held=Range(*span),
            equivalents_micro=micro,
            memory_mib=9728,
            compute_milli=142,
            **more,
        )

    def share(self, span, *, placement=None, cpu_milli=4000, ram_mib=8192):
        """A hold of a node's cores and memory."""
        return Hold.objects.create(
            placement=placement or self.placement(),
            node=self.node,
            mode="host",
            isolation="none",
            trust=self.project.trust_group_id,
            fenced=True,
            held=Range(*span),
            cpu_milli=cpu_milli,
            ram_mib=ram_mib,
        )


def told(hold, kind=EventKind.PLACEMENT_CLOSED):
    """Write into the log what the pool writes when this happens."""
    subject = hold if kind == EventKind.HOLD_CORRECTED else hold.placement
    with transaction.atomic():
        record(kind, subject, actor=SYSTEM)
    return hold

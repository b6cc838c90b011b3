"""A small company for the rings' tests: its people, its project, its cards, its templates."""

from dataclasses import dataclass, field
from itertools import count

from django.db import transaction

from nodeagent.drivers.simulated.cards import card as card_told
from pool.events import SYSTEM, Actor
from pool.lifecycle.roles import QuotaKind, QuotaUnit, Role
from pool.models import (
    Membership,
    Node,
    Organization,
    Partition,
    Project,
    Quota,
    Template,
    TemplateVersion,
    TrustGroup,
    User,
)
from pool.services.cards import cards_found

NUMBERS = count(1)
MICRO = 1_000_000
FINETUNE = {"memory_gb": 20, "compute_milli": 300}
WHOLE = {"whole": True}
CPU_ONLY = {"parts": 0, "cpu_milli": 2000}
FREE = {"cost": 0}
"""What a request weighs where nothing has a price."""


def organization(slug="acme", **rest):
    """An organization."""
    return Organization.objects.create(slug=slug, name=slug.title(), **rest)


def project(slug="vision", *, of=None, **rest):
    """A project with a trust group of its own."""
    group = TrustGroup.objects.create(name=f"{slug} {next(NUMBERS)}")
    home = of or organization(f"org-{slug}")
    values = {"slug": slug, "name": slug.title(), "trust_group": group, **rest}
    return Project.objects.create(organization=home, **values)


def user(name=None, role=None, *, at=None):
    """A person, with a role in a project or organization, or on the platform."""
    person = User.objects.create(username=name or f"person{next(NUMBERS)}")
    if role is not None:
        member(person, role, at)
    return person


def member(person, role, at=None):
    """One more role of a person."""
    place = {}
    if isinstance(at, Project):
        place["project"] = at
    elif at is not None:
        place["organization"] = at
    return Membership.objects.create(user=person, role=role, **place)


def partition(slug="a100", *, labels=("A100-80GB",), modes=("whole", "mig", "mps"), **rest):
    """A partition that takes cards by label."""
    values = {"selector": {"labels": list(labels)}, "modes": list(modes), **rest}
    return Partition.objects.create(slug=slug, name=slug, **values)


def node(name="n1", cards=(("A100-80GB", 8),), *, cores=128):
    """A ready node with cards, put into partitions by their selectors."""
    row = Node.objects.create(
        name=name,
        name_folded=name.casefold(),
        state="ready",
        cpu_milli=cores * 1000,
        memory_mib=1_048_576,
        disk_mib=8_192_000,
        identity=True,
        fence=True,
    )
    models = [model for model, number in cards for _ in range(number)]
    told = [card_told(name, index, model, None) for index, model in enumerate(models)]
    with transaction.atomic():
        cards_found(node=row, found=told, actor=SYSTEM)
    return row


def template(slug="finetune-20g-30", need=None, **rest):
    """A template's only version."""
    of_template = {
        k: rest.pop(k) for k in ("active", "inactive_reason", "organization") if k in rest
    }
    row = Template.objects.create(slug=slug, name=slug, **of_template)
    return TemplateVersion.objects.create(template=row, number=1, need=need or FINETUNE, **rest)


def quota(tenant, where, cards, *, label="A100-80GB", kind=QuotaKind.LIMIT, unit=None, who=None):
    """A quota row; `cards` in cards, or in the unit when one is given."""
    limit = round(cards * MICRO) if unit is None else cards
    place = {"project": tenant} if isinstance(tenant, Project) else {"organization": tenant}
    return Quota.objects.create(
        **place,
        user=who,
        partition=where,
        card_model=label,
        unit=unit or QuotaUnit.CARDS_MICRO,
        kind=kind,
        limit_value=limit,
        ceiling=limit,
    )


def allowance(tenant, where, cards, **rest):
    """What a project may start without asking."""
    return quota(tenant, where, cards, kind=QuotaKind.ALLOWANCE, **rest)


def by(person):
    """The person as the one who acts."""
    return Actor.of(person)


@dataclass
class World:
    """One organization with one project, its people, a partition with a node, and templates."""

    organization: Organization = field(default_factory=organization)
    project: Project = None
    member: User = None
    lead: User = None
    admin: User = None
    platform: User = None
    partition: Partition = None
    node: Node = None
    finetune: TemplateVersion = None
    whole: TemplateVersion = None
    cpu: TemplateVersion = None

    def __post_init__(self):
        self.project = project(of=self.organization)
        self.member = user("mei", Role.MEMBER, at=self.project)
        self.lead = user("lea", Role.LEAD, at=self.project)
        self.admin = user("oda", Role.ORG_ADMIN, at=self.organization)
        self.platform = user("pat", Role.PLATFORM_ADMIN)
        self.partition = partition()
        self.node = node()
        self.finetune = template()
        self.whole = template("train-whole-card", WHOLE)
        self.cpu = template("data-cpu", CPU_ONLY)

"""Rows for tests, each with sensible defaults: a pool with tenants, nodes that said hello, work."""

from datetime import timedelta
from itertools import count

from nodeagent.protocol.inventory import Card as CardFacts
from nodeagent.protocol.inventory import Hello, Host
from nodeagent.protocol.vocabulary import Isolation, Mode, Vendor
from pool.clock import now
from pool.models.catalogue.storage import Storage
from pool.models.nodes import Node
from pool.models.partitions import Partition
from pool.models.quotas import Quota
from pool.models.templates import Template, TemplateVersion
from pool.models.tenants import Membership, Organization, Project, TrustGroup
from pool.models.users import User
from pool.models.whatif.studies import Study
from pool.models.whatif.traces import Trace
from pool.models.workloads import Workload
from pool.services.nodes import name_fold, node_hello, secret_hash
from tests.builders import CARDS, mig

_number = count(1)


def organization(**given):
    number = next(_number)
    return Organization.objects.create(**{"slug": f"org-{number}", "name": f"Org {number}"} | given)


def trust_group(**given):
    return TrustGroup.objects.create(**{"name": f"group {next(_number)}"} | given)


def project(**given):
    number = next(_number)
    if "organization" not in given:
        given["organization"] = organization()
    if "trust_group" not in given:
        given["trust_group"] = trust_group()
    words = {"slug": f"project-{number}", "name": f"Project {number}"}
    return Project.objects.create(**words | {"uid_base": 200_000 + 10_000 * number} | given)


def user(**given):
    return User.objects.create(**{"username": f"user{next(_number)}"} | given)


def member(of, role="member", **given):
    who = user(**given)
    Membership.objects.create(user=who, project=of, role=role)
    return who


def partition(**given):
    number = next(_number)
    words = {"slug": f"part-{number}", "name": f"Partition {number}", "rank": number % 30_000}
    selector = {"vendors": ["nvidia", "amd", "ascend"]}
    return Partition.objects.create(**words | {"selector": selector} | given)


def template(*, need=None, **given):
    number = next(_number)
    row = Template.objects.create(slug=f"template-{number}", name=f"Template {number}")
    return TemplateVersion.objects.create(
        template=row,
        number=1,
        need=need if need is not None else {"parts": 1, "memory_gb": 20},
        **given,
    )


def quota(*, limit, kind="limit", unit="cards_micro", label="", **given):
    return Quota.objects.create(
        kind=kind, unit=unit, card_model=label, limit_value=limit, ceiling=limit, **given
    )


SOFT = {
    Mode.MPS: Isolation.PROCESS,
    Mode.TIMESLICE: Isolation.NONE,
}


def card_facts(uuid, label="A100-80GB", index=0, modes=None):
    """What a node says of one card; modes: whole and MIG where the model has it, and shares."""
    vendor, gb, mib, table, strength = CARDS[label]
    geometries = [mig(table)] if table else []
    able = [Mode.WHOLE, *(one.mode for one in geometries), *SOFT]
    return CardFacts(
        uuid=uuid,
        index=index,
        vendor=Vendor(vendor),
        model=f"NVIDIA {label}",
        label=label,
        nominal_gb=gb,
        memory_mib=mib,
        modes=tuple(modes or able),
        geometries=tuple(geometries),
        strength=strength,
        architecture="ampere",
        driver="550.90.07",
        compute_capability="8.0",
    )


def hello(
    name,
    cards,
    *,
    boot="boot-1",
    fenced=True,
    cpu=64_000,
    observe=False,
    sent_at=None,
    address="",
    labels=None,
):
    return Hello(
        protocol=1,
        agent="1.0",
        name=name,
        boot_id=boot,
        sent_at=now().timestamp() if sent_at is None else sent_at,
        host=Host(
            cpu_milli=cpu,
            memory_mib=512 * 1024,
            disk_mib=2_000_000,
            arch="x86_64",
            identity=fenced,
            fence=fenced,
            simulated=True,
        ),
        cards=tuple(cards),
        observe=observe,
        address=address,
        labels=labels or {},
    )


def node(*, cards=1, label="A100-80GB", name="", modes=None, **said):
    """A node that joined and said hello: ready, with its cards in their partition."""
    name = name or f"node-{next(_number)}"
    row = Node.objects.create(
        name=name, name_folded=name_fold(name), credential_hash=secret_hash(f"key of {name}")
    )
    found = [card_facts(f"GPU-{name}-{n}", label, n, modes) for n in range(cards)]
    node_hello(node=row, hello=hello(name, found, **said))
    row.refresh_from_db()
    return row


def workload(*, into=None, partitions=None, version=None, need=None, owner=None, **given):
    """A queued job of the project, on its allowance unless told otherwise."""
    into = into or project()
    version = version or template()
    owner = owner or member(into)
    words = {
        "name": "job",
        "name_folded": "job",
        "need": version.need if need is None else need,
        "command": ["true"],
        "expected_seconds": 3600,
        "state": "queued",
        "queued_at": now(),
        "entitlement": "lease",
        "cpu_milli": 1000,
        "ram_mib": 1024,
    }
    row = Workload.objects.create(
        project=into, owner=owner, template_version=version, **words | given
    )
    row.partitions.set(Partition.objects.order_by("rank") if partitions is None else partitions)
    return row


def study(*, owner, organization=None, **given):
    """A what-if that waits, on a week of the books."""
    until = now()
    trace = Trace.objects.create(
        name="a week",
        source="books",
        since=until - timedelta(days=7),
        until=until,
        owner=owner,
        organization=organization,
    )
    words = {"name": "more", "changes": {"numbers": {"heads": 2}}, "share": "private"}
    return Study.objects.create(
        trace=trace, owner=owner, organization=organization, **words | given
    )


def storage(**given):
    """A folder of the nodes that everybody may read, unless it says otherwise."""
    name = given.pop("name", "data")
    values = {"name": name, "name_folded": name, "kind": "dataset", "path": f"/srv/{name}"}
    return Storage.objects.create(**values | given)

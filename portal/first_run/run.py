"""Fill a new installation once, whatever happens: all of it in one transaction under one lock."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import connection, transaction

from billing.services.prices import price_book_seed
from pool.clock import now
from pool.events import SYSTEM
from pool.lifecycle.roles import Role
from pool.locks import FIRST_RUN
from pool.models import Installation, JoinToken, Node, Partition
from pool.services.nodes import join_token_issue, name_fold, secret_hash
from portal.first_run.fleet import BadFleet, Machine, fleet_read, fleet_text
from portal.first_run.partitions import partitions_seed
from portal.first_run.people import Entry, people_seed, person_seed, tenants_seed
from portal.first_run.quotas import quotas_seed
from portal.first_run.templates import templates_seed
from portal.up.folders import write_private

MODES = ("example", "empty", "observe")
DEMO = "demo"
"""How `manage.py demo` calls what it filled; nothing else is ever filled so."""

TOLD_BOOT = "told"
"""The boot of a demo's machines whose agents have never come."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What was asked: the mode, the data folder, the fleet's file or this machine's own name."""

    mode: str
    data: Path
    fleet: Path | None = None
    real_node: str = ""
    agents: bool = True


def first_run(plan: Plan) -> str:
    """Seed what a new installation begins with, and lay out the fleet; returns the mode.

    The second time it only issues join tokens for machines that never joined.

    Raises:
        BadFleet: the fleet file cannot be used.
    """
    fleet = _fleet_file(plan)
    machines = (Machine(plan.real_node),) if plan.real_node else _machines(fleet)
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [FIRST_RUN])
        row = Installation.objects.select_for_update().get(pk=1)
        if not row.first_run and plan.mode == DEMO:
            raise BadFleet("a demo is made by manage.py demo, and this is not one")
        if not row.first_run:
            row.first_run, row.example = plan.mode, plan.mode == "example"
            row.save(update_fields=["first_run", "example"])
            _seed(plan, machines)
        nodes = _nodes(plan, machines, observe=row.first_run == "observe")
        write_private(
            _made(plan.data / "run") / "fleet.json",
            {"mode": row.first_run, "fleet": str(fleet) if fleet else None, "nodes": nodes},
        )
    return row.first_run


def _seed(plan: Plan, machines: tuple[Machine, ...]) -> None:
    """Everything of the mode. The passwords are on disk before the rows are committed."""
    templates_seed(actor=SYSTEM)
    example = plan.mode == "example"
    partitions = partitions_seed(machines=machines, actor=SYSTEM, example=example)
    entries = _example(partitions) if example else [_first_admin()]
    write_private(_made(plan.data) / "credentials.json", entries)


def _example(partitions: dict[Partition, Counter[str]]) -> list[Entry]:
    tenants = tenants_seed(actor=SYSTEM)
    quotas_seed(tenants=tenants, partitions=partitions, actor=SYSTEM)
    price_book_seed(partitions=partitions, actor=SYSTEM, currency="EUR")
    return people_seed(tenants=tenants, actor=SYSTEM)


def _first_admin() -> Entry:
    return person_seed(
        username="admin",
        name="Platform admin",
        role=Role.PLATFORM_ADMIN,
        project=None,
        actor=SYSTEM,
        example=False,
    )


def _fleet_file(plan: Plan) -> Path | None:
    """The fleet to simulate: the one given, else in the example an editable copy of the default."""
    if plan.fleet is not None or plan.real_node:
        return plan.fleet
    known = Installation.objects.values_list("first_run", flat=True).get(pk=1)
    own = plan.data / "fleet.yaml"
    if (known or plan.mode) == "empty":
        return None
    if not own.exists():
        _made(plan.data)
        own.write_text(fleet_text(), encoding="utf-8")
    return own


def _machines(fleet: Path | None) -> tuple[Machine, ...]:
    return fleet_read(fleet) if fleet is not None else ()


def _nodes(plan: Plan, machines: tuple[Machine, ...], *, observe: bool) -> list[dict[str, Any]]:
    """The agents to start, each with a token while its machine has never joined."""
    if not plan.agents:
        return []
    folder = _made(plan.data / "run" / "join")
    known = Node.objects.exclude(boot_id=TOLD_BOOT)
    joined = set(known.values_list("name_folded", flat=True))
    found = []
    for machine in machines:
        file = folder / f"{machine.name}.token"
        if name_fold(machine.name) not in joined:
            _token(file, machine.name)
        found.append(
            {
                "name": machine.name,
                "join_token_file": str(file) if file.exists() else None,
                "observe": observe,
            }
        )
    return found


def _token(file: Path, name: str) -> None:
    """A token that can still be used, in the file for the machine's agent."""
    if file.exists():
        kept = secret_hash(file.read_text(encoding="utf-8").strip())
        if JoinToken.objects.filter(token_hash=kept, used_at=None, expires_at__gt=now()).exists():
            return
    _, plain = join_token_issue(node=name, actor=SYSTEM)
    new = file.with_name(file.name + ".new")
    new.touch(mode=0o600)
    new.write_text(plain + "\n", encoding="utf-8")
    new.replace(file)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder

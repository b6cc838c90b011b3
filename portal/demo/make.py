"""The whole demo from an empty database: town, fleet, month, readings, papers, money."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from django.db import transaction

from nodeagent.protocol.inventory import Hello
from pool.cycle.accuracy import accuracy_count
from pool.cycle.alerting.turn import alerting_turn
from pool.cycle.fairness import fairness_count
from pool.models import Installation, Node, User
from pool.services.nodes import name_fold, node_hello
from pool.services.telemetry.bandwidth import bandwidth_learn
from portal.demo.books import books_written
from portal.demo.fleet import fleet_text
from portal.demo.history import history_made
from portal.demo.money import agreed, budgets_made, metered, months_closed, posted
from portal.demo.papers import papers_written
from portal.demo.plan import DemoPlan, at, other_clock
from portal.demo.readings import months_made, readings_written
from portal.demo.town import Town, town_build
from portal.demo.warned import alerts_written
from portal.first_run.fleet import fleet_read
from portal.first_run.run import DEMO
from portal.up.folders import write_private
from portal.up.refusal import Refused

TOLD = "nodeagent.drivers.simulated.told"


@dataclass(slots=True)
class Teller:
    """Says what was done and how long it took."""

    say: Callable[[str], None]
    begun: float = field(default_factory=time.monotonic)

    def done(self, what: str) -> None:
        """One line a step, with the seconds since the beginning."""
        self.say(f"{time.monotonic() - self.begun:6.1f} s  {what}")


def demo_make(*, plan: DemoPlan, say: Callable[[str], None]) -> None:
    """Fill the empty installation. What breaks off half way is to be thrown away with its folder.

    Raises:
        Refused: there is something in it already, or the fleet cannot be described.
    """
    _empty()
    teller = Teller(say)
    fleet = _laid_out(plan)
    months_made(plan)
    with other_clock():
        at(plan.since)
        town = _town(plan, fleet)
        teller.done(f"{sum(town.cards.values())} cards, {len(town.projects)} teams")
        agreed(plan)
        history = history_made(plan=plan, town=town)
        ran = books_written(work=history.work, until=plan.until)
        teller.done(f"{len(history.work)} pieces of work, {len(ran)} runs")
        teller.done(f"{readings_written(plan=plan, ran=ran)} readings")
        steps = papers_written(plan=plan, town=town, breaks=history.breaks)
        teller.done(f"{steps} decisions of people and faults of cards")
        teller.done(f"{alerts_written(plan)} alerts")
    teller.done(f"{metered()} hours metered")
    teller.done(f"{posted(plan)} postings")
    teller.done(f"{months_closed(plan)} statements closed, {budgets_made(plan)} budgets")
    fairness_count()
    accuracy_count()
    bandwidth_learn()
    alerting_turn()
    write_private(plan.data / "run" / "first_run.json", {"mode": DEMO})
    teller.done("ready")


def _empty() -> None:
    row = Installation.objects.get(pk=1)
    if row.first_run or Node.objects.exists() or User.objects.exists():
        raise Refused(
            "There is something in this installation already. The demo makes one of its own:"
            " choose an empty --data-dir."
        )


def _laid_out(plan: DemoPlan) -> Path:
    (plan.data / "run").mkdir(parents=True, exist_ok=True, mode=0o700)
    fleet = plan.data / "fleet.yaml"
    fleet.write_text(fleet_text(plan.cards), encoding="utf-8")
    return fleet


@transaction.atomic
def _town(plan: DemoPlan, fleet: Path) -> Town:
    """People, partitions and machines; the passwords are on disk before the rows are committed."""
    Installation.objects.filter(pk=1).update(first_run=DEMO, example=True)
    town, entries = town_build(fleet_read(fleet))
    for hello in _hellos(fleet):
        node = Node.objects.create(name=hello.name, name_folded=name_fold(hello.name), example=True)
        node_hello(node=node, hello=msgspec.structs.replace(hello, sent_at=plan.since.timestamp()))
    write_private(plan.data / "credentials.json", entries)
    return town


def _hellos(fleet: Path) -> list[Hello]:
    """What the simulated machines say of themselves; the agent's own code says it, on its own."""
    line = [sys.executable, "-m", TOLD, str(fleet)]
    done = subprocess.run(line, capture_output=True, check=False)  # noqa: S603
    if done.returncode:
        raise Refused(f"The fleet cannot be described: {done.stderr.decode().strip()}")
    return msgspec.json.decode(done.stdout, type=list[Hello])


def is_demo(data: Path) -> bool:
    """Whether the folder holds a demo that was made to its end."""
    file = data / "run" / "first_run.json"
    return file.exists() and json.loads(file.read_text(encoding="utf-8")).get("mode") == DEMO

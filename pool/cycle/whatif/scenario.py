"""The scenario as rows keep it, in the words of the replay."""

from collections.abc import Mapping
from typing import Any

from pool.cycle.dryrun import PLANNED
from pool.cycle.needs import claim_of
from pool.models.templates import TemplateVersion
from pool.replay.whatif.apply import CardCount, OtherClass, Scenario, Switches, TeamLimit
from pool.replay.whatif.trace import Trace
from pool.rules.needs import from_mapping
from pool.scheduling.model import Need, Policy, PriorityClass


def scenario_of(changes: Mapping[str, Any], trace: Trace) -> Scenario:
    """The same changes; numbers that no plan reads change nothing and are left away."""
    numbers = changes.get("numbers", {})
    return Scenario(
        cards=tuple(CardCount(**row) for row in changes.get("cards", ())),
        limits=tuple(_limit(row) for row in changes.get("quotas", ())),
        classes=tuple(
            OtherClass(
                priority=PriorityClass(row["priority"]),
                team=row["team"],
                template=row["template"],
            )
            for row in changes.get("priorities", ())
        ),
        needs={row["template"]: _need(row) for row in changes.get("templates", ())},
        switches=tuple(_switches(row) for row in changes.get("partitions", ())),
        numbers={name: value for name, value in numbers.items() if name in PLANNED},
    )


def _limit(row: Mapping[str, Any]) -> TeamLimit:
    return TeamLimit(
        team=row["team"],
        cards=row["cards"],
        partition=row["partition"],
        model=row["model"],
        guarantee=row["kind"] == "guarantee",
    )


def _need(row: Mapping[str, Any]) -> Need:
    """Soft modes without limits are offered where the template's newest version allows them."""
    versions = TemplateVersion.objects.filter(template__slug=row["template"]).order_by("-number")
    unlimited = versions.values_list("unlimited_modes", flat=True).first()
    return claim_of(from_mapping(row["need"]), unlimited_modes=bool(unlimited))


def _switches(row: Mapping[str, Any]) -> Switches:
    return Switches(
        partition=row["partition"],
        policy=Policy(row["policy"]) if "policy" in row else None,
        preemption=row.get("preemption"),
        lending=row.get("lending"),
    )

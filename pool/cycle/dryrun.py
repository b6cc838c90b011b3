"""Look and compare: the same queue planned under another policy; nothing is written."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pool.cycle.ahead import READ
from pool.cycle.waiting import Look
from pool.rules.policies import NUMBERS
from pool.scheduling.model import Plan, Policy, Snapshot
from pool.scheduling.outlook.expected import expect
from pool.scheduling.plan import plan

PLANNED = READ & NUMBERS.keys()
"""Numbers that people edit and a plan depends on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What to change, in one partition or (None) in all; None leaves a switch as it is.

    `numbers` are other numbers of the rounds by their names, as they are edited and in their units;
    those that only services and sweeps read change nothing in a plan.
    """

    partition: int | None = None
    policy: Policy | None = None
    preemption: bool | None = None
    lending: bool | None = None
    backfill: bool | None = None
    age_full_s: float | None = None
    numbers: Mapping[str, int | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of one waiting workload: it starts now, is planned for a time, or stands."""

    now: bool
    position: int | None
    at_s: float | None


@dataclass(frozen=True, slots=True)
class Turned:
    """One workload whose fate another policy changes; `gains` says for the better."""

    workload: int
    before: Fate
    after: Fate
    gains: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """Both plans side by side: who wins, who loses, and what is told to leave in each."""

    turned: tuple[Turned, ...]
    waiting: int
    starts: tuple[int, int]
    leaves: tuple[int, int]


def dry_run(look: Look, trial: Trial) -> Outcome:
    """Plan the same look under the changed policy, and compare workload by workload."""
    return fates_compared(look, _changed(look.snapshot, trial))


def fates_compared(look: Look, changed: Snapshot) -> Outcome:
    """Plan a changed look, and compare it workload by workload with what is planned now."""
    after = expect(changed, plan(changed))
    turned = []
    for work in look.snapshot.waiting:
        was, becomes = _fate(look.made, work.id), _fate(after, work.id)
        if _key(was) != _key(becomes):
            turned.append(Turned(work.id, was, becomes, _key(becomes) < _key(was)))
    return Outcome(
        turned=tuple(
            sorted(turned, key=lambda one: (not one.gains, _key(one.after), one.workload))
        ),
        waiting=len(look.snapshot.waiting),
        starts=(len(look.made.placed), len(after.placed)),
        leaves=(len(look.made.evictions), len(after.evictions)),
    )


def _changed(snapshot: Snapshot, trial: Trial) -> Snapshot:
    said = {
        name: value
        for name in ("policy", "preemption", "lending")
        if (value := getattr(trial, name)) is not None
    }
    partitions = tuple(
        replace(one, **said) if trial.partition in (None, one.id) else one
        for one in snapshot.partitions
    )
    allowed = any(one.preemption for one in partitions)
    rules = replace(snapshot.rules, preemption=snapshot.rules.preemption or allowed)
    if trial.backfill is not None:
        rules = replace(rules, backfill=trial.backfill)
    if trial.age_full_s is not None:
        rules = replace(rules, age_full_s=trial.age_full_s)
    tried: dict[str, Any] = {name: trial.numbers[name] for name in PLANNED & trial.numbers.keys()}
    rules = replace(rules, **tried)
    return replace(snapshot, partitions=partitions, rules=rules)


def _fate(made: Plan, workload: int) -> Fate:
    told = made.waits.get(workload)
    if told is None:
        return Fate(now=True, position=None, at_s=None)
    at_s = told.starts_s if told.starts_p50_s is None else told.starts_p50_s
    return Fate(now=False, position=told.position, at_s=at_s)


def _key(fate: Fate) -> tuple[bool, float, int]:
    """Sooner is less: now, then by the planned time, then by the place."""
    late = float("inf") if fate.at_s is None else round(fate.at_s / 60)
    return (not fate.now, late, fate.position or 0)

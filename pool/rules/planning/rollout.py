"""PURE: the order in which a partition takes up sharing (C6), with a switch for each step."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from nodeagent.protocol.vocabulary import Mode


class Step(StrEnum):
    """The steps in their order: measure, know the needs, share, cut, batch, mix, preempt."""

    BASELINE = "baseline"
    """A week is measured before anything changes: by itself, no switch."""

    LABELS = "labels"
    """Templates say what work needs; a person says that they do."""

    SHARED = "shared"
    """Development and tests share cards by turns."""

    SLICES = "slices"
    """Inference and small work get cuts of cards with walls between them."""

    BATCH = "batch"
    """Batch work fills what is kept for reserved leases and idle."""

    MIXING = "mixing"
    """Small training is placed among the rest, so that whole cards stay whole."""

    PREEMPTION = "preemption"
    """What gives way leaves for what must run: last of all."""


ORDER = tuple(Step)
SWITCHED = tuple(one for one in ORDER if one is not Step.BASELINE)
"""Steps that a person switches; the first is there when a week is measured."""

BASELINE_DAYS = 7
SOFT = (Mode.TIMESLICE.value, Mode.MPS.value)
CUTS = {
    "nvidia": Mode.MIG.value,
    "ascend": Mode.VNPU.value,
    "amd": Mode.AMD_PARTITION.value,
}
"""How cards of a vendor are cut."""

MIXED, PLAIN = "fragmentation", "binpack"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What decides where a partition stands; `labelled` is what a person said last."""

    modes: tuple[str, ...]
    sharing: bool
    lending: bool
    preemption: bool
    policy: str
    vendors: frozenset[str]
    days: int = 0
    labelled: bool = False


def cuts_of(vendors: Iterable[str]) -> tuple[str, ...]:
    """The modes with walls that cards of these vendors know; MIG where none is known."""
    found = tuple(sorted({CUTS[one] for one in vendors if one in CUTS}))
    return found or (Mode.MIG.value,)


def is_on(step: Step, setup: Setup) -> bool:
    """Whether the step is in force, whoever set it and where."""
    return {
        Step.BASELINE: setup.days >= BASELINE_DAYS,
        Step.LABELS: setup.labelled,
        Step.SHARED: setup.sharing and bool(set(SOFT) & set(setup.modes)),
        Step.SLICES: bool({*CUTS.values(), Mode.VGPU.value} & set(setup.modes)),
        Step.BATCH: setup.lending,
        Step.MIXING: setup.policy == MIXED,
        Step.PREEMPTION: setup.preemption,
    }[step]


def missing_before(step: Step, on: Collection[Step]) -> tuple[Step, ...]:
    """Earlier steps that are not in force: without them its effect could not be told."""
    return tuple(one for one in ORDER[: ORDER.index(step)] if one not in on)


def switched_on(step: Step, setup: Setup) -> dict[str, Any]:
    """The columns of the partition that bring the step about; empty where there is nothing to do.

    A step that is said and not set, like the labels, changes no column.
    """
    if is_on(step, setup):
        return {}
    modes = list(setup.modes)
    wanted: dict[Step, dict[str, Any]] = {
        Step.SHARED: {"sharing": True, "modes": _with(modes, SOFT)},
        Step.SLICES: {"modes": _with(modes, cuts_of(setup.vendors))},
        Step.BATCH: {"lending": True},
        Step.MIXING: {"policy": MIXED},
        Step.PREEMPTION: {"preemption": True},
    }
    return _changed(wanted.get(step, {}), setup)


def switched_off(step: Step, setup: Setup, before: Mapping[str, Any] | None) -> dict[str, Any]:
    """The way back: what it was before the step, or where nobody knows, plainly without it.

    Modes that others have added meanwhile stay.
    """
    known = dict(before or {})
    wanted: dict[Step, dict[str, Any]] = {
        Step.SHARED: {
            "sharing": known.get("sharing", False),
            "modes": _without(setup.modes, SOFT, known.get("modes", ())),
        },
        Step.SLICES: {
            "modes": _without(setup.modes, (*CUTS.values(), "vgpu"), known.get("modes", ()))
        },
        Step.BATCH: {"lending": known.get("lending", False)},
        Step.MIXING: {"policy": known.get("policy", PLAIN)},
        Step.PREEMPTION: {"preemption": known.get("preemption", False)},
    }
    columns = wanted.get(step, {})
    if before is not None:
        columns = {name: value for name, value in columns.items() if name in before}
    return _changed(columns, setup)


def _with(modes: list[str], more: Iterable[str]) -> list[str]:
    return modes if set(more) & set(modes) else [*modes, *more]


def _without(modes: Iterable[str], taken: Iterable[str], kept: Iterable[str]) -> list[str]:
    """Whole cards stay on offer where nothing else would."""
    gone = set(taken) - set(kept)
    return [one for one in modes if one not in gone] or [Mode.WHOLE.value]


def _changed(wanted: Mapping[str, Any], setup: Setup) -> dict[str, Any]:
    now = {
        "modes": list(setup.modes),
        "sharing": setup.sharing,
        "lending": setup.lending,
        "preemption": setup.preemption,
        "policy": setup.policy,
    }
    return {name: value for name, value in wanted.items() if now[name] != value}

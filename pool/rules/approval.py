"""Who has to say yes: the steps of a request by its size, duration, weights and partitions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pool.lifecycle.roles import Role
from pool.rules.problems import Problem, Problems
from pool.rules.problems import marked as _

DECIDERS = (Role.LEAD, Role.ORG_ADMIN, Role.PLATFORM_ADMIN)
"""Roles that can be a step, weakest first; a stronger one may always act for a weaker one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a policy looks at: cards (card equivalents), days, and plain named weights."""

    cards: float
    days: float
    reserved: bool = False
    partitions: frozenset[str] = frozenset()
    weights: Mapping[str, float] = field(default_factory=dict)

    def measure(self, name: str) -> float:
        """The measured value of a name; a weight nobody gave is unknown, and passes every limit."""
        if name == "cards":
            return self.cards
        return self.days if name == "days" else float(self.weights.get(name, math.inf))


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A role that must say yes: always, or when one of its conditions is met.

    `above` maps a measure to the value that must be passed; `partitions` are those that always
    need this step; `reserved` asks for it when the lease is paid from the start.
    """

    role: Role
    above: Mapping[str, float] = field(default_factory=dict)
    partitions: frozenset[str] = frozenset()
    reserved: bool = False

    def needed(self, asked: Asked) -> bool:
        """Whether this request has to pass here."""
        if not self.above and not self.partitions and not self.reserved:
            return True
        return (
            any(asked.measure(name) > limit for name, limit in self.above.items())
            or bool(self.partitions & asked.partitions)
            or (self.reserved and asked.reserved)
        )


DEFAULT_POLICY = (
    Step(role=Role.LEAD),
    Step(role=Role.ORG_ADMIN, above={"cards": 8, "days": 14, "cost": 5000}, reserved=True),
    Step(role=Role.PLATFORM_ADMIN, above={"cards": 32, "days": 60}),
)


def steps_for(policy: Sequence[Step], asked: Asked) -> tuple[Role, ...]:
    """The steps of one request, weakest role first, each once; never none."""
    needed = {step.role for step in policy if step.needed(asked)}
    return tuple(role for role in DECIDERS if role in needed) or (Role.LEAD,)


def may_decide(step: str, roles: frozenset[Role]) -> bool:
    """Whether one of the roles, held where the request lives, is enough for the step."""
    least = DECIDERS.index(Role(step))
    return any(role in roles for role in DECIDERS[least:])


def policy_from(given: Any) -> tuple[Step, ...]:
    """A template's own policy, or the default when it has none. Raises Problems.

    As JSON: {"steps": [{"role": "lead"}, {"role": "org_admin", "above": {"cost": 100}}]}.
    """
    if not given:
        return DEFAULT_POLICY
    steps = given.get("steps") if isinstance(given, Mapping) else None
    if not isinstance(steps, (list, tuple)) or not steps or set(given) != {"steps"}:
        raise Problems({"approval": Problem(_("A policy is a list of steps."))})
    return tuple(_step(one) for one in steps)


def _step(given: Any) -> Step:
    if not isinstance(given, Mapping) or given.get("role") not in DECIDERS:
        known = ", ".join(DECIDERS)
        raise Problems(
            {"approval": Problem(_("A step's role is one of: %(known)s."), {"known": known})}
        )
    above, partitions = given.get("above", {}), given.get("partitions", [])
    strange = set(given) - {"role", "above", "partitions", "reserved"}
    if strange or not _limits(above) or not _slugs(partitions):
        raise Problems({"approval": Problem(_("A step knows: role, above, partitions, reserved."))})
    return Step(
        role=Role(given["role"]),
        above=dict(above),
        partitions=frozenset(partitions),
        reserved=given.get("reserved") is True,
    )


def _limits(above: Any) -> bool:
    return isinstance(above, Mapping) and all(
        isinstance(name, str)
        and isinstance(limit, (int, float))
        and not isinstance(limit, bool)
        and 0 <= limit < float("inf")
        for name, limit in above.items()
    )


def _slugs(partitions: Any) -> bool:
    return isinstance(partitions, (list, tuple)) and all(isinstance(p, str) for p in partitions)

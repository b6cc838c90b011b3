"""PURE: the change of a template's size that its corner calls for, ready to be looked at."""

import math
from collections.abc import Mapping
from typing import Any

from pool.rules.planning.scatter import FULL_MILLI, Corner, Dot

STEP_MILLI = 10
"""Compute is asked for in whole per cent."""


def prepared_size(dot: Dot, need: Mapping[str, Any]) -> dict[str, int]:
    """Memory (`memory_gb`) and compute (`compute_milli`) of which 80 % would have been used.

    Only what shrinks is named; nothing where the corner calls for nothing, or where the need does
    not say how much of that it wants: a whole card has no smaller size to begin from.
    """
    found: dict[str, int] = {}
    if need.get("whole"):
        return found
    if dot.corner in {Corner.FEWER, Corner.SMALLER} and dot.memory_milli is not None:
        found |= _shrunk("memory_gb", need, dot.memory_milli, 1)
    if dot.corner in {Corner.RECUT, Corner.SMALLER} and dot.compute_milli is not None:
        found |= _shrunk("compute_milli", need, dot.compute_milli, STEP_MILLI)
    return found


def _shrunk(name: str, need: Mapping[str, Any], used_milli: int, step: int) -> dict[str, int]:
    now = need.get(name)
    if not isinstance(now, int) or isinstance(now, bool):
        return {}
    wanted = max(step, math.ceil(now * used_milli / FULL_MILLI / step) * step)
    return {name: wanted} if wanted < now else {}

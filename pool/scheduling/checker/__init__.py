"""The plan checker, written apart from the planner: what must hold of every plan."""

from pool.scheduling.checker.check import check

__all__ = ["check"]

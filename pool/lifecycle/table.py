"""One small shape for every state machine of the pool."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

S = TypeVar("S", bound=StrEnum)


@dataclass(frozen=True)
class Lifecycle(Generic[S]):
    """`moves` is the whole machine: from a state to the states that may follow it.

    `passing` names the transitional states, each with the rule of its deadline in words; the watch
    ends what is past it. Every other state may last for ever. `also_first` names further states in
    which a life may begin.
    """

    name: str
    first: S
    moves: Mapping[S, frozenset[S]]
    passing: Mapping[S, str] = field(default_factory=dict)
    also_first: frozenset[S] = frozenset()

    def allows(self, now: S, then: S) -> bool:
        """Is there an arrow from `now` to `then`?"""
        return then in self.moves[now]

    @property
    def final(self) -> frozenset[S]:
        """States without a way out."""
        return frozenset(s for s, after in self.moves.items() if not after)

    @property
    def live(self) -> frozenset[S]:
        """States with a way out."""
        return frozenset(self.moves) - self.final

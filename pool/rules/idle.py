"""PURE: is a notebook idle, how long has it been, and what follows (requirements N1 to N3).

Time counts only where it is known that nothing moved. An agent that is away, a gap in the readings
or a step of a clock add nothing; whatever moves sets the count back to zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from nodeagent.protocol.vocabulary import Fidelity
from pool.lifecycle.idleness import IDLE_SECONDS, KEEPS, WARN_MINUTES, IdleAction, Verdict

MOVED_S = 30.0
"""What moved less than so long ago moves now: notebooks are looked at every few seconds."""

FRESH_S = 60.0
"""Word of a node that is older than this says nothing about now."""

SM_PERCENT = 3.0
"""Below this much of its card's compute a notebook's SM use is nothing."""

CPU_CORES = 0.2
DISK_MIB_S = 0.2
NET_MIB_S = 0.05
"""Below these a process tree is flat: a page that only lies open stays below them."""

BLURRED = frozenset({"cpu", "disk"})
"""Signals that the look of somebody else moves, too."""

MEMORY_SHARE = 0.05
"""From this part of its slice's memory on, card memory counts as held."""

MEMORY_MOVES_MIB = 16.0
"""Memory that changed by more than this in the last minutes is not constant."""

VIEWED_S = 20.0
"""What processors and disk did within so long after somebody else looked at its files may be that
look: it neither counts as use nor as quiet."""

LEAST_NOTICE_S = 120.0
"""Nobody is reclaimed without a warning that stood for so long, whatever the clocks did."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What is allowed. Seconds and minutes."""

    idle_s: int = IDLE_SECONDS
    warn_minutes: tuple[int, ...] = WARN_MINUTES
    keeps: int = KEEPS
    action: str = IdleAction.RECLAIM
    busy_counts: bool = True
    cpu_counts: bool = True
    quiet_from: int | None = None
    quiet_until: int | None = None

    def quiet(self, minute: int) -> bool:
        """Whether letters rest in this minute of the owner's day; a night may pass midnight."""
        if self.quiet_from is None or self.quiet_until is None:
            return False
        if self.quiet_from <= self.quiet_until:
            return self.quiet_from <= minute < self.quiet_until
        return minute >= self.quiet_from or minute < self.quiet_until


@dataclass(frozen=True, slots=True)
class Signals:
    """What is known of one notebook now; None is unknown, never 0.

    `age_s` is how old the node's word is. Memory and SM are means of the last minutes over its
    slices; `sm_fidelity` is unavailable where the card has no such counter for a part of itself.
    `viewed_ago_s` is how long ago somebody else last looked at its files.
    """

    age_s: float | None
    busy: int | None = None
    kernel_quiet_s: float | None = None
    terminals: int | None = None
    terminal_quiet_s: float | None = None
    jobs: int | None = None
    input_ago_s: float | None = None
    cpu_cores: float | None = None
    disk_mib_s: float | None = None
    net_mib_s: float | None = None
    sm_percent: float | None = None
    sm_fidelity: str = Fidelity.MEASURED
    memory_mib: float | None = None
    memory_range_mib: float | None = None
    slice_mib: float | None = None
    has_slice: bool = True
    viewed_ago_s: float | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """One signal and what it says. `moves` None: it is not known."""

    signal: str
    moves: bool | None
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Counted:
    """What the last judgement left: counted quiet seconds, and the last warning in minutes."""

    quiet_s: float = 0.0
    warned: int | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict with what decided it, and what is to be done now."""

    verdict: Verdict
    quiet_s: float
    limit_s: int
    evidence: tuple[Evidence, ...]
    warned: int | None = None
    warn: int | None = None
    over: bool = False

    @property
    def left_s(self) -> float:
        """Seconds until the end, if nothing moves."""
        return max(self.limit_s - self.quiet_s, 0.0)


def judge(signals: Signals, rule: Rule, before: Counted, elapsed_s: float) -> Judgement:
    """Judge one notebook that is ready. `elapsed_s` is the known time since the last judgement."""
    second = signals.has_slice and signals.sm_fidelity == Fidelity.UNAVAILABLE
    evidence = tuple(_evidence(signals, rule, second))
    limit = rule.idle_s * (2 if second else 1)
    verdict = _verdict(signals, evidence, second)
    if verdict is Verdict.UNKNOWN:
        return Judgement(verdict, before.quiet_s, limit, evidence, before.warned)
    if verdict is Verdict.ACTIVE:
        return Judgement(verdict, 0.0, limit, evidence)
    quiet, warned, warn = _counted(rule, before, before.quiet_s + max(elapsed_s, 0.0), limit)
    over = quiet >= limit and warn is None
    return Judgement(verdict, quiet, limit, evidence, warned, warn, over)


def _counted(
    rule: Rule, before: Counted, quiet: float, limit: int
) -> tuple[float, int | None, int | None]:
    """Quiet seconds, the last warning, and the one to give now. A leap leaves time to answer."""
    last = round(LEAST_NOTICE_S / 60)
    levels = {m for m in rule.warn_minutes if last < m and m * 60 < limit} | {last}
    unwarned = before.warned is None or before.warned > last
    if unwarned:
        quiet = min(quiet, limit - LEAST_NOTICE_S)
    left = limit - quiet
    due = [m for m in levels if left <= m * 60 and (before.warned is None or m < before.warned)]
    if due and left > 0:
        return quiet, min(due), min(due)
    return quiet, before.warned, None


def _verdict(signals: Signals, evidence: Sequence[Evidence], second: bool) -> Verdict:
    """Movement that is known beats what is not; then the unknown keeps anybody from judging."""
    if signals.age_s is None or signals.age_s > FRESH_S:
        return Verdict.UNKNOWN
    if any(one.moves for one in evidence):
        return Verdict.ACTIVE
    if any(
        one.moves is None and one.value is not None for one in evidence if one.signal in BLURRED
    ):
        return Verdict.UNKNOWN
    needed = {"kernel", "sm"} if not second else {one.signal for one in evidence} - {"sm"}
    if not signals.has_slice:
        needed -= {"sm", "memory"}
    if any(one.moves is None for one in evidence if one.signal in needed):
        return Verdict.UNKNOWN
    return Verdict.HOLDING if holds_memory(signals) else Verdict.IDLE


def holds_memory(signals: Signals) -> bool:
    """Whether it holds so much of its slice's memory that others may miss it."""
    if signals.memory_mib is None or not signals.slice_mib:
        return False
    return signals.memory_mib >= MEMORY_SHARE * signals.slice_mib


def _evidence(signals: Signals, rule: Rule, second: bool) -> list[Evidence]:
    """Every signal, whether it moves. The second rule, without SM, asks more of them."""
    one = signals
    found = [
        Evidence("kernel", _kernel(one, rule), one.busy),
        Evidence("terminal", _recent(one.terminal_quiet_s) if one.terminals else False),
        Evidence("input", _recent(one.input_ago_s) or False, one.input_ago_s),
        Evidence("sm", None if second else _over(one.sm_percent, SM_PERCENT), one.sm_percent),
        Evidence("net", _over(one.net_mib_s, NET_MIB_S), one.net_mib_s),
    ]
    if rule.cpu_counts or second:
        found += [
            Evidence("cpu", _own(one, one.cpu_cores, CPU_CORES), one.cpu_cores),
            Evidence("disk", _own(one, one.disk_mib_s, DISK_MIB_S), one.disk_mib_s),
        ]
    if second:
        found += [
            Evidence("jobs", None if one.jobs is None else one.jobs > 0, one.jobs),
            Evidence("memory", _over(one.memory_range_mib, MEMORY_MOVES_MIB), one.memory_mib),
        ]
    if not one.has_slice:
        found = [each for each in found if each.signal not in ("sm", "memory")]
    return found


def _kernel(signals: Signals, rule: Rule) -> bool | None:
    """A kernel executes, or has just done so; where busy does not count, only what it moves."""
    if signals.busy is None:
        return None
    if signals.busy:
        return rule.busy_counts
    return _recent(signals.kernel_quiet_s)


def _recent(ago_s: float | None) -> bool | None:
    return None if ago_s is None else ago_s < MOVED_S


def _own(signals: Signals, value: float | None, most: float) -> bool | None:
    """Whether it moves by itself; not known while it may be the look of somebody else."""
    moves = _over(value, most)
    viewed = signals.viewed_ago_s
    seen = viewed is not None and viewed - (signals.age_s or 0.0) < VIEWED_S
    return None if moves and seen else moves


def _over(value: float | None, most: float) -> bool | None:
    return None if value is None else value >= most

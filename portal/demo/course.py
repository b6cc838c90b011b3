"""How busy one run is, second by second: it follows from the work; nothing is drawn by chance."""

from dataclasses import dataclass

WARM_S = 120.0
"""Starting, reading data, filling the memory."""

SAVE_S = 40.0
"""Writing one checkpoint."""

TURN_S, CHECK_S = 2700.0, 240.0
"""After so much work the result is checked for so long: an epoch of training, a batch of files."""

WARM, SAVE, CHECK = 0.2, 0.15, 0.55
"""So much of its usual use a run shows meanwhile."""

EMPTY = 0.3
"""So much of its memory it holds on the average while it starts."""

IDLE = 0.4
"""Per cent of use that nobody causes: what a forgotten notebook shows."""


@dataclass(frozen=True, slots=True)
class Course:
    """One run. Times in seconds since the epoch; from `quiet_s` on nobody uses it.

    `busy` and `full` are per cent of its share of compute and memory at its usual work, `save_s`
    the time between two checkpoints, None without.
    """

    begin_s: float
    quiet_s: float
    busy: float
    full: float
    save_s: float | None = None

    def use(self, since_s: float, until_s: float) -> tuple[float, float]:
        """Use of compute, mean and most, in per cent. Spans that lie end to end sum up exactly."""
        length = until_s - since_s
        idle = max(0.0, until_s - max(since_s, self.quiet_s))
        a, b = since_s - self.begin_s, min(until_s, self.quiet_s) - self.begin_s
        if b <= a:
            return IDLE, IDLE
        warm = max(0.0, min(b, WARM_S) - max(a, 0.0))
        rest = max(a, WARM_S)
        save = _ends(rest, b, self.save_s, SAVE_S) if self.save_s else 0.0
        check = _ends(rest, b, TURN_S, CHECK_S)
        lost = warm * (1 - WARM) + save * (1 - SAVE) + check * (1 - CHECK)
        worked = max(0.05 * (b - a), (b - a) - lost)
        most = self.busy if warm + save + check < b - a else self.busy * worked / (b - a)
        return (worked * self.busy + idle * IDLE) / length, most

    def held(self, since_s: float, until_s: float) -> float:
        """Memory in use, in per cent of its share, on the average."""
        a, b = since_s - self.begin_s, until_s - self.begin_s
        warm = max(0.0, min(b, WARM_S) - max(a, 0.0))
        return self.full * (1 - (1 - EMPTY) * warm / (b - a))


def _ends(since_s: float, until_s: float, every_s: float, length_s: float) -> float:
    """How much of a span lies in the last `length_s` of each period of `every_s`."""

    def upto(at_s: float) -> float:
        whole, part = divmod(at_s, every_s)
        return whole * length_s + max(0.0, part - (every_s - length_s))

    return upto(until_s) - upto(since_s) if until_s > since_s else 0.0

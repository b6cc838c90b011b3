"""Pure: what the numbers of a workload or card point to. A table of hints, each with its numbers.

A hint holds when every one of its conditions is known and true: what is unknown points to nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pool.rules.problems import marked as _

Figures = Mapping[str, float | None]

UNITS: Mapping[str, str] = {
    "util": "%",
    "sm": "%",
    "occupancy": "%",
    "memory": "%",
    "bandwidth": "%",
    "cpu": "%",
    "util_low": "%",
    "util_high": "%",
    "rank_high": "%",
    "rank_low": "%",
    "dips_writing": "%",
    "jitter": "%",
    "throttle": "%",
    "power": "%",
    "temperature": "°C",
    "quiet": "s",
    "peak_mib": "MiB",
    "asked_mib": "MiB",
}
"""Units of the figures; others are counts."""

LABELS: Mapping[str, str] = {
    "util": _("GPU utilisation"),
    "sm": _("SM activity"),
    "occupancy": _("SM occupancy"),
    "memory": _("memory in use"),
    "bandwidth": _("memory bandwidth"),
    "cpu": _("CPU in use"),
    "util_low": _("low tenth of utilisation"),
    "util_high": _("high tenth of utilisation"),
    "swings": _("swings an hour"),
    "dips": _("drops an hour"),
    "dips_writing": _("drops with disk writes"),
    "rank_high": _("busiest rank"),
    "rank_low": _("idlest rank"),
    "jitter": _("spread of throughput"),
    "neighbours": _("neighbours on the card"),
    "throttle": _("time slowed down"),
    "power": _("power, share of the limit"),
    "temperature": _("highest temperature"),
    "quiet": _("without output"),
    "preempted": _("told to leave"),
    "resets": _("driver resets and errors of the card"),
    "struck": _("failures beside a neighbour's"),
    "cuda_missing": _("lines that say CUDA is missing"),
    "oom": _("lines or ends that say memory is full"),
    "peak_mib": _("peak memory"),
    "asked_mib": _("memory asked for"),
}


@dataclass(frozen=True, slots=True)
class Hint:
    """One row: what it is, what it means, what to do; `when` are (figure, sign, number)."""

    key: str
    title: str
    why: str
    do: str
    when: tuple[tuple[str, str, float], ...]
    shows: tuple[str, ...] = ()


HINTS: tuple[Hint, ...] = (
    Hint(
        "bandwidth",
        _("Memory bandwidth is the limit"),
        _("The card is busy all the time with little memory in use: it waits for its memory."),
        _("Larger batches, fused kernels or lower precision help; a larger share does not."),
        (("util", ">=", 95), ("memory", "<", 50)),
        ("bandwidth", "sm"),
    ),
    Hint(
        "split",
        _("Memory is full, the card computes little"),
        _("The work needs memory and hardly any compute: much compute is paid for and idle."),
        _("Split it differently: a share with the same memory and less compute."),
        (("memory", ">=", 85), ("sm", "<", 15)),
    ),
    Hint(
        "starved",
        _("Low use: small batches or slow loading of data"),
        _("The card waits for work most of the time, and memory is not what holds it up."),
        _("Try larger batches and more loader processes, or ask for a smaller share."),
        (("util", "<", 30), ("memory", "<", 85)),
        ("cpu",),
    ),
    Hint(
        "loader",
        _("The data loader is the limit"),
        _("Use goes up and down like a saw while the CPU is busy: each batch is waited for."),
        _("More loader processes and cores, prefetching, or data prepared beforehand."),
        (("swings", ">=", 12), ("util_low", "<=", 20), ("util_high", ">=", 80), ("cpu", ">=", 70)),
    ),
    Hint(
        "checkpoints",
        _("Drops while checkpoints are written"),
        _("Use drops at intervals, and the disk writes each time."),
        _("Write them in the background, less often, or to a faster disk."),
        (("dips", ">=", 2), ("dips_writing", ">=", 60)),
    ),
    Hint(
        "ranks",
        _("Cards wait for each other"),
        _("One rank is busy and others are not: they wait for it, or for the network between."),
        _("Even out the work of the ranks; place them in one NVLink set; look at the slow one."),
        (("rank_high", ">=", 80), ("rank_low", "<=", 50)),
    ),
    Hint(
        "cuda",
        _("CUDA and the driver do not match"),
        _("The program found no usable card: its CUDA is newer than the driver of the node."),
        _("Take an environment built for this driver, or a node with a newer one."),
        (("cuda_missing", ">=", 1),),
    ),
    Hint(
        "oom",
        _("It ran out of card memory"),
        _("The peak came up to what was asked for."),
        _("Ask for a larger share, or take smaller batches."),
        (("oom", ">=", 1),),
        ("peak_mib", "asked_mib"),
    ),
    Hint(
        "neighbour",
        _("A neighbour disturbs it"),
        _("Throughput varies widely while others share the card without a wall between."),
        _("Ask for hardware isolation, or for a card of one's own."),
        (("jitter", ">=", 25), ("neighbours", ">=", 1)),
    ),
    Hint(
        "heat",
        _("The card is hot"),
        _("From 80 °C on cards slow down to protect themselves."),
        _("Operators look at fans, air and power limits of the node."),
        (("temperature", ">=", 80),),
        ("throttle",),
    ),
    Hint(
        "throttle",
        _("The card is slowed down"),
        _("Hardware, heat or power keep its clock low."),
        _("Operators look at the node; the work can go to another card."),
        (("throttle", ">=", 5),),
        ("temperature", "power"),
    ),
    Hint(
        "reset",
        _("The driver or the card failed"),
        _("The node told of errors of the card while this ran."),
        _("It is run again elsewhere; the card stays out until it is well."),
        (("resets", ">=", 1),),
    ),
    Hint(
        "struck",
        _("A neighbour's failure took it along"),
        _("It failed within seconds of other work on the same card."),
        _("The attempt is run again without using a retry, and is not charged."),
        (("struck", ">=", 1),),
    ),
    Hint(
        "stuck",
        _("It hangs after it was told to leave"),
        _("It was told to leave more than once, and since then neither computes nor writes."),
        _("Stop it and let it start from its last checkpoint; look at what it does on a signal."),
        (("preempted", ">=", 2), ("quiet", ">=", 600), ("sm", "<", 2)),
    ),
    Hint(
        "kernels",
        _("Many small kernels"),
        _("The card is busy by the clock, but few of its units have work at a time."),
        _("Larger batches, fused or captured kernels."),
        (("util", ">=", 80), ("occupancy", "<", 30)),
    ),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """A hint that holds, with the numbers behind it: (figure, value, sign and limit or "")."""

    hint: Hint
    numbers: tuple[tuple[str, float, str], ...]


def diagnose(figures: Figures) -> list[Finding]:
    """Every hint that holds, in the order of the table."""
    found = []
    for hint in HINTS:
        if all(_holds(figures.get(name), sign, limit) for name, sign, limit in hint.when):
            found.append(Finding(hint, _numbers(hint, figures)))
    return found


def _holds(value: float | None, sign: str, limit: float) -> bool:
    if value is None:
        return False
    return {">=": value >= limit, "<=": value <= limit, "<": value < limit}[sign]


def _numbers(hint: Hint, figures: Figures) -> tuple[tuple[str, float, str], ...]:
    told = [(name, figures.get(name), f"{sign} {limit:g}") for name, sign, limit in hint.when]
    told += [(name, figures.get(name), "") for name in hint.shows]
    return tuple((name, value, against) for name, value, against in told if value is not None)


LOW, HIGH = 20.0, 80.0


def swings(values: Sequence[float | None], seconds: float) -> float | None:
    """How often an hour the curve went from above HIGH to below LOW; None without two values."""
    known = [value for value in values if value is not None]
    if len(known) < 2 or seconds <= 0:
        return None
    count, high = 0, known[0] >= HIGH
    for value in known[1:]:
        if high and value <= LOW:
            count, high = count + 1, False
        elif value >= HIGH:
            high = True
    return count * 3600.0 / seconds


def dips(
    values: Sequence[float | None], writes: Sequence[float | None], seconds: float
) -> tuple[float | None, float | None]:
    """Drops an hour to below half of the usual value, and the share of them (per cent) during
    which the disk wrote more than usual.
    """
    known = sorted(value for value in values if value is not None)
    wrote = sorted(value for value in writes if value is not None)
    if len(known) < 3 or not wrote or seconds <= 0:
        return None, None
    usual, usual_write = known[len(known) // 2], wrote[len(wrote) // 2]
    count = writing = 0
    down = False
    for value, write in zip(values, writes, strict=True):
        if value is None:
            continue
        drop = usual >= 40 and value < usual / 2
        if drop and not down:
            count += 1
            writing += write is not None and write > max(1.0, 2 * usual_write)
        down = drop
    return count * 3600.0 / seconds, 100.0 * writing / count if count else None


def tenth(values: Iterable[float | None], part: float) -> float | None:
    """The value below which `part` (0 to 1) of the known ones lie."""
    known = sorted(value for value in values if value is not None)
    return known[min(len(known) - 1, int(part * len(known)))] if known else None


def mean(values: Iterable[float | None]) -> float | None:
    """Of the known ones."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def spread(values: Iterable[float | None]) -> float | None:
    """Standard deviation against the mean, in per cent; None with fewer than three values."""
    known = [value for value in values if value is not None]
    middle = mean(known)
    if len(known) < 3 or not middle:
        return None
    variance = sum((value - middle) ** 2 for value in known) / len(known)
    return float(100.0 * variance**0.5 / middle)

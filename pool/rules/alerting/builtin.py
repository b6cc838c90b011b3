"""Pure: the rules that every pool begins with. Each can be changed or switched off, not removed."""

from dataclasses import dataclass

from pool.rules.problems import marked as _

HOUR, DAY = 3600, 86_400


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """One rule. Times in seconds; `clear` is where it is well again, None: at the threshold."""

    slug: str
    name: str
    family: str
    severity: str
    metric: str
    scope: str
    aggregate: str
    window_s: int
    side: str
    threshold: float
    clear: float | None = None
    for_s: int = 0
    clear_s: int = 0
    held_only: bool = False
    enabled: bool = True


def _hardware(
    slug: str, name: str, severity: str, metric: str, *rest: object, **more: object
) -> BuiltIn:
    return BuiltIn(slug, name, "hardware", severity, metric, *rest, **more)  # type: ignore[arg-type]


def _performance(slug: str, name: str, metric: str, *rest: object, **more: object) -> BuiltIn:
    return BuiltIn(slug, name, "performance", "warning", metric, *rest, **more)  # type: ignore[arg-type]


BUILT_IN: tuple[BuiltIn, ...] = (
    _hardware("ecc", _("ECC errors"), "critical", "ecc", "card", "increase", 600, "above", 0),
    _hardware(
        *(
            "heat",
            _("Card is hot"),
            "critical",
            "temperature",
            "card",
            "max",
            60,
            "above",
            79.9,
            77,
        ),
        for_s=30,
        clear_s=60,
    ),
    _hardware(
        *(
            "throttle",
            _("Card is slowed down"),
            "warning",
            "throttle",
            "card",
            "mean",
            120,
            "above",
        ),
        *(25, 5),
        for_s=30,
        clear_s=60,
    ),
    _hardware(
        *("power", _("Little power while held"), "warning", "power_share", "card", "mean", 1800),
        *("below", 30, 33),
        clear_s=300,
        held_only=True,
    ),
    _hardware(
        *("node-health", _("Cards of a node not OK"), "critical", "unhealthy", "node", "last", 60),
        *("above", 50),
        for_s=60,
        clear_s=60,
    ),
    _performance(
        *("util", _("Little use"), "util", "card", "p95", 7 * DAY, "below", 20, 22), clear_s=HOUR
    ),
    _performance(
        *("occupancy", _("Low SM occupancy"), "occupancy", "card", "mean", HOUR, "below", 30, 33),
        for_s=900,
        clear_s=900,
        held_only=True,
    ),
    _performance(
        *("memory", _("Memory nearly full"), "memory", "card", "mean", 600, "above", 90, 88),
        for_s=300,
        clear_s=300,
    ),
    _performance(
        *("queue-wait", _("Work waits long"), "queue_wait", "project", "last", 60, "above", 3600),
        clear_s=30,
    ),
    _performance(
        *("band-high", _("No room for bursts"), "util", "partition", "mean", DAY, "above", 85, 82),
        clear_s=HOUR,
    ),
    _performance(
        *("band-low", _("Partition little used"), "util", "partition", "mean", 7 * DAY, "below"),
        *(20, 22),
        clear_s=HOUR,
        enabled=False,
    ),
)

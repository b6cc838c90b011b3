"""The number of an alert over the last hours, with the line it must not cross, as plain SVG."""

from dataclasses import dataclass
from datetime import timedelta

from pool.clock import now
from pool.models import Alert, Card
from pool.models.telemetry.rollups import PLACE
from pool.rules.alerting.metrics import METRICS
from pool.selectors.telemetry.series import series_of

WIDE, HIGH, EDGE = 640, 160, 6


@dataclass(frozen=True, slots=True)
class Picture:
    """Polylines (gaps stay gaps) and the height of the threshold, in the picture's own units."""

    wide: int
    high: int
    pieces: tuple[str, ...]
    limit: float | None
    top: float
    hours: int


def picture_of(alert: Alert) -> Picture | None:
    """Of a card's metric; None for everything else, or where nothing was measured."""
    noun, _colon, uid = alert.subject.partition(":")
    if alert.rule is None or noun != "card":
        return None
    metric = METRICS[alert.rule.metric]
    card = Card.objects.filter(uid=uid).first()
    if card is None or metric.column not in PLACE:
        return None
    hours = 4 if alert.rule.window_seconds < 14_400 else 24 * 7
    until = now() if alert.state != "resolved" else alert.state_since
    since = until - timedelta(hours=hours)
    found = series_of(since=since, until=until, metrics=[metric.column], card=card.pk)
    scale = {"": 1.0, "memory": 100.0 / card.memory_mib, "tdp": 100.0 / (card.tdp_w or 100)}
    factor = scale[metric.of]
    points = [(at, mean[0]) for at, mean, _peak in found.points]
    values = [value * factor for _at, value in points if value is not None]
    if not values:
        return None
    top = max(*values, (alert.threshold or 0.0) * 1.1, 1.0)
    length = (until - since).total_seconds()

    def height(value: float) -> float:
        return round(HIGH - EDGE - value / top * (HIGH - 2 * EDGE), 1)

    pieces: list[list[str]] = [[]]
    last = since
    for at, value in points:
        if value is None or (at - last).total_seconds() > 3 * found.step:
            pieces.append([])
        if value is not None:
            x = round((at - since).total_seconds() / length * WIDE, 1)
            pieces[-1].append(f"{x},{height(value * factor)}")
            last = at
    drawn = tuple(" ".join(one) for one in pieces if one)
    limit = None if alert.threshold is None else height(alert.threshold)
    return Picture(WIDE, HIGH, drawn, limit, top, hours)

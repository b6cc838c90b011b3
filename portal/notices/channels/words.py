"""An alert in words: titles in the reader's language, numbers with their units, where it leads."""

from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from pool.models.alerts import Alert
from pool.rules.alerting.metrics import METRICS
from pool.rules.alerting.terms import Word
from portal.notices.channels.formats import Item
from portal.templatetags.units import duration

METRIC_WORDS = {
    "util": gettext_lazy("GPU utilisation"),
    "sm": gettext_lazy("SM activity"),
    "occupancy": gettext_lazy("SM occupancy"),
    "memory": gettext_lazy("memory in use"),
    "bandwidth": gettext_lazy("memory bandwidth"),
    "power_share": gettext_lazy("power, share of the limit"),
    "power": gettext_lazy("power"),
    "temperature": gettext_lazy("temperature"),
    "nvlink": gettext_lazy("NVLink traffic"),
    "pcie": gettext_lazy("PCIe traffic"),
    "ecc": gettext_lazy("new ECC errors"),
    "throttle": gettext_lazy("time slowed down"),
    "queue_wait": gettext_lazy("longest wait in the queue"),
    "unhealthy": gettext_lazy("cards not OK"),
    "held": gettext_lazy("cards held"),
}
UNIT_WORDS = {"errors": gettext_lazy("errors")}
FAMILY_WORDS = {
    "hardware": gettext_lazy("Hardware"),
    "performance": gettext_lazy("Performance"),
    "workload": pgettext_lazy("alert family", "Workload"),
    "books": pgettext_lazy("alert family", "Books"),
}
SEVERITY_WORDS = {
    "info": pgettext_lazy("severity", "Note"),
    "warning": pgettext_lazy("severity", "Warning"),
    "critical": pgettext_lazy("severity", "Critical"),
}


def number_words(metric: str, value: float | None) -> str:
    """A value with its unit; a dash where it is unknown."""
    if value is None:
        return "–"
    unit = METRICS[metric].unit if metric in METRICS else ""
    if unit == "s":
        return str(duration(value))
    shown = f"{value:.1f}".rstrip("0").rstrip(".") if abs(value) < 1000 else f"{value:,.0f}"
    return f"{shown} {UNIT_WORDS.get(unit, unit)}".strip()


def title_of(alert: Alert) -> str:
    """The rule's name and the thing's, or the title that the pool gave."""
    if alert.rule is None:
        return alert.title
    name = str(alert.detail.get("name", ""))
    return f"{_(alert.rule.name)}: {name}" if name else _(alert.rule.name)


def sentence_of(alert: Alert) -> str:
    """The title with the number that it is about."""
    if alert.rule is None or alert.value is None:
        return title_of(alert)
    metric = alert.rule.metric
    return _("%(title)s – %(metric)s %(value)s, limit %(limit)s") % {
        "title": title_of(alert),
        "metric": METRIC_WORDS[metric],
        "value": number_words(metric, alert.value),
        "limit": number_words(metric, alert.threshold),
    }


def item_of(alert: Alert, word: str) -> Item:
    """The alert for a receiver."""
    over = word == Word.RESOLVED
    said = sentence_of(alert)
    labels: dict[str, Any] = {}
    if alert.project is not None:
        labels["project"] = alert.project.slug
    name = str(alert.detail.get("name", ""))
    if name:
        labels["name"] = name
    return Item(
        uid=alert.uid,
        word=word,
        family=alert.family,
        severity=alert.severity,
        rule=alert.rule.slug if alert.rule is not None else "",
        subject=alert.subject,
        title=title_of(alert),
        text=_("Over: %(title)s") % {"title": title_of(alert)} if over else said,
        url=settings.PUBLIC_URL.rstrip("/") + reverse("alert", args=[alert.uid]),
        started_at=alert.fired_at or alert.first_seen_at,
        ended_at=alert.state_since if over else None,
        value=alert.value,
        threshold=alert.threshold,
        labels=labels,
    )

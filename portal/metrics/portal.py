"""The portal about itself for Prometheus: alerts, words on their way, logins, how fresh all is."""

from collections.abc import Iterable

from django.contrib.sessions.models import Session
from django.db.models import Count, Q
from django.utils import timezone
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from pool.lifecycle.alerts import AlertState
from pool.models import Alert, AlertDelivery, Installation
from pool.models.approvals.notices import NoticeDelivery
from pool.selectors.events import event_newest
from pool.selectors.telemetry.latest import readings_age_s

OPEN = Q(sent_at=None, given_up_at=None)


class Portal(Collector):
    """Seven small queries a scrape, from the books: any process gives the same answer."""

    def collect(self) -> Iterable[Metric]:
        """Every family, in a fixed order."""
        yield _alerts()
        yield _words()
        yield GaugeMetricFamily(
            "gpupool_sessions",
            "Logins that are not over.",
            value=Session.objects.filter(expire_date__gt=timezone.now()).count(),
        )
        yield CounterMetricFamily(
            "gpupool_events", "Events in the log so far.", value=event_newest()
        )
        done = Installation.objects.values_list("round_wanted", "round_done").get()
        yield GaugeMetricFamily(
            "gpupool_rounds_behind",
            "Changes of the queue that no round has seen yet.",
            value=max(0, done[0] - done[1]),
        )
        age = readings_age_s()
        if age is not None:
            yield GaugeMetricFamily(
                "gpupool_readings_age_seconds", "Since anything was measured.", value=age
            )


def _alerts() -> Metric:
    family = GaugeMetricFamily(
        "gpupool_alerts", "Alerts that are not over.", labels=["family", "severity", "state"]
    )
    rows = Alert.objects.exclude(state=AlertState.RESOLVED)
    for *named, count in (
        rows.values_list("family", "severity", "state").annotate(n=Count("pk")).order_by()
    ):
        family.add_metric(named, count)
    return family


def _words() -> Metric:
    family = GaugeMetricFamily(
        "gpupool_deliveries",
        "Words of alerts and letters to people: on their way, or given up.",
        labels=["of", "state"],
    )
    alerts = AlertDelivery.objects.filter(dropped_at=None)
    for of, rows in (("alerts", alerts), ("letters", NoticeDelivery.objects.all())):
        counts = rows.aggregate(
            waiting=Count("pk", filter=OPEN),
            dead=Count("pk", filter=Q(given_up_at__isnull=False)),
        )
        for state in ("waiting", "dead"):
            family.add_metric([of, state], counts[state])
    return family

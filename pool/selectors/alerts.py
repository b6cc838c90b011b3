"""Alerts, silences and rules that a person may see."""

from django.db.models import CharField, Q, QuerySet, Value
from django.db.models.functions import Concat

from pool.models.alerting.rules import AlertSilence
from pool.models.alerts import Alert
from pool.models.tenants import Project
from pool.models.workloads import Workload
from pool.selectors.memberships import Standing


def alert_list(*, standing: Standing) -> QuerySet[Alert]:
    """All of them for a platform admin; otherwise those about work and teams one may read."""
    rows = Alert.objects.select_related("rule", "project").order_by("-pk")
    if standing.platform:
        return rows
    mine = Workload.objects.filter(standing.sees()).annotate(
        subject=Concat(Value("workload:"), "uid", output_field=CharField())
    )
    return rows.filter(
        Q(subject__in=mine.values("subject")) | standing.sees() & Q(project__isnull=False)
    )


def alert_project(alert: Alert) -> Project | None:
    """Whose alert it is; None where it is the pool's."""
    noun, _colon, uid = alert.subject.partition(":")
    if alert.project is None and noun == "workload":
        work = Workload.objects.filter(uid=uid).select_related("project").first()
        return work.project if work is not None else None
    return alert.project


def silence_list(*, standing: Standing) -> QuerySet[AlertSilence]:
    """All for a platform admin; otherwise those about one's own teams."""
    rows = AlertSilence.objects.select_related("rule", "project").order_by("-pk")
    if standing.platform:
        return rows
    return rows.filter(standing.sees() & Q(project__isnull=False))

"""Alerts that a person may see."""

from django.db.models import CharField, QuerySet, Value
from django.db.models.functions import Concat

from pool.models.alerts import Alert
from pool.models.workloads import Workload
from pool.selectors.memberships import Standing


def alert_list(*, standing: Standing) -> QuerySet[Alert]:
    """All of them for a platform admin; otherwise those about work that one may read."""
    if standing.platform:
        return Alert.objects.order_by("-pk")
    mine = Workload.objects.filter(standing.sees()).annotate(
        subject=Concat(Value("workload:"), "uid", output_field=CharField())
    )
    return Alert.objects.filter(subject__in=mine.values("subject")).order_by("-pk")

"""What the work of each version of a template cost, for those who look after it."""

from datetime import timedelta

from django.db.models import Sum

from billing.models.usage import Usage
from pool.clock import now
from pool.models.templates import Template

DAYS = 28


def cost_by_version(*, template: Template) -> dict[int, tuple[int, str]]:
    """By version: millionths of a currency in 28 days, and which; the largest where several."""
    rows = (
        Usage.objects.filter(
            workload__template_version__template=template,
            starts_at__gte=now() - timedelta(days=DAYS),
        )
        .order_by()
        .values("workload__template_version", "currency")
        .annotate(sum=Sum("amount_micro"))
        .order_by("sum")
    )
    return {
        row["workload__template_version"]: (int(row["sum"] or 0), row["currency"]) for row in rows
    }

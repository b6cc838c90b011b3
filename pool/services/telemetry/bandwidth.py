"""Learn how heavy work is on memory bandwidth where its template leaves that to be measured."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from pool.clock import now
from pool.events import SYSTEM, record
from pool.lifecycle.events import EventKind
from pool.models.telemetry.learned import LearnedBandwidth
from pool.models.templates import TemplateVersion
from pool.rules.learning.bandwidth import learned
from pool.selectors.telemetry.bandwidth import runs_measured


@transaction.atomic
def bandwidth_learn() -> int:
    """Judge the finished runs of the last weeks anew; how many classes are known from them.

    A class that turns is an event of its template. Work already placed keeps its place; the next
    round counts it by the new class. Safe to repeat, or beside itself.
    """
    at = now()
    rows = [
        LearnedBandwidth(
            version_id=version,
            owner_id=owner,
            heavy=found.heavy,
            runs=found.runs,
            heavy_runs=found.heavy_runs,
            percent=found.percent,
            learned_at=at,
        )
        for (version, owner), runs in sorted(runs_measured().items(), key=_by_key)
        if (found := learned(runs)) is not None
    ]
    common = {row.version_id: row for row in rows if row.owner_id is None}
    before = dict(
        LearnedBandwidth.objects.filter(version__in=common, owner=None).values_list(
            "version", "heavy"
        )
    )
    LearnedBandwidth.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["version", "owner"],
        update_fields=["heavy", "runs", "heavy_runs", "percent", "learned_at"],
    )
    turned = {
        key: f"{row.heavy_runs} of {row.runs} measured runs were heavy on memory bandwidth"
        for key, row in common.items()
        if before.get(key, False) != row.heavy
    }
    _tell(turned | _forgotten(at))
    return len(rows)


def _forgotten(at: datetime) -> dict[int, str]:
    """Drop what no run of the last weeks shows any more; the versions so light again."""
    gone = LearnedBandwidth.objects.filter(learned_at__lt=at)
    light = gone.filter(owner=None, heavy=True).values_list("version", flat=True)
    told = dict.fromkeys(light, "no run of the last weeks was measured")
    gone.delete()
    return told


def _tell(turned: Mapping[int, str]) -> None:
    for version in TemplateVersion.objects.filter(pk__in=turned).select_related("template"):
        record(
            EventKind.TEMPLATE_CHANGED,
            version.template,
            actor=SYSTEM,
            version=version.number,
            changed=["bandwidth"],
            reason=turned[version.pk],
        )


def _by_key(entry: tuple[tuple[int, int | None], object]) -> tuple[int, int]:
    (version, owner), _runs = entry
    return version, owner or 0

"""Measured values by the minute and by the hour, and which of them must be condensed again."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

ROLLED = (
    ("util", "util_mean", "util_max"),
    ("sm", "sm_mean", "sm_max"),
    ("occupancy", "occupancy_mean", "occupancy_mean"),
    ("memory_mib", "memory_mib_mean", "memory_mib_max"),
    ("bandwidth", "bandwidth_mean", "bandwidth_mean"),
    ("pcie_mib_s", "pcie_mib_s", "pcie_mib_s"),
    ("nvlink_mib_s", "nvlink_mib_s", "nvlink_mib_s"),
    ("power_w", "power_w_mean", "power_w_max"),
    ("temperature_c", "temperature_c_max", "temperature_c_max"),
    ("cpu_milli", "cpu_milli_mean", "cpu_milli_mean"),
    ("ram_mib", "ram_mib_mean", "ram_mib_mean"),
    ("disk_mib_s", "disk_mib_s", "disk_mib_s"),
    ("net_mib_s", "net_mib_s", "net_mib_s"),
    ("samples_s", "samples_s", "samples_s"),
    ("tokens_s", "tokens_s", "tokens_s"),
    ("queries_s", "queries_s", "queries_s"),
    ("latency_ms", "latency_ms", "latency_ms"),
)
"""Each condensed metric with the raw columns of its mean and of its peak. Rows keep their values in
arrays in this order: append only.
"""

METRICS = tuple(name for name, _mean, _peak in ROLLED)
PLACE = {name: place for place, name in enumerate(METRICS)}

MINUTE_S, HOUR_S = 60, 3600
BATCH_S = {MINUTE_S: 600, HOUR_S: 3600}
"""Minutes are condensed ten at a time, hours one by one."""


class Rollup(models.Model):
    """One card (slice None) or slice over one minute or hour, of one attempt or of none.

    `seconds` is the time that readings cover. The arrays follow METRICS: mean weighted by time,
    95th percentile of the readings (hours only), peak, and the seconds in which the metric was
    known. NULL is unknown, never 0: a gap stays a gap.
    """

    at = models.DateTimeField(primary_key=True)
    card_id = models.BigIntegerField()
    slice_id = models.BigIntegerField(null=True)
    attempt_id = models.BigIntegerField(null=True)
    seconds = models.FloatField()
    mean = ArrayField(models.FloatField(null=True))
    p95 = ArrayField(models.FloatField(null=True), null=True)
    peak = ArrayField(models.FloatField(null=True))
    known = ArrayField(models.FloatField())

    class Meta:
        abstract = True


class MinuteRollup(Rollup):
    """By the minute; days are dropped whole."""

    class Meta:
        managed = False
        db_table = "pool_rollup_minute"

    def __str__(self) -> str:
        return f"{self.card_id} at {self.at:%Y-%m-%d %H:%M}"


class HourRollup(Rollup):
    """By the hour; months are dropped whole."""

    class Meta:
        managed = False
        db_table = "pool_rollup_hour"

    def __str__(self) -> str:
        return f"{self.card_id} at {self.at:%Y-%m-%d %H}"


class RollupDue(models.Model):
    """A stretch of readings, when some of it came last, and when it was condensed last.

    `step` is MINUTE_S or HOUR_S. Times are the portal's own clock.
    """

    step = models.PositiveSmallIntegerField()
    at = models.DateTimeField()
    touched_at = models.DateTimeField()
    rolled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(name="rollup_due_once", fields=["step", "at"]),
        ]
        indexes = [models.Index(fields=["touched_at"], name="rollup_due_touched")]

    def __str__(self) -> str:
        return f"{self.step} s from {self.at:%Y-%m-%d %H:%M}"

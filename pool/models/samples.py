"""Measured values. The raw table is partitioned by day and filled by COPY; see migration 0002."""

from django.db import models

from pool.models.workloads import Attempt

WIDE = (
    "util_mean",
    "util_max",
    "sm_mean",
    "sm_max",
    "occupancy_mean",
    "memory_mib_mean",
    "memory_mib_max",
    "bandwidth_mean",
    "pcie_mib_s",
    "nvlink_mib_s",
    "power_w_mean",
    "power_w_max",
    "temperature_c_max",
    "cpu_milli_mean",
    "ram_mib_mean",
    "disk_mib_s",
    "net_mib_s",
    "encoder_mean",
    "decoder_mean",
    "ecc_corrected",
    "ecc_uncorrected",
    "throttle",
    "samples_s",
    "tokens_s",
    "queries_s",
    "latency_ms",
    "pcie_width",
    "pcie_generation",
)
"""Number columns of a raw row, in the order of the COPY; NULL is unknown, never 0.

ECC counts grow over the life of the card; `throttle` is the vendor's own bits of reasons; the four
from `samples_s` on are what the work says of itself, beside its first slice only. The PCIe link is
told as it is at the end of the row.
"""


class Sample(models.Model):
    """Ten seconds of one card (slice None) or one slice. Never changed; days are dropped whole."""

    at = models.DateTimeField(primary_key=True)
    card_id = models.BigIntegerField()
    slice_id = models.BigIntegerField(null=True)
    attempt_id = models.BigIntegerField(null=True)
    seconds = models.FloatField()
    util_mean = models.FloatField(null=True)
    util_max = models.FloatField(null=True)
    sm_mean = models.FloatField(null=True)
    sm_max = models.FloatField(null=True)
    occupancy_mean = models.FloatField(null=True)
    memory_mib_mean = models.FloatField(null=True)
    memory_mib_max = models.FloatField(null=True)
    bandwidth_mean = models.FloatField(null=True)
    pcie_mib_s = models.FloatField(null=True)
    nvlink_mib_s = models.FloatField(null=True)
    power_w_mean = models.FloatField(null=True)
    power_w_max = models.FloatField(null=True)
    temperature_c_max = models.FloatField(null=True)
    cpu_milli_mean = models.FloatField(null=True)
    ram_mib_mean = models.FloatField(null=True)
    disk_mib_s = models.FloatField(null=True)
    net_mib_s = models.FloatField(null=True)
    encoder_mean = models.FloatField(null=True)
    decoder_mean = models.FloatField(null=True)
    ecc_corrected = models.BigIntegerField(null=True)
    ecc_uncorrected = models.BigIntegerField(null=True)
    throttle = models.BigIntegerField(null=True)
    samples_s = models.FloatField(null=True)
    tokens_s = models.FloatField(null=True)
    queries_s = models.FloatField(null=True)
    latency_ms = models.FloatField(null=True)
    pcie_width = models.SmallIntegerField(null=True)
    pcie_generation = models.SmallIntegerField(null=True)
    fidelity = models.CharField(max_length=12)

    class Meta:
        managed = False
        db_table = "pool_sample"

    def __str__(self) -> str:
        return f"{self.card_id} at {self.at}"


class LogChunk(models.Model):
    """A piece of an attempt's output, at its byte offset in the whole stream of one rank."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="log_chunks")
    rank = models.PositiveSmallIntegerField(default=0)
    offset = models.BigIntegerField()
    size = models.PositiveIntegerField()
    text = models.TextField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["attempt", "rank", "offset"]
        constraints = [
            models.UniqueConstraint(name="log_chunk_once", fields=["attempt", "rank", "offset"]),
        ]

    def __str__(self) -> str:
        return f"{self.attempt_id}@{self.offset}"

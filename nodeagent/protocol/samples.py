"""Measured values and log text on their way to the portal."""

from msgspec import Struct

from nodeagent.protocol.vocabulary import Fidelity


class Reading(Struct, frozen=True, kw_only=True):
    """Ten seconds of one card, or of one slice when `slice` is set. None is unknown, never 0.

    Shares in per cent, memory in MiB, rates in MiB/s, power in watts, temperature in °C. The four
    from `samples_s` to `latency_ms` are what the work says of itself, per second and in
    milliseconds, beside its first slice. `disk_mib_s` and `net_mib_s` are its process tree's own.
    `pcie_width` is in lanes; it and the generation are those of now: an idle card may use less.
    """

    at: float
    card: str
    slice: str | None = None
    attempt: str | None = None
    seconds: float = 10.0
    util_mean: float | None = None
    util_max: float | None = None
    sm_mean: float | None = None
    sm_max: float | None = None
    occupancy_mean: float | None = None
    memory_mib_mean: float | None = None
    memory_mib_max: float | None = None
    bandwidth_mean: float | None = None
    pcie_mib_s: float | None = None
    nvlink_mib_s: float | None = None
    power_w_mean: float | None = None
    power_w_max: float | None = None
    temperature_c_max: float | None = None
    ecc_corrected: int | None = None
    ecc_uncorrected: int | None = None
    throttle: int | None = None
    encoder_mean: float | None = None
    decoder_mean: float | None = None
    cpu_milli_mean: float | None = None
    ram_mib_mean: float | None = None
    disk_mib_s: float | None = None
    net_mib_s: float | None = None
    samples_s: float | None = None
    tokens_s: float | None = None
    queries_s: float | None = None
    latency_ms: float | None = None
    pcie_width: int | None = None
    pcie_generation: int | None = None
    fidelity: Fidelity = Fidelity.MEASURED


class SampleBatch(Struct, frozen=True, kw_only=True):
    """Readings of one node; also its heartbeat. A repeat is seen by `sequence`."""

    boot_id: str
    sequence: int
    sent_at: float
    readings: tuple[Reading, ...]


class LogChunk(Struct, frozen=True, kw_only=True):
    """A piece of an attempt's output. `offset` is in bytes of the whole stream."""

    attempt: str
    rank: int
    offset: int
    text: str
    size: int


class LogBatch(Struct, frozen=True, kw_only=True):
    """Log pieces of one node."""

    sent_at: float
    chunks: tuple[LogChunk, ...]


class Heard(Struct, frozen=True, kw_only=True):
    """The portal has the readings. The two numbers are those of the newest wish."""

    epoch: int
    generation: int

"""Readings to rows, rows to batches."""

from pathlib import Path

from nodeagent.limits import LOOKS, Limits, Use
from nodeagent.protocol.samples import Reading
from nodeagent.protocol.vocabulary import ExitReason
from nodeagent.records import Record
from nodeagent.telemetry import Telemetry, Usage, row, uses


def reading(**values):
    return Reading(at=1.0, card="GPU-1", **values)


def test_a_row_holds_means_and_maxima_of_what_was_known():
    made = row(
        [
            reading(sm_mean=10.0, temperature_c_max=40.0),
            reading(sm_mean=None, temperature_c_max=44.0),
            reading(sm_mean=30.0, temperature_c_max=41.0),
        ]
    )
    assert (made.sm_mean, made.sm_max, made.temperature_c_max) == (20.0, 30.0, 44.0)
    assert (made.util_mean, made.util_max, made.power_w_max) == (None, None, None)
    assert made.seconds == 6.0


def test_card_slice_and_attempt_each_have_a_row():
    telemetry = Telemetry()
    for attempt in ("at-1", "at-1", "at-2"):
        telemetry.take([reading(), reading(slice="sl-1", attempt=attempt)])
    telemetry.pack("boot")
    rows = telemetry.oldest().readings
    assert sorted((r.slice or "", r.attempt or "", r.seconds) for r in rows) == [
        ("", "", 6.0),
        ("sl-1", "at-1", 4.0),
        ("sl-1", "at-2", 2.0),
    ]


def test_batches_wait_in_order_and_a_number_is_never_used_twice_over_restarts():
    telemetry, later = Telemetry(), Telemetry()
    for _ in range(3):
        telemetry.pack("boot")
    numbers = []
    while (batch := telemetry.oldest()) is not None:
        numbers.append(batch.sequence)
        telemetry.handed_in(batch)
    assert numbers == sorted(set(numbers)) and len(numbers) == 3
    later.pack("boot")
    assert later.oldest().sequence >= numbers[0]


def test_card_memory_is_summed_over_slices_and_what_is_measured_wins():
    record = Record("at-1", Path("/"), card_mib=1000)
    usage, said = {"at-1": Usage(None, 5.0)}, {"at-1": 300}
    two = [reading(slice=s, attempt="at-1", memory_mib_mean=400.0) for s in ("a", "b")]
    assert uses([record], usage, said, two)[0].card_mib == 800.0
    assert (
        uses([record], usage, said, [*two, reading(slice="c", attempt="at-1")])[0].card_mib == 300
    )
    assert uses([record], usage, said, [reading(memory_mib_mean=9.0)])[0].card_mib == 300


def use(host=None, card=None):
    return [Use("at-1", host, 1000, card, 500)]


def test_one_look_over_the_limit_warns_and_does_not_stop():
    limits = Limits()
    assert limits.look(use(host=1200.0)) == ({"at-1": "uses 1200 of 1000 MiB host memory"}, {})


def test_only_looks_in_a_row_stop_a_job_and_they_say_which_memory_it_was():
    limits = Limits()
    for _ in range(LOOKS - 1):
        assert limits.look(use(card=600.0))[1] == {}
    assert limits.look(use(card=400.0)) == ({}, {})
    for _ in range(LOOKS - 1):
        assert limits.look(use(card=600.0))[1] == {}
    assert limits.look(use(card=600.0))[1] == {"at-1": ExitReason.OOM_CARD}


def test_a_little_over_the_limit_is_only_a_warning():
    limits = Limits()
    for _ in range(LOOKS + 2):
        warnings, stops = limits.look(use(host=1040.0))
        assert warnings and not stops


def test_no_limit_and_no_knowledge_stop_nobody():
    limits = Limits()
    for _ in range(LOOKS + 1):
        assert limits.look([Use("at-1", 9e9, 0, None, 1)]) == ({}, {})


def test_values_that_cannot_be_are_unknown():
    telemetry = Telemetry()
    telemetry.take(
        [
            reading(util_mean=255.0, sm_mean=-1.0, memory_mib_mean=2.0**60, power_w_mean=80.0),
            reading(util_mean=float("nan"), temperature_c_max=65535.0, power_w_mean=100.0),
        ]
    )
    telemetry.pack("boot")
    (made,) = telemetry.oldest().readings
    assert made.util_mean is made.sm_mean is made.memory_mib_mean is None
    assert (made.temperature_c_max, made.power_w_mean) == (None, 90.0)


def test_the_peak_is_card_memory_of_all_slices_together_and_never_falls():
    record = Record("at-1", Path("at-1"))
    for mib in (100.0, 900.0, None, 300.0):
        both = [reading(slice=one, attempt="at-1", memory_mib_mean=mib) for one in ("a", "b")]
        uses([record], {"at-1": Usage(1.0, 7000.0)}, {}, both)
    assert record.peak_memory_mib == 1800, "not the 7,000 MiB of the host"

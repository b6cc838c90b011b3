"""Readings to rows, rows to batches."""

from nodeagent.limits import LOOKS, Limits, Use
from nodeagent.protocol.samples import Reading
from nodeagent.protocol.vocabulary import ExitReason
from nodeagent.telemetry import KEPT_BATCHES, Telemetry, row


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


def test_batches_wait_in_order_and_the_oldest_go_first_when_there_are_too_many():
    telemetry = Telemetry()
    for _ in range(KEPT_BATCHES + 5):
        telemetry.pack("boot")
    assert telemetry.oldest().sequence == 6
    telemetry.handed_in(telemetry.oldest())
    assert telemetry.oldest().sequence == 7


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

"""Measured values and log text: taken once, at their own moments and offsets."""

import msgspec
import pytest

from nodeagent.protocol.samples import LogBatch, LogChunk, Reading, SampleBatch
from pool.clock import now
from pool.cycle.round import run_rounds
from pool.models import Attempt, Event, Sample
from pool.models import LogChunk as LogRow
from pool.services import logs
from pool.services.logs import logs_take
from pool.services.samples import samples_take
from tests import rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def node():
    rows.partition()
    return rows.node()


@pytest.fixture
def attempt(node):
    rows.workload()
    run_rounds()
    return Attempt.objects.get()


def batch(card, sequence, *, skew=0.0, boot="b1", **given):
    at = now().timestamp() + skew
    reading = Reading(at=at - 10, card=card, sm_mean=41.5, memory_mib_mean=100.0, **given)
    return SampleBatch(boot_id=boot, sequence=sequence, sent_at=at, readings=(reading,))


def test_readings_are_stored_once_with_unknown_left_unknown(node, attempt):
    card = node.cards.get()
    held = attempt.placements.get().holds.get(slice__isnull=False)
    words = {"attempt": attempt.uid, "slice": held.slice.uid}
    first = batch(card.uuid, 1, **words)
    assert samples_take(node=node, batch=first) == 1
    assert samples_take(node=node, batch=first) == 0
    assert samples_take(node=node, batch=batch(card.uuid, 1, boot="b2")) == 1
    row = Sample.objects.exclude(attempt_id=None).get()
    assert (row.card_id, row.attempt_id, row.slice_id) == (card.pk, attempt.pk, held.slice_id)
    assert (row.sm_mean, row.util_mean) == (41.5, None)


def test_the_link_of_a_card_and_the_traffic_of_its_work_are_stored_as_told(node):
    card = node.cards.get().uuid
    samples_take(node=node, batch=batch(card, 1, pcie_width=8, disk_mib_s=2.5))
    row = Sample.objects.get()
    assert (row.pcie_width, row.pcie_generation, row.disk_mib_s, row.net_mib_s) == (
        *(8, None),
        *(2.5, None),
    )


def test_a_clock_that_is_off_does_not_move_the_readings(node):
    samples_take(node=node, batch=batch(node.cards.get().uuid, 1, skew=7200))
    assert (now() - Sample.objects.get().at).total_seconds() == pytest.approx(10, abs=5)


def test_readings_of_cards_of_other_nodes_are_left_out(node):
    other = rows.node()
    assert samples_take(node=node, batch=batch(other.cards.get().uuid, 1)) == 0
    assert not Sample.objects.exists()


@pytest.mark.parametrize("off", [-90_000.0, 400.0, 1e18, -1e18])
def test_readings_of_moments_that_cannot_be_are_left_out(node, off):
    told = batch(node.cards.get().uuid, 1)
    wrong = msgspec.structs.replace(told.readings[0], at=told.sent_at + off)
    mixed = msgspec.structs.replace(told, readings=(wrong, *told.readings))
    assert samples_take(node=node, batch=mixed) == 1
    assert (now() - Sample.objects.get().at).total_seconds() == pytest.approx(10, abs=5)


def test_a_batch_is_a_heartbeat_even_when_it_is_a_repeat(node):
    one = batch(node.cards.get().uuid, 1)
    for count in (1, 2):
        samples_take(node=node, batch=one)
        node.refresh_from_db()
        assert node.report_count == count


def chunk(attempt, offset, text, rank=0):
    size = len(text.encode())
    return LogChunk(attempt=attempt.uid, rank=rank, offset=offset, text=text, size=size)


def send(node, *chunks):
    return logs_take(node=node, batch=LogBatch(sent_at=0.0, chunks=chunks))


def text_of(attempt):
    return "".join(LogRow.objects.filter(attempt=attempt).values_list("text", flat=True))


def test_text_is_kept_once_however_it_is_cut_and_repeated(node, attempt):
    assert send(node, chunk(attempt, 0, "one\n"), chunk(attempt, 4, "two\n")) == 8
    assert send(node, chunk(attempt, 0, "one\n")) == 0
    assert send(node, chunk(attempt, 2, "e\ntwo\nthree\n")) == 6
    assert text_of(attempt) == "one\ntwo\nthree\n"
    attempt.refresh_from_db()
    assert attempt.log_bytes == 14


def test_text_that_the_database_cannot_hold_is_kept_readable(node, attempt):
    send(node, chunk(attempt, 0, "a\x00b"))
    assert text_of(attempt) == "a\ufffdb"


def test_pieces_that_cannot_be_true_are_left_out(node, attempt):
    wild = LogChunk(attempt=attempt.uid, rank=0, offset=2**70, text="x", size=1)
    below = LogChunk(attempt=attempt.uid, rank=0, offset=-5, text="x", size=1)
    empty = LogChunk(attempt=attempt.uid, rank=0, offset=0, text="x", size=0)
    assert send(node, wild, below, empty) == 0
    assert text_of(attempt) == ""


def test_text_of_other_nodes_attempts_is_left_out(node, attempt):
    assert send(rows.node(), chunk(attempt, 0, "lie")) == 0
    assert text_of(attempt) == ""


def test_of_a_long_log_the_beginning_and_the_newest_are_kept(node, attempt, monkeypatch):
    monkeypatch.setattr(logs, "HEAD_BYTES", 20)
    monkeypatch.setattr(logs, "TAIL_BYTES", 30)
    for number in range(10):
        send(node, chunk(attempt, number * 10, f"line {number:03}\n".ljust(9) + "\n"))
    kept = list(LogRow.objects.filter(attempt=attempt).values_list("offset", flat=True))
    assert kept == [0, 10, 70, 80, 90]
    assert not Event.objects.filter(kind__startswith="log").exists()

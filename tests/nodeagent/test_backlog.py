"""Readings that wait: on disk, bounded, in order, and sent with true times."""

import pytest

from nodeagent import backlog
from nodeagent.backlog import IN_MEMORY, Backlog
from nodeagent.protocol.samples import Reading, SampleBatch


class Clock:
    """Both clocks of one boot, moved by hand."""

    def __init__(self, monkeypatch):
        self.boot, self.up, self.now = "boot-1", 1000.0, 1_000_000.0
        monkeypatch.setattr("nodeagent.clock.boot_id", lambda: self.boot)
        monkeypatch.setattr("nodeagent.clock.boottime", lambda: self.up)
        monkeypatch.setattr("nodeagent.clock.wall", lambda: self.now)

    def pass_by(self, seconds):
        self.up += seconds
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def batch(number, clock):
    reading = Reading(at=clock.now - 4.0, card="GPU-1", memory_mib_mean=float(number))
    return SampleBatch(boot_id=clock.boot, sequence=number, sent_at=clock.now, readings=(reading,))


def drain(kept):
    numbers = []
    while (one := kept.oldest()) is not None:
        numbers.append(one.sequence)
        kept.taken(one)
    return numbers


def test_what_waits_survives_the_agent_and_goes_out_oldest_first(clock, tmp_path):
    first = Backlog(tmp_path)
    for number in range(IN_MEMORY + 5):
        first.put(batch(number, clock))
        clock.pass_by(10.0)
    assert len(list(tmp_path.iterdir())) == 5
    first.save()
    later = Backlog(tmp_path)
    later.put(batch(99, clock))
    assert drain(later) == [*range(IN_MEMORY + 5), 99]
    assert list(tmp_path.iterdir()) == []


def test_a_step_of_the_wall_clock_moves_no_reading(clock, tmp_path):
    kept = Backlog(tmp_path)
    kept.put(batch(1, clock))
    clock.pass_by(600.0)
    clock.now += 3600.0
    sent = kept.oldest()
    assert sent.sent_at - sent.readings[0].at == pytest.approx(604.0)


def test_after_a_boot_the_wall_clock_is_all_that_is_left(clock, tmp_path):
    kept = Backlog(tmp_path)
    kept.put(batch(1, clock))
    kept.save()
    clock.boot, clock.up = "boot-2", 5.0
    clock.now += 120.0
    sent = Backlog(tmp_path).oldest()
    assert sent.sent_at - sent.readings[0].at == pytest.approx(124.0)
    assert sent.boot_id == "boot-1"


def test_the_disk_is_bounded_and_the_oldest_goes_first(clock, tmp_path):
    kept = Backlog(tmp_path, most_bytes=2000)
    for number in range(60):
        kept.put(batch(number, clock))
        clock.pass_by(10.0)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 2000
    numbers = drain(kept)
    assert numbers == list(range(60 - len(numbers), 60)) and len(numbers) > IN_MEMORY


def test_what_is_older_than_the_portal_takes_and_what_is_torn_is_dropped(clock, tmp_path):
    kept = Backlog(tmp_path)
    for number in range(IN_MEMORY + 3):
        kept.put(batch(number, clock))
        clock.pass_by(10.0)
    torn = sorted(tmp_path.iterdir())[1]
    torn.write_bytes(torn.read_bytes()[:20])
    assert drain(kept) == [0, *range(2, IN_MEMORY + 3)]
    kept.put(batch(1, clock))
    kept.save()
    clock.pass_by(backlog.OLDEST_S + 1.0)
    assert Backlog(tmp_path).oldest() is None


def test_a_repeat_of_a_receipt_takes_nothing_else_away(clock, tmp_path):
    kept = Backlog(tmp_path)
    first, second = batch(1, clock), batch(2, clock)
    kept.put(first)
    kept.put(second)
    kept.taken(first)
    kept.taken(first)
    assert kept.oldest().sequence == 2

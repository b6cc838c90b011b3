"""Output by offset: nothing twice, nothing lost, characters whole."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nodeagent.link import CutOff
from nodeagent.logs import Logs, piece, whole_characters
from nodeagent.records import Record
from nodeagent.shim import Log

calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


class Portal:
    """Takes batches, or does not."""

    def __init__(self):
        self.chunks = []
        self.away = False

    async def logs(self, batch):
        if self.away:
            raise CutOff("away")
        self.chunks.extend(batch.chunks)


class Runner:
    def __init__(self, record):
        self.records = {record.attempt: record}


@pytest.fixture
def record(tmp_path):
    return Record("at-1", tmp_path)


async def test_what_was_handed_in_is_not_sent_again_even_after_a_restart(record):
    portal, log = Portal(), Log(str(record.folder), 1 << 20)
    first = Logs(Runner(record), portal)
    log.write(b"one ")
    assert await first.send()
    log.write(b"two ")
    again = Logs(Runner(record), portal)
    assert again.pending(record)
    while await again.send():
        pass
    assert [(c.offset, c.text) for c in portal.chunks] == [(0, "one "), (4, "two ")]
    assert not again.pending(record)


async def test_what_was_not_taken_is_sent_when_the_portal_is_back(record):
    portal, log = Portal(), Log(str(record.folder), 1 << 20)
    logs = Logs(Runner(record), portal)
    log.write(b"x")
    portal.away = True
    with pytest.raises(CutOff):
        await logs.send()
    portal.away = False
    assert await logs.send() and portal.chunks[0].text == "x"


async def test_half_a_character_waits_for_its_other_half(record):
    portal, log = Portal(), Log(str(record.folder), 1 << 20)
    logs = Logs(Runner(record), portal)
    body = "a€".encode()
    log.write(body[:2])
    await logs.send()
    assert not await logs.send()
    log.write(body[2:])
    await logs.send()
    assert [c.text for c in portal.chunks] == ["a", "€"]


async def test_half_a_character_at_the_very_end_is_sent_as_what_it_is(record):
    portal, log = Portal(), Log(str(record.folder), 1 << 20)
    logs = Logs(Runner(record), portal)
    log.write("€".encode()[:2])
    record.ended_at = 1.0
    await logs.send()
    assert [(c.text, c.size) for c in portal.chunks] == [("\ufffd", 2)]


async def test_a_nul_never_leaves_the_node(record):
    portal, log = Portal(), Log(str(record.folder), 1 << 20)
    log.write(b"a\0b")
    await Logs(Runner(record), portal).send()
    assert portal.chunks[0].text == "a\ufffdb" and portal.chunks[0].size == 3


async def test_the_forgotten_middle_is_jumped_over(record):
    portal, log = Portal(), Log(str(record.folder), 16 * 1024)
    for number in range(64):
        log.write(bytes([65 + number % 26]) * 1024)
    logs = Logs(Runner(record), portal)
    while await logs.send():
        pass
    assert portal.chunks[0].offset == 0 and portal.chunks[0].text == "A" * 1024
    assert portal.chunks[1].offset == 64 * 1024 - 15 * 1024
    last = portal.chunks[-1]
    assert last.offset + last.size == 64 * 1024


async def sent_all(logs):
    while await logs.send():
        pass


def text_of(portal):
    return "".join(chunk.text for chunk in portal.chunks)


async def test_a_character_over_the_end_of_a_segment_does_not_hold_up_a_running_job(record):
    portal, log = Portal(), Log(str(record.folder), 1 << 20)
    log.segment_bytes = 1024
    text = "中" * 1000
    for at in range(0, 3000, 100):
        log.write(text.encode()[at : at + 100])
    await sent_all(Logs(Runner(record), portal))
    assert text_of(portal) == text


async def test_a_character_over_the_end_of_a_chunk_stays_whole_after_the_job_ended(record):
    portal, log = Portal(), Log(str(record.folder), 8 << 20)
    text = "中" * 400_000
    log.write(text.encode())
    record.ended_at = 1.0
    await sent_all(Logs(Runner(record), portal))
    assert text_of(portal) == text


async def test_half_a_character_before_the_forgotten_middle_holds_up_nothing(record):
    folder = record.folder / "log"
    folder.mkdir()
    (folder / "0").write_bytes("中".encode()[:2])
    (folder / "10").write_bytes(b"end")
    portal = Portal()
    await sent_all(Logs(Runner(record), portal))
    assert [(c.offset, c.text) for c in portal.chunks] == [(0, "\ufffd"), (10, "end")]


def test_there_is_nothing_where_there_is_no_log(tmp_path):
    assert piece(tmp_path, 7, 10) == (7, b"", False)


@calm
@given(st.text(), st.integers(0, 200))
def test_a_cut_at_whole_characters_is_text_and_loses_less_than_one(text, cut):
    body = text.encode()[:cut]
    whole = whole_characters(body)
    assert text.startswith(body[:whole].decode())
    assert len(body) - whole < 4

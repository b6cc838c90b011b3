"""What a hostile job can do to the loop that listens to it: nothing."""

import asyncio
import os
import time

from nodeagent.giveway import keeper
from nodeagent.giveway.contract import CHECKPOINT
from nodeagent.giveway.keeper import GiveWay
from nodeagent.records import Record


def record(tmp_path, name, **facts):
    folder = tmp_path / name
    (folder / "files" / "giveway").mkdir(parents=True)
    return Record(attempt=name, workload="w", folder=folder, **facts)


def keeper_of(*records):
    return GiveWay({one.attempt: one for one in records}, lambda one: one.folder / "files")


def test_a_job_with_a_deep_file_neither_stops_the_loop_nor_hides_the_others(tmp_path):
    deep, plain = record(tmp_path, "deep"), record(tmp_path, "plain")
    for one, said in ((deep, b"[" * 4000), (plain, b'{"step": 4}')):
        (one.folder / "files" / "giveway" / CHECKPOINT).write_bytes(said)
    assert keeper_of(deep, plain).look()
    assert (deep.checkpoint_step, plain.checkpoint_step) == (None, 4)


def test_one_record_that_cannot_be_read_is_skipped_and_told(tmp_path, caplog):
    odd, plain = record(tmp_path, "odd"), record(tmp_path, "plain")
    (plain.folder / "files" / "giveway" / CHECKPOINT).write_bytes(b'{"step": 4}')

    def homes(one):
        if one is odd:
            raise RuntimeError("no home")
        return one.folder / "files"

    assert GiveWay({"odd": odd, "plain": plain}, homes).look()
    assert plain.checkpoint_step == 4
    assert "odd: what it says cannot be read" in caplog.text


async def answering(head, chunk):
    """A job's address that answers with this head, then with the chunk until it is left alone."""
    sent = []

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head)
        try:
            while chunk:
                writer.write(chunk)
                await writer.drain()
                sent.append(len(chunk))
                await asyncio.sleep(0.01)
        except ConnectionError:
            pass
        finally:
            writer.close()

    door = await asyncio.start_server(answer, "127.0.0.1", 0)
    return door, sent, f"http://127.0.0.1:{door.sockets[0].getsockname()[1]}/"


async def test_an_endless_answer_counts_by_its_status_and_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(keeper, "HOOK_LIMIT_S", 3600.0)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
    door, _, hook = await answering(head, b"x" * 65536)
    one = record(tmp_path, "a", hook=hook, notice="yo-1", noticed_at=1.0)
    async with door, asyncio.timeout(20):
        await keeper_of(one)._hook(one, b"{}")
    assert one.acked_at is not None


async def test_an_answer_that_trickles_in_for_ever_is_given_up_as_a_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(keeper, "HOOK_LIMIT_S", 0.3)
    door, sent, hook = await answering(b"HTTP/1.1 200 OK\r\nX-A: ", b"a")
    one = record(tmp_path, "a", hook=hook, notice="yo-1", noticed_at=1.0)
    async with door, asyncio.timeout(20):
        await keeper_of(one)._hook(one, b"{}")
    assert sent and one.acked_at is None


def test_a_checkpoint_dated_in_the_future_was_written_when_it_was_read_first(tmp_path):
    one = record(tmp_path, "a")
    file = one.folder / "files" / "giveway" / CHECKPOINT
    file.write_bytes(b'{"step": 4}')
    ahead = time.time() + 9000
    os.utime(file, (ahead, ahead))
    listening = keeper_of(one)
    assert listening.look()
    first = one.checkpoint_at
    assert first <= time.time()
    assert not listening.look()
    assert one.checkpoint_at == first
    file.write_bytes(b'{"step": 5}')
    os.utime(file, (ahead, ahead))
    assert listening.look()
    assert (one.checkpoint_step, one.checkpoint_at >= first) == (5, True)

"""What jobs say of their speed, by file, by push, by their page: checked and soon forgotten."""

import asyncio
import json
import os
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from nodeagent import clock
from nodeagent.giveway.contract import FOLDER
from nodeagent.protocol.samples import Reading
from nodeagent.records import Record
from nodeagent.throughput import contract, keeper
from nodeagent.throughput.keeper import Throughput
from tests.nodeagent.waiting import until


@pytest.fixture
def job(tmp_path):
    """A running attempt with its folders, and the node's keeper of speeds."""
    with tempfile.TemporaryDirectory(prefix="gp-") as short:
        home = Path(short) / "at-1"
        (home / FOLDER).mkdir(parents=True)
        record = Record("at-1", tmp_path / "at-1", pid=1)
        kept = Throughput({"at-1": record}, lambda one: home, tmp_path, Path(short))
        kept.home, kept.record = home, record
        yield kept


def said(kept):
    rows = [
        Reading(at=1.0, card="c"),
        Reading(at=1.0, card="c", slice="a", attempt="at-1"),
        Reading(at=1.0, card="c", slice="b", attempt="at-1"),
    ]
    card, first, second = kept.beside(rows)
    assert card.samples_s is second.samples_s is None
    return first


def write(kept, text, name=contract.FILE):
    (kept.home / FOLDER / name).write_text(text)


def test_a_file_tells_and_is_believed_for_a_minute(job, monkeypatch):
    write(job, '{"samples_s": 12.5, "latency_ms": 3, "colour": 1, "tokens_s": -1}')
    first = said(job)
    assert (first.samples_s, first.latency_ms, first.tokens_s) == (12.5, 3.0, None)
    later = clock.boottime() + keeper.FRESH_S + 1
    monkeypatch.setattr(clock, "boottime", lambda: later)
    assert said(job).samples_s is None


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"samples_s": NaN}', "[" * 4000, "x" * 9999])
def test_a_file_that_says_nothing_is_passed_by(job, text):
    write(job, text)
    assert said(job).samples_s is None


def test_neither_a_link_nor_a_pipe_is_read(job, tmp_path):
    (tmp_path / "other").write_text('{"samples_s": 1}')
    (job.home / FOLDER / contract.FILE).symlink_to(tmp_path / "other")
    assert said(job).samples_s is None
    (job.home / FOLDER / contract.FILE).unlink()
    os.mkfifo(job.home / FOLDER / contract.FILE)
    assert said(job).samples_s is None


@pytest_asyncio.fixture
async def pushed(job):
    assert await job.push.listen()
    yield job
    await job.push.close()


async def post(kept, path, body, head=""):
    reader, writer = await asyncio.open_unix_connection(str(kept.push.socket))
    size = "" if "Content-Length" in head else f"Content-Length: {len(body)}\r\n"
    writer.write(f"POST {path} HTTP/1.1\r\nHost: pool\r\n{size}{head}\r\n".encode() + body)
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return answer.split(b" ")[1] if answer else b""


@pytest.mark.asyncio
async def test_a_post_with_the_attempts_own_token_is_taken_and_no_other(pushed):
    told = pushed.variables(pushed.record)
    path = told["GPUPOOL_THROUGHPUT_URL"].removeprefix("http://pool")
    assert await post(pushed, path, b'{"tokens_s": 900}') == b"204"
    assert said(pushed).tokens_s == 900
    assert await post(pushed, "/v1/throughput/" + "0" * 32, b'{"tokens_s": 1}') == b"400"
    assert await post(pushed, path, b"nonsense") == b"400"
    assert await post(pushed, path, b"", "Content-Length: 999999\r\n") == b"413"
    assert said(pushed).tokens_s == 900
    assert pushed.push.token("at-1") == pushed.push.token("at-1") != pushed.push.token("at-2")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "path, size, answer", [("/v1/throughput/\u00e9", "0", b"400"), ("/v1/x", "\u00b2", b"413")]
)
async def test_letters_that_are_no_plain_ones_are_refused_and_raise_nothing(
    pushed, caplog, path, size, answer
):
    reader, writer = await asyncio.open_unix_connection(str(pushed.push.socket))
    writer.write(f"POST {path} HTTP/1.1\r\nContent-Length: {size}\r\n\r\n".encode("latin-1"))
    assert (await asyncio.wait_for(reader.read(), 10)).split(b" ")[1] == answer
    writer.close()
    assert not caplog.records


def test_threads_that_start_work_at_once_tell_one_key(job):
    line = threading.Barrier(16)

    def token(_):
        line.wait(10)
        return job.push.token("at-1")

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(token, range(16))) == {job.push.token("at-1")}


@pytest.mark.asyncio
async def test_a_caller_who_says_nothing_or_too_much_is_let_go(pushed, monkeypatch):
    monkeypatch.setattr("nodeagent.throughput.push.LIMIT_S", 0.1)
    reader, writer = await asyncio.open_unix_connection(str(pushed.push.socket))
    assert await asyncio.wait_for(reader.read(), 10) == b""
    writer.close()
    reader, writer = await asyncio.open_unix_connection(str(pushed.push.socket))
    writer.write(b"x" * 100_000)
    assert await asyncio.wait_for(reader.read(), 10) == b""
    writer.close()


@pytest_asyncio.fixture
async def page():
    """A job's own page; what it shows can be set."""
    shown = {"text": "", "asked": 0}

    async def metrics(request):
        shown["asked"] += 1
        return web.Response(text=shown["text"])

    async def away(request):
        raise web.HTTPFound("/metrics")

    app = web.Application()
    app.add_routes([web.get("/metrics", metrics), web.get("/away", away)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    shown["url"] = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield shown
    await runner.cleanup()


async def asked(kept, page, times, path="/metrics"):
    names = "samples_s=train_samples_total,tokens_s=tokens"
    env = {"THROUGHPUT_METRICS": page["url"] + path, "THROUGHPUT_NAMES": names}
    kept.record.scrape = contract.choice_of(env)
    task = asyncio.create_task(kept.run(lambda: None))
    try:
        await until(lambda: page["asked"] >= times, "the asking")
        await asyncio.sleep(0.05)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.mark.asyncio
async def test_a_page_is_asked_and_counts_become_rates(job, page, monkeypatch):
    monkeypatch.setattr(keeper, "ASK_EVERY_S", 0.02)
    page["text"] = (
        '# HELP\ntokens{gpu="0"} 10\ntokens{gpu="1"} 5\ntrain_samples_total 100\nbad line'
    )
    await asked(job, page, 2)
    first = said(job)
    assert (first.tokens_s, first.samples_s) == (15.0, 0.0)


@pytest.mark.asyncio
async def test_a_page_that_leads_elsewhere_is_not_followed(job, page, monkeypatch):
    monkeypatch.setattr(keeper, "ASK_EVERY_S", 0.02)
    page["text"] = "tokens 1"
    page["asked"] = 5
    await asked(job, page, 5, "/away")
    assert page["asked"] == 5 and said(job).tokens_s is None


@pytest.mark.asyncio
@pytest.mark.parametrize("path", ["\x7f", "a" * 70_000])
async def test_an_address_that_no_client_dials_does_not_end_the_asking(
    job, page, path, monkeypatch
):
    monkeypatch.setattr(keeper, "ASK_EVERY_S", 0.02)
    bad = Record("at-0", job.home, pid=1)
    bad.scrape = contract.Page(f"http://127.0.0.1/{path}", {}).words()  # as an older agent kept it
    job._records = {"at-0": bad, "at-1": job.record}
    page["text"] = "tokens 3"
    await asked(job, page, 3)
    assert said(job).tokens_s == 3.0


def test_an_address_with_unprintable_letters_is_no_choice():
    assert contract.choice_of({"THROUGHPUT_METRICS": "http://127.0.0.1/\x7f"}) == ""


@pytest.mark.parametrize(
    "address",
    ["http://10.0.0.1/metrics", "https://127.0.0.1/x", "http://u:p@127.0.0.1/", "file:///etc", " "],
)
def test_only_the_node_itself_is_asked(address):
    assert contract.choice_of({"THROUGHPUT_METRICS": address}) == ""


def test_a_page_keeps_its_names_over_a_restart():
    env = {"THROUGHPUT_METRICS": "http://127.0.0.1:1/m", "THROUGHPUT_NAMES": "queries_s=q,x=y,z"}
    found = contract.page_of(contract.choice_of(env))
    assert found.names["queries_s"] == "q" and found.names["samples_s"] == "gpupool_samples_s"


@given(
    st.binary(max_size=300)
    | st.recursive(st.floats() | st.text(), st.lists).map(lambda value: json.dumps(value).encode())
)
def test_whatever_a_job_says_is_a_sensible_number_or_nothing(body):
    for value in (contract.speeds_of(body) or {}).values():
        assert 0 <= value <= contract.HIGHEST

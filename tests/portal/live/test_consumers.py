"""What a page may say, and a socket whose other end is gone."""

import asyncio

import pytest

from portal.live.consumers import MOST_TOPICS, BrowserSocket, read
from portal.live.seat import Seat


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "1",
        '{"subscribe": {}}',
        '{"unsubscribe": [null]}',
        '{"subscribe": ["' + "t" * 101 + '"]}',
        '{"subscribe": [' + ",".join(['"t"'] * (MOST_TOPICS + 1)) + "]}",
    ],
)
def test_what_has_not_the_shape_is_nothing(text):
    assert read(text) is None


def test_a_message_in_its_shape_is_taken_and_strange_offsets_are_left_out():
    said = '{"subscribe": ["home"], "event": 4, "cursor": {"a": 5, "b": -1, "c": true, "d": "x"}}'
    assert read(said) == {"subscribe": ["home"], "unsubscribe": [], "cursor": {"a": 5}}


async def test_a_writer_whose_other_end_is_gone_ends_quietly():
    async def gone(**_):
        raise ConnectionResetError

    socket = BrowserSocket()
    socket.send = gone
    seat = Seat(None, "en", "s")
    seat.put("home", b"{}")
    async with asyncio.timeout(5):
        await socket._write(seat)


def test_a_slow_socket_is_sent_the_newest_picture_only_and_the_same_one_once():
    seat = Seat(None, "en", "s")
    for html in ("one", "two", "two"):
        seat.show("home", html, html.encode())
    assert seat.take() == [("home", b"two")]
    seat.show("home", "two", b"two")
    assert seat.take() == []
    seat.show("approvals", "", b"poke")
    seat.show("approvals", "", b"poke")
    assert seat.take() == [("approvals", b"poke")]


def test_what_one_looks_away_from_is_not_sent_any_more():
    seat = Seat(None, "en", "s")
    seat.keys["home"] = "k"
    seat.show("home", "one", b"one")
    seat.leave("home")
    assert (seat.take(), seat.keys) == ([], {})
    seat.refuse("pool")
    assert seat.take() == [("pool", b'{"topic":"pool","error":"not_found"}')]

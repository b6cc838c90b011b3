"""The line to the portal: what is retried, how long one waits."""

import importlib.util

import pytest

from nodeagent.link import KEPT_S, LONGEST_WAIT_S, BackOff, CutOff, Link, TooOld, Unknown
from nodeagent.protocol.desired import Desired
from nodeagent.telemetry import ROW_S


def test_waits_grow_to_ten_seconds_with_jitter_and_begin_anew_after_an_answer():
    back_off = BackOff()
    waits = [back_off.next() for _ in range(12)]
    assert 0.1 < waits[0] < 0.3
    assert max(waits) <= LONGEST_WAIT_S and waits[-1] > 6
    back_off.reset()
    assert back_off.next() < 0.3
    firsts = {BackOff().next() for _ in range(5)}
    assert len(firsts) > 1


@pytest.fixture
async def link(portal):
    made = Link(portal.url, portal.credential)
    yield made
    await made.close()


async def test_nothing_newer_is_none(link, portal):
    assert await link.desired((0, 0)) == portal.wish
    assert await link.desired((1, 1)) is None


async def test_a_revoked_credential_and_an_absent_portal_are_different_things(link, portal):
    link.credential = "stolen"
    with pytest.raises(Unknown):
        await link.desired((0, 0))
    portal.cut = True
    with pytest.raises(CutOff) as away:
        await link.desired((0, 0))
    assert not isinstance(away.value, Unknown | TooOld)


async def test_a_portal_that_cannot_be_reached_or_understood_is_cut_off(link, portal):
    with pytest.raises(CutOff, match="cannot read"):
        link._read(b'{"epoch": "x"}', Desired)
    nobody = Link("http://127.0.0.1:9")
    with pytest.raises(CutOff):
        await nobody.desired((0, 0))
    with pytest.raises(CutOff):
        async for _ in nobody.wakes():
            pass
    await nobody.close()


async def test_messages_that_come_every_ten_seconds_go_over_one_line_that_is_kept(link, portal):
    pool = link._http._transport._pool
    for _ in range(3):
        await link.desired((0, 0))
    assert len(pool.connections) == 1
    assert pool._keepalive_expiry == KEPT_S > 2 * ROW_S


def test_what_the_client_looks_for_at_each_request_is_there():
    """Else it searches all folders of the program for it, thousands of times an hour."""
    assert importlib.util.find_spec("sniffio") is not None

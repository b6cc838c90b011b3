"""Just before a start: a card that is not free puts it off, an old driver ends it."""

import pytest
from msgspec.structs import replace

from nodeagent import preflight
from nodeagent.drivers.base import Busy, Lost, kept
from nodeagent.drivers.simulated import cards
from nodeagent.execute import RETRY_S, Executor
from nodeagent.protocol.desired import Desired
from nodeagent.protocol.report import FoundSlice
from nodeagent.protocol.vocabulary import Mode, SliceFound, StepKind, Vendor
from nodeagent.reconcile import Found, Step
from tests.nodeagent.fake_portal import job

CARD = cards.card("n", 0, "A100-80GB", None)


def slice_of(mode=Mode.WHOLE, memory_mib=81920):
    return FoundSlice(
        uid="s",
        card=CARD.uuid,
        mode=mode,
        profile="x",
        state=SliceFound.READY,
        memory_mib=memory_mib,
    )


class Cards:
    """A driver that tells only how much memory is free."""

    def __init__(self, free):
        self.free = free

    def start_delay_s(self):
        return 0.0

    async def free_mib(self, one):
        if isinstance(self.free, Exception):
            raise self.free
        return self.free

    async def device_nodes(self, slices):
        return ()

    def environment(self, uid):
        return {"CUDA_MPS_PIPE_DIRECTORY": f"/pipes/{uid}"}


@pytest.mark.parametrize(
    ("free", "one", "why"),
    [
        (81920, slice_of(), ""),
        (80000, slice_of(), ""),
        (40000, slice_of(), "only 40000 of 73728 MiB"),
        (None, slice_of(), ""),
        (Lost("gone"), slice_of(), "does not answer: gone"),
        (12000, slice_of(Mode.MPS, 10240), ""),
        (9000, slice_of(Mode.MPS, 10240), "only 9000 of 10240 MiB"),
        (9700, slice_of(Mode.MIG, 9728), ""),
        (0, slice_of(Mode.MIG, 9728), "only 0 of 8755 MiB of the instance"),
        (0, slice_of(Mode.VNPU, 9728), ""),
    ],
)
async def test_memory_has_to_be_really_free(free, one, why):
    said = await preflight.not_free(Cards(free), (one,), [CARD])
    assert why in said and bool(said) == bool(why)


@pytest.mark.parametrize("vendor", list(Vendor))
async def test_what_counts_as_given_back_counts_as_free(vendor):
    """Else a card that keeps a little more for itself is offered, refuses, and is offered again."""
    card = replace(CARD, vendor=vendor)
    size = card.memory_mib
    idle = size - int(size * kept(vendor))
    assert await preflight.not_free(Cards(idle), (slice_of(),), [card]) == ""
    assert await preflight.not_free(Cards(idle - 2), (slice_of(),), [card]) != ""


@pytest.mark.parametrize(
    ("needed", "why"),
    [("", ""), ("570.10", ""), ("580.95.05", ""), ("590", "it needs driver 590")],
)
def test_a_driver_that_is_too_old_is_named(needed, why):
    assert preflight.unfit(job("a", "true", min_driver=needed), [CARD]).startswith(why)
    assert bool(preflight.unfit(job("a", "true", min_driver=needed), [CARD])) == bool(why)


class Runner:
    """Notes what is asked of it."""

    def __init__(self):
        self.kinds, self.own = ("process",), ()
        self.orders, self.refused = [], []

    async def start(self, order):
        self.orders.append(order)

    def refuse(self, work, why):
        self.refused.append(why)


async def start(driver, times=1, **changes):
    runner = Runner()
    executor = Executor(driver, runner, {CARD.uuid: CARD})
    work = job("a", "true", slices=("s",), **changes)
    wish = Desired(epoch=1, generation=1, work=(work,))
    step = Step(StepKind.START_WORK, "a")
    for _ in range(times):
        outcome = await executor.take(step, wish, Found(slices=(slice_of(),)))
    return runner, outcome


async def test_a_start_waits_for_memory_and_is_given_up_when_it_never_comes():
    runner, outcome = await start(Cards(100))
    assert not outcome.ok and runner.refused == [] == runner.orders
    runner, outcome = await start(Cards(100), times=len(RETRY_S) + 1)
    assert "only 100 of" in runner.refused[0] and runner.orders == []


async def test_a_start_on_a_free_card_carries_what_the_driver_tells():
    runner, outcome = await start(Cards(81920))
    assert outcome.ok and runner.orders[0].told == {"CUDA_MPS_PIPE_DIRECTORY": "/pipes/s"}


async def test_work_that_needs_a_newer_driver_is_refused_at_once():
    runner, outcome = await start(Cards(81920), min_driver="999")
    assert not outcome.ok and "999" in runner.refused[0]


class Freed:
    """A driver whose slice is clean after so many looks; with `no` it says why until then."""

    def __init__(self, looks, no=None):
        self.looks, self.no = looks, no or Busy("4000 MiB are still taken")

    async def clean_slice(self, uid):
        self.looks -= 1
        if self.looks > 0:
            raise self.no


async def test_memory_that_comes_back_late_is_waited_for(monkeypatch):
    monkeypatch.setattr(preflight, "BACK_EVERY_S", 0.001)
    driver = Freed(3)
    assert await preflight.memory_back(driver, "s") == "" and driver.looks == 0


async def test_memory_that_stays_away_is_looked_at_ever_more_seldom(monkeypatch):
    moment, pauses = [0.0], []

    async def sleep(seconds):
        pauses.append(seconds)
        moment[0] += seconds

    monkeypatch.setattr("nodeagent.clock.boottime", lambda: moment[0])
    monkeypatch.setattr(preflight.asyncio, "sleep", sleep)
    with pytest.raises(Busy):
        await preflight.memory_back(Freed(1000), "s")
    assert pauses[0] == preflight.BACK_EVERY_S and pauses[-1] == preflight.BACK_SELDOM_S
    assert len(pauses) <= 10 and sum(pauses) >= preflight.BACK_S


async def test_memory_that_does_not_come_back_is_told_with_how_much_it_is(monkeypatch):
    monkeypatch.setattr(preflight, "BACK_S", 0.0)
    with pytest.raises(Busy, match="4000 MiB are still taken"):
        await preflight.memory_back(Freed(2), "s")


async def test_a_card_that_does_not_answer_ends_no_work_later_than_the_wait(monkeypatch):
    monkeypatch.setattr(preflight, "BACK_S", 0.0)
    said = await preflight.memory_back(Freed(2, Lost("gone")), "s")
    assert "does not answer (gone)" in said

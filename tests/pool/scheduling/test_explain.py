"""Why it waits: the exact counts, the level, the shortage."""

from dataclasses import replace

import pytest

from nodeagent.protocol.vocabulary import Mode, Vendor
from pool.scheduling import shortage
from pool.scheduling.board import build
from pool.scheduling.claims import Topology
from pool.scheduling.explain import explain
from pool.scheduling.model import Level, Reason, Shortage
from pool.scheduling.plan import plan
from tests.builders import req, snapshot, whole


def _told(world, work):
    return plan(world.queue(work).made).waits[work.id]


def _mixed():
    """Eight A100 (five held), two L40S, one MI300X, one A30 that is cordoned."""
    world = snapshot().node("n1", cpu=64_000).card("A100-80GB", count=8).busy(5, ends=600)
    world = world.node("n2").card("L40S", count=2, modes=("whole", "mps"))
    world = world.node("n3").card("MI300X", modes=("whole",))
    return world.node("n4").card("A30", modes=("whole",), offered=False)


def test_each_filter_says_how_many_cards_it_removed():
    need = {"vendors": frozenset({Vendor.NVIDIA}), "labels": frozenset({"A100-80GB", "A30"})}
    told = _told(_mixed(), whole(1, 4, **need))
    assert told.candidates == 12
    assert dict(told.counts) == {
        Reason.VENDOR: 1,
        Reason.MODEL: 2,
        Reason.HEALTH: 1,
        Reason.MEMORY: 5,
    }
    assert (told.reason, told.level) == (Reason.TOPOLOGY, Level.BUSY)
    assert (told.shortage.needed, told.shortage.free, told.shortage.where) == (4, 3, "n1")


@pytest.mark.parametrize(
    ("work", "reason"),
    [
        (whole(1, 9), Reason.TOPOLOGY),
        (req(1, gb=400), Reason.MEMORY),
        (req(1, gb=10, labels=frozenset({"H100-80GB"})), Reason.MODEL),
        (req(1, gb=10, modes=(Mode.VNPU,)), Reason.MODE),
        (req(1, gb=10, min_compute_capability="9.0"), Reason.CAPABILITY),
        (req(1, profile="9g.90gb"), Reason.LAYOUT),
        (whole(1, cpu_milli=900_000), Reason.CPU),
        (whole(1, host_memory_mib=9_000_000), Reason.HOST_MEMORY),
        (whole(1, disk_mib=9_000_000), Reason.DISK),
        (whole(1, storage=frozenset({"st-1"})), Reason.STORAGE),
        (req(1, parts=0, cpu_milli=900_000), Reason.CPU),
    ],
)
def test_what_the_pool_can_never_hold_is_said_to_be_so(work, reason):
    told = _told(_mixed(), work)
    assert (told.reason, told.level) == (reason, Level.NEVER)


def test_a_cpu_shortage_is_told_with_its_numbers():
    world = snapshot().node("n1", cpu=8000, cpu_free=3000).card("A30")
    told = _told(world, whole(1, cpu_milli=4000))
    assert (told.reason, told.level) == (Reason.CPU, Level.BUSY)
    assert (told.shortage.needed, told.shortage.free, told.shortage.where) == (4000, 3000, "n1")


def test_a_node_that_failed_it_before_is_a_rule():
    world = snapshot().node("n1").card("A30")
    told = _told(world, whole(1, avoid=frozenset({1})))
    assert (told.reason, told.level) == (Reason.NODE_FAILED_IT, Level.RULE)


def test_standing_behind_the_head_is_told_as_order():
    world = snapshot().node("n1").card("A30", count=2, modes=("whole",)).busy(1, ends=600)
    made = plan(world.queue(whole(1, 2, declared_s=60.0), whole(2, declared_s=9000.0)).made)
    assert (made.waits[2].reason, made.waits[2].level) == (Reason.BEHIND, Level.ORDER)
    assert (made.waits[1].position, made.waits[2].position) == (1, 2)


@pytest.mark.parametrize(("free", "says"), [(4, Reason.TOPOLOGY), (5, Reason.HOST_MEMORY)])
def test_cards_are_told_before_the_memory_that_is_gone_with_them(free, says):
    """D18: each card brings a fifth of its node's RAM; who is told of RAM alone could free it."""
    world = snapshot().node("n1", memory=500_000, memory_free=400_000).card(count=5)
    world = world.busy(5 - free, ends=3600) if free < 5 else world
    world = world.node("n2", memory=500_000).card().busy(1, ends=600, first=950)
    told = _told(world, whole(1, 5, topology=Topology.NODE, host_memory_mib=500_000))
    assert told.reason is says
    needed, had = (5, 4) if says is Reason.TOPOLOGY else (500_000, 400_000)
    assert (told.shortage.needed, told.shortage.free, told.shortage.where) == (needed, had, "n1")


@pytest.mark.parametrize(
    ("taken", "profile", "short"),
    [
        ([("4g.40gb", 0), ("1g.10gb", 4)], "3g.40gb", (4, 3)),
        ([("3g.40gb", 4), ("1g.10gb", 0), ("1g.10gb", 3)], "2g.20gb", (2, 1)),
        ([("7g.80gb", 0)], "1g.10gb", (1, 0)),
    ],
)
def test_a_slice_that_does_not_fit_is_told_how_many_places_lack(taken, profile, short):
    world = snapshot().node("n1").card("A100-80GB", modes=("mig",))
    for number, (name, start) in enumerate(taken, start=1):
        world = world.slice(1, name, start=start).running(900 + number, slices=(number,), ends=60)
    told = plan(world.queue(req(1, profile=profile)).made).waits[1]
    assert told.reason is Reason.LAYOUT
    assert told.shortage == Shortage(unit="places", needed=short[0], free=short[1], where="n1")


def test_where_places_are_not_what_lacks_none_are_told():
    world = snapshot().node("n1").card("A100-80GB", modes=("mig",))
    world = world.slice(1, "1g.10gb+me", start=0).running(901, slices=(1,), ends=60)
    told = plan(world.queue(req(1, profile="1g.10gb+me")).made).waits[1]
    assert (told.reason, told.shortage) == (Reason.LAYOUT, None)


@pytest.mark.parametrize(("cards", "queue"), [(2, 3), (24, 60)])
def test_places_are_counted_once_for_each_layout_however_many_cards_and_works(
    monkeypatch, cards, queue
):
    """The cards of a full pool are cut in few ways: a round must not look at each for each work."""
    looks = []
    counted = shortage.most_free
    monkeypatch.setattr(shortage, "most_free", lambda *told: looks.append(told) or counted(*told))
    world = snapshot().node("n1").card("A100-80GB", count=cards, modes=("mig",))
    for card in range(1, cards + 1):
        cut = (("4g.40gb", 0), ("3g.40gb", 4)) if card % 2 else (("7g.80gb", 0),)
        for name, start in cut:
            world = world.slice(card, name, start=start)
            number = len(world.made.slices)
            world = world.running(900 + number, slices=(number,), ends=60)
    works = [req(n, profile="1g.10gb" if n % 2 else "2g.20gb") for n in range(1, queue + 1)]
    waits = plan(world.queue(*works).made).waits
    assert {told.shortage for told in waits.values()} == {
        Shortage(unit="places", needed=size, free=0, where="n1") for size in (1, 2)
    }
    assert len(looks) == 4, "two profiles, two layouts"


def test_what_another_board_of_the_round_lacks_is_not_taken_for_this_one():
    world = snapshot().node("n1").card("A100-80GB", modes=("mig",)).slice(1, "7g.80gb", start=0)
    world = world.running(900, slices=(1,), ends=60)
    board = build(world.made)
    work = req(1, profile="3g.40gb")
    other = board.copy()
    other.cards.pieces[0] = tuple(
        replace(piece, profile="1g.10gb", start=1, size=1) for piece in other.cards.pieces[0]
    ) + tuple(
        replace(piece, id=2, profile="1g.10gb", start=5, size=1) for piece in other.cards.pieces[0]
    )
    other.refresh(0)
    frees = [explain(one, work).shortage.free for one in (board, other, board)]
    assert frees == [0, 3, 0]


def test_a_card_that_is_held_in_another_mode_has_no_place_free():
    world = snapshot().node("n1").card("A100-80GB", modes=("mig", "mps"))
    world = world.slice(1, "", mode="mps", memory=4000, compute=100)
    world = world.running(900, slices=(1,), ends=60)
    told = plan(world.queue(req(1, profile="3g.40gb")).made).waits[1]
    assert told.shortage == Shortage(unit="places", needed=4, free=0, where="n1")

"""Simulated cards keep the law of the real ones, forget at a reboot, and fail when told to."""

import itertools
from importlib.resources import files

import pytest

from nodeagent.drivers.base import Busy, Load, Lost, NotSupported, Refused
from nodeagent.drivers.simulated import cards
from nodeagent.drivers.simulated.driver import SimulatedDriver
from nodeagent.drivers.simulated.fleet import SimulatedNode
from nodeagent.protocol.desired import WantedSlice
from nodeagent.protocol.vocabulary import Mode, SliceFound

QUICK = "create_delay_s: 0\ndelete_delay_s: 0\nmode_delay_s: 0\n"
MIG_TABLES = sorted(
    path.name.removesuffix(".json") for path in files("nodeagent.facts").joinpath("mig").iterdir()
)


def a_node(*models):
    made = tuple(cards.card("n", index, model, None) for index, model in enumerate(models))
    return SimulatedNode("n", 8, 64, 100, made)


@pytest.fixture
def make(tmp_path):
    async def driver(*models, script=QUICK):
        (tmp_path / "faults.yaml").write_text(script)
        made = SimulatedDriver(a_node(*models), tmp_path)
        await made.open()
        return made

    return driver


def cut(card, mode, profile, start=None, uid=None, memory=0, compute=0):
    for geometry in card.geometries:
        for row in geometry.profiles:
            if geometry.mode == mode and row.name == profile:
                return WantedSlice(
                    uid=uid or f"{profile}@{start}",
                    card=card.uuid,
                    mode=mode,
                    profile=profile,
                    memory_mib=row.memory_mib,
                    compute_milli=0,
                    start=start,
                    size=None if start is None else row.size,
                )
    return WantedSlice(
        uid=uid or profile,
        card=card.uuid,
        mode=mode,
        profile=profile,
        memory_mib=memory,
        compute_milli=compute,
        start=start,
    )


def places(table, plain):
    """Every (profile, start) of a MIG table; `plain` leaves out the double-memory 1g."""
    rows = [p for p in table["profiles"] if "+" not in p["name"] and "-" not in p["name"]]
    smallest = min(rows, key=lambda p: p["size"])["size"]
    return [
        (p["name"], start, p["size"], p["max_instances"])
        for p in rows
        if not (plain and p["compute"] == 1 and p["size"] > smallest)
        for start in p["starts"]
    ]


def legal(chosen):
    spans = sorted((start, start + size) for _, start, size, _ in chosen)
    counts = {name: sum(1 for c in chosen if c[0] == name) for name, _, _, _ in chosen}
    return all(a[1] <= b[0] for a, b in itertools.pairwise(spans)) and all(
        counts[name] <= most for name, _, _, most in chosen
    )


def maximal(options):
    """Every layout to which nothing can be added, found by plain search."""
    found = set()

    def grow(chosen, rest):
        fitting = [o for o in options if o not in chosen and legal([*chosen, o])]
        if not fitting:
            found.add(frozenset(chosen))
        for number, option in enumerate(rest):
            if legal([*chosen, option]):
                grow([*chosen, option], rest[number + 1 :])

    grow([], options)
    return found


@pytest.mark.parametrize("name", MIG_TABLES)
def test_the_tables_allow_as_many_layouts_as_are_known(name):
    table = cards.read(f"mig/{name}.json")
    if "layouts" in table and table["layouts"]["maximal_plain"]:
        assert len(maximal(places(table, plain=False))) == table["layouts"]["maximal_plain"]
        known = table["layouts"]["maximal_without_double_memory"]
        assert len(maximal(places(table, plain=True))) == known
    else:
        assert not all(p["starts"] for p in table["profiles"])


@pytest.mark.parametrize("model", ["A100-80GB", "A100-40GB", "A30", "H100-80GB", "H200"])
async def test_a_card_takes_every_maximal_layout_and_nothing_beside_it(make, model):
    driver = await make(model)
    card = driver.node.cards[0]
    table = cards.read(f"mig/{cards.published(model)['mig']}.json")
    options = places(table, plain=False)
    await driver.set_mode(card.uuid, Mode.MIG)
    for layout in maximal(options):
        for name, start, _, _ in sorted(layout, key=str, reverse=True):
            await driver.create_slice(cut(card, Mode.MIG, name, start))
        for name, start, _, _ in set(options) - layout:
            with pytest.raises(Refused):
                await driver.create_slice(cut(card, Mode.MIG, name, start))
        for found in await driver.slices():
            await driver.delete_slice(found.uid)


async def test_an_illegal_start_or_size_is_refused(make):
    driver = await make("A100-80GB")
    card = driver.node.cards[0]
    await driver.set_mode(card.uuid, Mode.MIG)
    for wish in (cut(card, Mode.MIG, "3g.40gb", 2), cut(card, Mode.MIG, "2g.20gb", 6)):
        with pytest.raises(Refused, match="invalid placement"):
            await driver.create_slice(wish)
    with pytest.raises(NotSupported):
        await driver.create_slice(cut(card, Mode.MIG, "9g.90gb", 0))


async def test_a_slice_is_the_same_when_asked_for_again_and_new_when_cut_anew(make):
    driver = await make("A100-80GB")
    card = driver.node.cards[0]
    await driver.set_mode(card.uuid, Mode.MIG)
    wish = cut(card, Mode.MIG, "1g.10gb", 3)
    first, second = await driver.create_slice(wish), await driver.create_slice(wish)
    assert first == second and first.state == SliceFound.READY
    await driver.delete_slice(wish.uid)
    await driver.delete_slice(wish.uid)
    assert (await driver.create_slice(wish)).device != first.device


async def test_only_an_empty_card_changes_its_mode_and_only_to_one_that_it_has(make):
    driver = await make("A100-80GB", "RTX-4090")
    card, gamer = driver.node.cards
    await driver.create_slice(cut(card, Mode.WHOLE, "whole", 0))
    with pytest.raises(Busy):
        await driver.set_mode(card.uuid, Mode.MIG)
    await driver.delete_slice("whole@0")
    await driver.set_mode(card.uuid, Mode.MIG)
    assert (await driver.modes())[card.uuid] == Mode.MIG
    with pytest.raises(Refused, match="in mode mig"):
        await driver.create_slice(cut(card, Mode.WHOLE, "whole", 0))
    with pytest.raises(NotSupported):
        await driver.set_mode(gamer.uuid, Mode.MIG)


async def test_soft_shares_never_sum_past_the_card(make):
    driver = await make("L40S")
    card = driver.node.cards[0]
    await driver.set_mode(card.uuid, Mode.MPS)
    half = card.memory_mib // 2
    await driver.create_slice(cut(card, Mode.MPS, "share", uid="a", memory=half, compute=600))
    with pytest.raises(Refused, match="compute"):
        await driver.create_slice(cut(card, Mode.MPS, "share", uid="b", memory=1, compute=401))
    with pytest.raises(Refused, match="MiB"):
        await driver.create_slice(cut(card, Mode.MPS, "share", uid="c", memory=half + 1, compute=1))
    await driver.create_slice(cut(card, Mode.MPS, "share", uid="d", memory=half, compute=400))


async def test_vendor_cuts_keep_their_own_law(make):
    driver = await make("Ascend-910B", "MI300X")
    npu, amd = driver.node.cards
    await driver.set_mode(npu.uuid, Mode.VNPU)
    await driver.set_mode(amd.uuid, Mode.AMD_PARTITION)
    ten = "vir10_3c_32g"
    await driver.create_slice(cut(npu, Mode.VNPU, ten, uid="a"))
    await driver.create_slice(cut(npu, Mode.VNPU, "vir05_1c_16g", uid="b"))
    with pytest.raises(Refused):
        await driver.create_slice(cut(npu, Mode.VNPU, ten, uid="c"))
    await driver.create_slice(cut(amd, Mode.AMD_PARTITION, "cpx.24gb", uid="d"))
    with pytest.raises(Refused, match="alike"):
        await driver.create_slice(cut(amd, Mode.AMD_PARTITION, "qpx.48gb", uid="e"))


async def test_slices_outlive_the_agent_but_not_a_reboot(make):
    driver = await make("A100-80GB", "H100-80GB")
    for card in driver.node.cards:
        await driver.set_mode(card.uuid, Mode.MIG)
        await driver.create_slice(cut(card, Mode.MIG, "1g.10gb", 0, uid=f"s{card.index}"))
    again = await make("A100-80GB", "H100-80GB")
    assert await again.slices() == await driver.slices()
    assert again._compute == driver._compute
    rebooted = await make("A100-80GB", "H100-80GB", script=QUICK + "boot: 1\n")
    assert await rebooted.slices() == ()
    ampere, hopper = rebooted.node.cards
    assert await rebooted.modes() == {ampere.uuid: Mode.MIG, hopper.uuid: Mode.WHOLE}
    assert rebooted.boot_id() == f"{driver._boot}+1"


async def test_scripted_faults_strike_as_often_as_they_say(make, tmp_path):
    script = QUICK + "faults:\n  - {at: create, card: 0, error: busy, reason: in use, times: 2}\n"
    driver = await make("A100-80GB", script=script)
    wish = cut(driver.node.cards[0], Mode.WHOLE, "whole", 0)
    for _ in range(2):
        with pytest.raises(Busy, match="in use"):
            await driver.create_slice(wish)
    await driver.create_slice(wish)
    (tmp_path / "faults.yaml").write_text(QUICK + "cards:\n  '0': {health: lost, xids: [79]}\n")
    with pytest.raises(Lost):
        await driver.delete_slice(wish.uid)
    assert await driver.modes() == {}
    health = (await driver.health())[0]
    assert (health.health, health.xids) == ("lost", (79,))
    assert await driver.sample(1.0, ()) == ()


async def test_a_script_that_cannot_be_read_leaves_the_last_one_in_force(make, tmp_path):
    driver = await make("A100-80GB", script="cards:\n  '0': {health: contested}\n")
    assert (await driver.health())[0].health == "contested"
    (tmp_path / "faults.yaml").write_text("cards: [unclosed")
    assert (await driver.health())[0].health == "contested"
    (tmp_path / "faults.yaml").unlink()
    assert (await driver.health())[0].health == "ok"


async def test_meters_show_what_the_processes_do_within_their_share(make):
    driver = await make("A100-80GB")
    card = driver.node.cards[0]
    await driver.set_mode(card.uuid, Mode.MIG)
    for start, uid in ((0, "a"), (1, "b"), (2, "c")):
        await driver.create_slice(cut(card, Mode.MIG, "1g.10gb", start, uid=uid))
    loads = (Load("a", "at-a", cpu=3.0), Load("b", "at-b", cpu=0.05, reserved_mib=1234))
    rows = {row.slice: row for row in await driver.sample(5.0, loads)}
    assert rows["a"].sm_mean == pytest.approx(100 / 7)
    assert (rows["b"].sm_mean, rows["b"].memory_mib_mean) == (5.0, 1234)
    assert rows["a"].memory_mib_mean == 9728 / 2
    assert (rows["c"].sm_mean, rows["c"].memory_mib_mean, rows["c"].attempt) == (0, 0, None)
    assert rows["a"].util_mean is None and rows[None].util_mean is None
    assert rows[None].sm_mean == pytest.approx(100 / 7 + 5)
    assert card.tdp_w * 0.15 < rows[None].power_w_mean < card.tdp_w

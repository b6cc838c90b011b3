"""Bad days that are rehearsed on simulated cards, by a file that is read again while they run."""

import pytest

from nodeagent.drivers.base import Load
from nodeagent.drivers.simulated import cards
from nodeagent.drivers.simulated.driver import SimulatedDriver
from nodeagent.drivers.simulated.fleet import SimulatedNode
from nodeagent.protocol.desired import WantedSlice
from nodeagent.protocol.vocabulary import Fidelity, Mode

MADE = tuple(cards.card("n", index, "A100-80GB", None) for index in range(3))


@pytest.fixture
def node(tmp_path):
    def opened():
        return SimulatedDriver(SimulatedNode("n", 8, 64, 100, MADE), tmp_path)

    def script(text):
        (tmp_path / "faults.yaml").write_text(text)

    opened.script = script
    return opened


async def started(node, script=""):
    node.script(script)
    driver = node()
    await driver.open()
    return driver


async def words(driver):
    return [one.health for one in await driver.health()]


@pytest.mark.parametrize(
    ("error", "word"),
    [("not_supported", "partial"), ("busy", "partial"), ("lost", "lost"), ("hang", "silent")],
)
async def test_a_card_that_will_not_be_looked_at_shows_it_and_the_others_go_on(
    node, monkeypatch, error, word
):
    monkeypatch.setattr("nodeagent.drivers.simulated.driver.LOOK_S", 0.1)
    fault = f"{{at: health, card: 1, error: {error}}}, {{at: sample, card: 1, error: {error}}}"
    driver = await started(node, f"faults: [{fault}]")
    assert await words(driver) == ["ok", word, "ok"]
    assert {row.card for row in await driver.sample(1.0, ())} == {MADE[0].uuid, MADE[2].uuid}
    node.script("")
    assert await words(driver) == ["ok", "ok", "ok"]
    assert len(await driver.sample(1.0, ())) == 3


async def test_an_answer_may_be_late_or_rubbish(node):
    late = "{at: sample, card: 0, error: delay, seconds: 0.05}"
    driver = await started(node, f"faults: [{late}, {{at: sample, card: 2, error: rubbish}}]")
    rows = {row.card: row for row in await driver.sample(1.0, ())}
    assert rows[MADE[0].uuid].util_mean == 0.0
    assert rows[MADE[2].uuid].util_mean == 65535.0


async def test_an_error_that_is_added_to_the_script_happens_once_even_over_a_restart(node):
    driver = await started(node)
    assert (await driver.health())[1].errors == ()
    node.script("cards: {1: {xids: [94]}}")
    (first,) = (await driver.health())[1].errors
    assert (await driver.health())[1].errors == (first,)
    again = node()
    await again.open()
    assert (await again.health())[1].errors == (first,)
    node.script("cards: {1: {xids: [94, 94]}}")
    errors = (await again.health())[1].errors
    assert len(errors) == 2 and errors[1].seq > first.seq
    assert [one.asks for one in errors] == ["clean_period"] * 2


async def test_a_lasting_error_ends_with_a_boot_and_not_with_a_restart_or_a_quiet_script(node):
    driver = await started(node, "cards: {0: {xids: [79]}}")
    assert (await words(driver))[0] == "reset_needed"
    node.script("")
    again = node()
    await again.open()
    assert (await words(again))[0] == "reset_needed"
    node.script("boot: 1")
    await again.modes()
    assert (await words(again))[0] == "ok"


async def test_memory_of_a_shares_processes_is_summed(node):
    driver = await started(node)
    await driver.set_mode(MADE[0].uuid, Mode.MPS)
    for uid in ("a", "b"):
        await driver.create_slice(
            WantedSlice(
                uid=uid,
                card=MADE[0].uuid,
                mode=Mode.MPS,
                profile="share",
                memory_mib=10240,
                compute_milli=250,
            )
        )
    node.script("slices: {a: {processes_mib: [9216, 9216], sm: 40}}")
    loads = tuple(Load(uid, f"at-{uid}", 0.1, 10.0, 512) for uid in ("a", "b"))
    rows = {row.slice: row for row in await driver.sample(1.0, loads)}
    assert (rows["a"].memory_mib_mean, rows["a"].sm_mean) == (18432.0, 40)
    assert rows["a"].fidelity == Fidelity.MEASURED
    assert rows["b"].memory_mib_mean == 512.0
    assert driver.environment("a")["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"] == "25"


async def test_cards_keep_their_names_when_the_bus_is_numbered_anew(node):
    driver = await started(node, "shuffle: 1")
    turned = await driver.inventory()
    assert [card.uuid for card in turned] == [MADE[1].uuid, MADE[2].uuid, MADE[0].uuid]
    assert [card.index for card in turned] == [0, 1, 2]


async def test_a_script_with_an_unknown_word_leaves_the_last_good_one_in_force(node):
    driver = await started(node, "cards: {0: {health: lost}}")
    assert (await words(driver))[0] == "lost"
    for bad in ("faults: [{at: nowhere}]", "faults: [{at: health, error: odd}]", "cards: ["):
        node.script(bad)
        assert (await words(driver))[0] == "lost"

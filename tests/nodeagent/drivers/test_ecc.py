"""Memory errors of cards: as events and as counts, told once, with what the table asks for each."""

import json

import pytest

from nodeagent.drivers import errors
from nodeagent.drivers.errors import CardErrors
from tests.nodeagent.drivers.test_every_card import ACTS
from tests.nodeagent.drivers.test_measured import mig_slice, play

__all__ = ["play"]

CARD = "GPU-0"


def told(rows):
    return [(one["asks"], one["words"], one["slice"]) for one in rows[0]["errors"]]


@pytest.mark.parametrize(
    ("kind", "count", "said", "asks"),
    [
        (1, "ecc_corrected", "memory error: corrected", "warn"),
        (2, "ecc_uncorrected", "memory error: uncorrected", "clean_period"),
    ],
)
def test_an_event_is_told_once_with_what_its_kind_asks_for(play, kind, count, said, asks):
    """The count that rises with it is the same error."""
    acts = [["sample", []], ["script", f"ecc 0 {kind}", f"set {count} 0 1"], ["rest", 1.5]]
    acts += [["health"], ["sample", []], ["health"]]
    first, again = play(["A100-80GB"], [], *acts)[3::2]
    assert told(first) == [(asks, said, "")] == told(again)
    assert first[0]["health"] == "ok", "how long it stays out is the portal's to count"


def test_an_event_in_an_instance_names_the_slice(play):
    acts = [["set_mode", CARD, "mig"], ["create_slice", mig_slice("a", "1g.10gb", 0, 1, 9984)]]
    acts += [["slices"], ["script", "ecc 0 2 1 0"], ["rest", 1.5], ["health"]]
    rows = play(["H100-80GB"], [], *acts)[-1]
    assert told(rows) == [("clean_period", "memory error: uncorrected", "a")]


def test_a_card_that_knows_no_event_of_memory_errors_still_tells_its_xids(play):
    acts = [["script", "set event_types 0 8", "xid 0 13", "ecc 0 2"], ["rest", 1.5], ["health"]]
    (row,) = play(["A100-80GB"], ["set event_types 0 8"], *acts)[-1]
    assert [one["number"] for one in row["errors"]] == [13]


@pytest.mark.parametrize(
    ("name", "asks"), [("ecc_corrected", "warn"), ("ecc_uncorrected", "clean_period")]
)
def test_a_count_that_rises_is_told_by_what_rose(play, name, asks):
    acts = [["sample", []], ["script", f"set {name} 0 1"], ["sample", []], ["health"]]
    (error,) = play(["A100-80GB"], [], *acts)[3][0]["errors"]
    assert (error["number"], error["asks"]) == (0, asks)
    assert f"1 {name.removeprefix('ecc_')}" in error["words"]


def test_what_rose_while_there_was_no_agent_is_told_by_the_next_one(machine, tmp_path):
    world = machine("A100-80GB")
    world.script("set ecc_corrected 0 2")
    given = json.dumps([str(tmp_path), [["sample", []], ["health"]], False])
    assert told(world.run(ACTS, given)[1]) == []
    world.script("set ecc_corrected 0 2", "set ecc_uncorrected 0 1")
    first = told(world.run(ACTS, given)[1])
    assert first == [("clean_period", "memory errors: 2 corrected, 1 uncorrected", "")]
    assert told(world.run(ACTS, given)[1]) == first, "told once"
    said = json.loads((tmp_path / "errors.json").read_text())
    (tmp_path / "errors.json").write_text(json.dumps(said | {"boot": "the boot before"}))
    world.script("set ecc_corrected 0 1")
    assert told(world.run(ACTS, given)[1]) == [], "a boot counts anew"


@pytest.fixture
def kept(tmp_path):
    made = CardErrors(tmp_path / "errors.json")
    made.open("boot")
    return made


def numbers(kept):
    return [one.asks for one in kept.told([_row()])[0].errors]


def _row():
    return errors.CardHealth(uuid=CARD, health="ok")


def test_two_errors_of_one_kind_are_two_once_they_are_apart(kept, monkeypatch):
    moment = [1000.0]
    monkeypatch.setattr("nodeagent.clock.boottime", lambda: moment[0])
    kept.counted(CARD, 0, 0)
    kept.counted(CARD, 0, 1)
    kept.memory(CARD, "uncorrected")
    assert numbers(kept) == ["clean_period"], "the event came after its count"
    moment[0] += errors.SAME_S + 1
    kept.memory(CARD, "uncorrected")
    kept.counted(CARD, 0, 2)
    kept.counted(CARD, 1, 2)
    assert numbers(kept) == ["clean_period", "clean_period", "warn"]


def test_a_count_that_is_not_told_for_a_while_is_no_rise(kept):
    kept.counted(CARD, 5, 1)
    kept.counted(CARD, None, None)
    kept.counted(CARD, 5, 1)
    assert numbers(kept) == []


def test_the_first_count_of_a_kind_is_no_rise_however_late_it_is_told(kept, tmp_path):
    kept.counted(CARD, None, None)
    kept.counted(CARD, 4, None)
    again = CardErrors(tmp_path / "errors.json")
    again.open("boot")
    again.counted(CARD, 4, 7)
    assert numbers(again) == []
    again.counted(CARD, 4, 8)
    assert numbers(again) == ["clean_period"]


def test_a_driver_that_was_loaded_anew_counts_from_nothing(kept):
    kept.counted(CARD, 5, 1)
    kept.counted(CARD, 0, 0)
    kept.counted(CARD, 0, 1)
    assert numbers(kept) == ["clean_period"]


def test_the_file_is_written_only_when_something_changed(kept, tmp_path):
    kept.counted(CARD, 5, 1)
    (tmp_path / "errors.json").unlink()
    kept.counted(CARD, 5, 1)
    assert not (tmp_path / "errors.json").exists()

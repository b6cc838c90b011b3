"""Cards that are shared without MIG: the vendor's programs are called as the vendor says."""

import os

import pytest

from nodeagent.drivers.base import Busy, NotSupported, Refused
from nodeagent.drivers.programs import Programs
from nodeagent.drivers.shares import Share, Shares
from nodeagent.drivers.sharing.mps import Mps, percentage
from nodeagent.drivers.sharing.timeslice import TimeSlice, find_preload
from nodeagent.drivers.simulated import cards
from nodeagent.protocol.desired import WantedSlice
from nodeagent.protocol.vocabulary import Isolation, Mode
from tests.fakes import programs

CARD = cards.card("n", 0, "A100-40GB", None)


def wanted(uid, memory_mib=10240, milli=250, mode=Mode.MPS):
    return WantedSlice(
        uid=uid,
        card=CARD.uuid,
        mode=mode,
        profile="share",
        memory_mib=memory_mib,
        compute_milli=milli,
    )


def share(one, device=CARD.uuid):
    return Share(CARD.uuid, one.mode, one.profile, one.memory_mib, one.compute_milli, device)


@pytest.fixture
def bench(tmp_path, monkeypatch):
    folder = tmp_path / "bin"
    programs.put(folder, "nvidia-smi", programs.SMI)
    programs.put(folder, "nvidia-cuda-mps-control", programs.MPS)
    monkeypatch.setenv("FAKES", str(folder))
    return folder


def search(folder):
    return Programs(f"{folder}:{os.environ['PATH']}")


def test_mps_starts_one_daemon_a_card_and_sets_the_limits_of_the_largest_share(bench, tmp_path):
    mps = Mps(tmp_path / "mps", search(bench))
    mps.enter(CARD)
    mps.enter(CARD)
    big, small = wanted("big", 20480, 500), wanted("small", 4096, 100)
    assert mps.create(CARD, small, {}) == CARD.uuid
    mps.create(CARD, big, {"small": share(small)})
    mps.delete(CARD, "big", share(big), {"small": share(small)})
    said = [line for line in programs.calls(bench) if "get_default" not in line]
    assert said == [
        f"smi -i {CARD.uuid} -c EXCLUSIVE_PROCESS",
        f"daemon -d {CARD.uuid}",
        "mps set_default_device_pinned_mem_limit 0 4096M",
        "mps set_default_active_thread_percentage 10",
        "mps set_default_device_pinned_mem_limit 0 20480M",
        "mps set_default_active_thread_percentage 50",
        "mps set_default_device_pinned_mem_limit 0 4096M",
        "mps set_default_active_thread_percentage 10",
    ]


def test_a_share_of_mps_has_a_pipe_folder_of_its_own_that_ends_with_it(bench, tmp_path):
    mps = Mps(tmp_path / "mps", search(bench))
    one = wanted("a")
    mps.create(CARD, one, {})
    told = mps.environment(CARD, "a", share(one))
    assert told["CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"] == "0=10240M"
    assert told["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"] == "25"
    pipe = told["CUDA_MPS_PIPE_DIRECTORY"]
    assert os.listdir(pipe) == ["alive"]  # noqa: PTH208
    mps.delete(CARD, "a", share(one), {})
    assert not os.path.lexists(pipe)


def test_a_daemon_that_died_is_started_again_for_the_next_share(bench, tmp_path):
    mps = Mps(tmp_path / "mps", search(bench))
    mps.create(CARD, wanted("a"), {})
    next((tmp_path / "mps").glob("*/pipe/alive")).unlink()
    assert not mps.alive(CARD)
    mps.create(CARD, wanted("b"), {"a": share(wanted("a"))})
    assert mps.alive(CARD)
    assert sum(line.startswith("daemon") for line in programs.calls(bench)) == 2


def test_leaving_mps_stops_the_daemon_and_opens_the_card_and_may_be_repeated(bench, tmp_path):
    mps = Mps(tmp_path / "mps", search(bench))
    mps.enter(CARD)
    mps.leave(CARD)
    mps.leave(CARD)
    said = programs.calls(bench)
    assert said.count("mps quit") == 1 and said[-1] == f"smi -i {CARD.uuid} -c DEFAULT"
    assert not mps.alive(CARD)


def test_a_daemon_that_will_not_start_is_a_refusal_with_its_own_words(bench, tmp_path):
    (bench / "mps_refuses").touch()
    with pytest.raises(Refused, match="already running"):
        Mps(tmp_path / "mps", search(bench)).enter(CARD)


def test_a_share_of_nothing_is_never_the_zero_that_means_everything():
    assert [percentage(milli) for milli in (0, 1, 9, 10, 300, 1000, 2000)] == [
        *("1", "1", "1", "1", "30", "100", "100")
    ]


def test_what_is_not_installed_is_not_offered(tmp_path):
    empty = Programs(str(tmp_path))
    assert Mps(tmp_path, empty).offer(CARD) is None
    assert TimeSlice(empty, None, tmp_path).offer(CARD) is None
    with pytest.raises(NotSupported):
        empty.run("nvidia-smi")


def test_a_card_before_volta_is_not_offered_in_shares_of_mps(bench, tmp_path):
    old = cards.card("n", 0, "T4", None)
    assert Mps(tmp_path, search(bench)).offer(old) is not None
    fields = {name: getattr(old, name) for name in old.__struct_fields__}
    pascal = type(old)(**fields | {"compute_capability": "6.1"})
    assert Mps(tmp_path, search(bench)).offer(pascal) is None


def test_a_program_that_hangs_is_given_up_and_ended(tmp_path):
    programs.says(tmp_path, "slow", {"": "hang"})
    with pytest.raises(Busy):
        search(tmp_path).run("slow", limit_s=0.3)


def test_time_slices_say_that_compute_is_not_enforced(bench, tmp_path):
    turns = TimeSlice(search(bench), None, tmp_path / "hami")
    geometry, ability = turns.offer(CARD)
    assert (ability.memory, ability.compute) == ("sampling", "none")
    assert geometry.isolation == Isolation.NONE and "not enforced" in ability.note
    turns.enter(CARD)
    turns.leave(CARD)
    assert programs.calls(bench) == [
        f"smi -i {CARD.uuid} -c DEFAULT",
        f"smi compute-policy -i {CARD.uuid} --set-timeslice 1",
        f"smi compute-policy -i {CARD.uuid} --set-timeslice 0",
    ]
    assert turns.environment(CARD, "a", share(wanted("a", mode=Mode.TIMESLICE))) == {}


def test_hami_core_is_used_where_the_site_has_it_and_forgets_old_limits(bench, tmp_path):
    library = tmp_path / "libvgpu.so"
    assert find_preload(library) is None
    library.touch()
    turns = TimeSlice(search(bench), find_preload(library), tmp_path / "hami")
    geometry, ability = turns.offer(CARD)
    assert (ability.memory, ability.compute) == ("preload", "preload")
    assert geometry.isolation == Isolation.PROCESS, "never better than MPS"
    one = wanted("a", mode=Mode.TIMESLICE)
    told = turns.environment(CARD, "a", share(one))
    assert told["LD_PRELOAD"] == str(library)
    assert (told["CUDA_DEVICE_MEMORY_LIMIT"], told["CUDA_DEVICE_SM_LIMIT"]) == ("10240m", "25")
    cache = tmp_path / "hami" / "a.cache"
    assert told["CUDA_DEVICE_MEMORY_SHARED_CACHE"] == str(cache)
    cache.touch()
    turns.delete(CARD, "a", share(one), {})
    assert not cache.exists()


def test_shares_never_sum_past_the_card_and_outlive_the_agent(tmp_path):
    agreed = Shares(tmp_path / "slices.json")
    agreed.open({CARD.uuid: CARD})
    for uid in "abcd":
        agreed.take(wanted(uid), CARD, CARD.uuid)
    agreed.take(wanted("a"), CARD, CARD.uuid)
    with pytest.raises(Refused, match="51200 of 40960 MiB"):
        agreed.take(wanted("e"), CARD, CARD.uuid)
    with pytest.raises(Refused):
        agreed.take(wanted("w", mode=Mode.WHOLE), CARD, CARD.uuid)
    agreed.enter(CARD.uuid, Mode.MPS)
    later = Shares(tmp_path / "slices.json")
    later.open({CARD.uuid: CARD})
    assert later.found({CARD.uuid: CARD}) == agreed.found({CARD.uuid: CARD})
    assert later.mode(CARD.uuid) == Mode.MPS
    later.drop("a")
    later.drop("a")
    assert [row.uid for row in later.found({CARD.uuid: CARD})] == ["b", "c", "d"]


def test_names_of_whole_cards_from_an_older_agent_are_read(tmp_path):
    (tmp_path / "slices.json").write_text(f'{{"sl-1": "{CARD.uuid}", "sl-2": "GPU-gone"}}')
    agreed = Shares(tmp_path / "slices.json")
    agreed.open({CARD.uuid: CARD})
    (row,) = agreed.found({CARD.uuid: CARD})
    assert (row.uid, row.mode, row.memory_mib, row.start) == ("sl-1", Mode.WHOLE, 40960, 0)

"""What a class may have of a card's compute is told to whatever keeps it: daemon or preload."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeagent.drivers.sharing.mps import Mps, percentage
from nodeagent.drivers.sharing.timeslice import TimeSlice
from nodeagent.protocol.desired import WantedSlice
from nodeagent.protocol.vocabulary import Mode, WorkFound
from tests.fakes import programs
from tests.nodeagent.drivers.test_sharing import CARD, bench, search, share, wanted
from tests.nodeagent.fake_portal import job

__all__ = ["bench"]

FINETUNING, REPLICA = 800, 500
"""Thousandths of a card: all shares of fine-tuning together, and one replica by itself."""

shares = st.lists(st.integers(10, FINETUNING), min_size=1, max_size=12).filter(
    lambda sizes: sum(sizes) <= FINETUNING
)


@given(shares)
def test_the_threads_of_a_class_never_sum_past_its_ceiling(sizes):
    told = [int(percentage(one)) for one in sizes]
    assert all(10 * one <= size for one, size in zip(told, sizes, strict=True))
    assert 10 * sum(told) <= FINETUNING


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A place for pipes and notes; no program is called there."""
    return tmp_path_factory.mktemp("none")


@given(milli=st.integers(10, 1000))
def test_a_share_is_told_no_more_compute_than_it_has_in_any_way_of_sharing(milli, folder):
    one = share(wanted("a", milli=milli))
    mps = Mps(folder, search(folder)).environment(CARD, "a", one)
    hami = TimeSlice(search(folder), folder / "libvgpu.so", folder).environment(CARD, "a", one)
    limits = (mps["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"], hami["CUDA_DEVICE_SM_LIMIT"])
    assert all(10 * int(limit) <= milli < 10 * (int(limit) + 1) for limit in limits)


def test_a_job_that_unsets_its_variables_is_still_held_to_the_largest_share(bench, tmp_path):
    """The daemon's own limit: with a ceiling of half a card nobody gets more than half of it."""
    mps = Mps(tmp_path / "mps", search(bench))
    rows = {}
    for uid, milli in (("one", 300), ("two", REPLICA), ("three", 200)):
        mps.create(CARD, wanted(uid, milli=milli), rows)
        rows[uid] = share(wanted(uid, milli=milli))
    said = [line for line in programs.calls(bench) if "set_default_active" in line]
    assert [int(line.split()[-1]) for line in said] == [30, 50, 50]
    assert max(int(line.split()[-1]) * 10 for line in said) <= REPLICA


def test_the_limit_of_hami_core_holds_on_a_card_that_is_otherwise_idle(bench, tmp_path):
    turns = TimeSlice(search(bench), tmp_path / "libvgpu.so", tmp_path / "hami")
    told = turns.environment(CARD, "a", share(wanted("a", milli=FINETUNING, mode=Mode.TIMESLICE)))
    assert (told["CUDA_DEVICE_SM_LIMIT"], told["GPU_CORE_UTILIZATION_POLICY"]) == ("80", "FORCE")


@pytest.mark.parametrize("own", ["", "100"])
async def test_a_job_finds_its_ceiling_whatever_it_was_submitted_with(node, portal, own):
    name = "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"
    half = WantedSlice(
        uid="s1",
        card=node.card,
        mode=Mode.MPS,
        profile="share",
        memory_mib=20480,
        compute_milli=REPLICA,
    )
    env = {name: own} if own else {}
    await portal.want(
        slices=[half], work=[job("at-1", "sh", "-c", f"echo ${name}", slices=["s1"], env=env)]
    )
    await node.start()
    await portal.until(lambda: (w := portal.work("at-1")) and w.state == WorkFound.EXITED)
    await portal.until(lambda: portal.log("at-1") == "50\n")

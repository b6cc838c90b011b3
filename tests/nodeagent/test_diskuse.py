"""A job that stays over its share of disk is warned, then stopped, and it alone."""

import errno
import os

import pytest

from nodeagent import disk, diskuse
from nodeagent.diskuse import used_mib
from nodeagent.protocol.vocabulary import ExitReason, WorkFound
from nodeagent.records import Record
from tests.nodeagent.fake_portal import job
from tests.nodeagent.waiting import until

MIB = 1024 * 1024


def test_what_lies_in_a_folder_is_counted_once_and_nothing_outside_it(tmp_path):
    home, other = tmp_path / "home", tmp_path / "other"
    (home / "deep" / "er").mkdir(parents=True)
    other.mkdir()
    (home / "deep" / "er" / "a").write_bytes(os.urandom(3 * MIB))
    os.link(home / "deep" / "er" / "a", home / "b")
    (other / "c").write_bytes(os.urandom(8 * MIB))
    (home / "link").symlink_to(other)
    with (home / "hole").open("wb") as sparse:
        sparse.truncate(1024 * MIB)
    assert used_mib(home) == 3
    assert used_mib(tmp_path / "nothing") == 0


def test_a_tree_without_end_does_not_hold_the_look_up(tmp_path, monkeypatch):
    monkeypatch.setattr(diskuse, "MOST_ENTRIES", 10)
    for number in range(50):
        (tmp_path / f"{number}").write_bytes(os.urandom(MIB))
    assert used_mib(tmp_path) <= 10
    monkeypatch.setattr(diskuse, "LOOK_S", -1.0)
    assert used_mib(tmp_path) == 0


@pytest.mark.asyncio
async def test_one_over_its_share_is_warned_then_stopped_with_the_reason_and_no_other(
    node, portal, monkeypatch
):
    monkeypatch.setattr(diskuse, "LOOK_EVERY_S", 600.0)
    fill = "head -c 6291456 /dev/urandom > a; head -c 6291456 /dev/urandom > b; touch done"
    works = (
        job("at-big", "sh", "-c", f"{fill}; sleep 600", disk_mib=10, grace_s=1),
        job("at-small", "sh", "-c", "head -c 1048576 /dev/urandom > a; sleep 600", disk_mib=10),
        job("at-free", "sh", "-c", f"{fill}; sleep 600"),
    )
    agent = await node.start()
    await portal.want(work=works)
    records = agent.runner.records
    await until(
        lambda: all((node.work / f"at-{n}" / "files" / "done").exists() for n in ("big", "free"))
    )
    for looks in range(1, diskuse.LOOKS + 1):
        assert await agent.runner.disk.look() is (looks == 1)
        assert "12 of 10 MiB of disk" in records["at-big"].disk_warning
        assert records["at-big"].stop_asked is (looks == diskuse.LOOKS)
    await portal.until(lambda: portal.work("at-big") and portal.work("at-big").clean)
    told = portal.work("at-big")
    assert told.exit_reason == ExitReason.LIMIT
    assert "12 of 10 MiB of disk" in told.message
    for name in ("at-small", "at-free"):
        assert records[name].state == WorkFound.RUNNING
        assert records[name].disk_warning == ""


@pytest.mark.asyncio
async def test_on_a_full_disk_the_one_who_filled_it_is_stopped_and_the_agent_lives(
    node, portal, monkeypatch
):
    monkeypatch.setattr(diskuse, "LOOK_EVERY_S", 600.0)
    fill = "head -c 6291456 /dev/urandom > a; head -c 6291456 /dev/urandom > b; touch done"
    works = (
        job("at-big", "sh", "-c", f"{fill}; sleep 600", disk_mib=10, grace_s=1),
        job("at-small", "sleep", "600", disk_mib=10),
    )
    agent = await node.start()
    await portal.want(work=works)
    records = agent.runner.records
    await until(lambda: (node.work / "at-big" / "files" / "done").exists())
    await until(lambda: "at-small" in records and records["at-small"].pid)

    def full(path, body, **how):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as no_room:
        no_room.setattr(disk, "write_whole", full)
        for _ in range(diskuse.LOOKS):
            await agent.runner.disk.look()
        assert records["at-big"].stop_asked
        await until(lambda: records["at-big"].ended_at)
    assert records["at-big"].reason == ExitReason.LIMIT, "the reason is kept without its file"
    await portal.until(lambda: portal.work("at-big") and portal.work("at-big").clean)
    assert portal.work("at-big").exit_reason == ExitReason.LIMIT
    assert records["at-small"].state == WorkFound.RUNNING


@pytest.mark.asyncio
async def test_one_job_that_cannot_be_judged_keeps_no_other_from_its_look(tmp_path):
    told = []

    async def stop(attempt, reason, grace_s):
        told.append(attempt)
        if attempt == "at-odd":
            raise OSError(errno.ENOSPC, "No space left on device")

    records = {}
    for name in ("at-odd", "at-big"):
        records[name] = Record(name, tmp_path / name, pid=1, disk_mib=1)
        (tmp_path / name).mkdir()
        (tmp_path / name / "a").write_bytes(os.urandom(4 * MIB))
    disk_use = diskuse.DiskUse(records, lambda record: record.folder, stop)
    for _ in range(diskuse.LOOKS):
        await disk_use.look()
    assert told == ["at-odd", "at-big"]

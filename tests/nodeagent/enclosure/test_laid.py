"""Storage and secrets in a job's own folder: readable there, nowhere else, and gone afterwards."""

import hashlib
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from nodeagent import secrets_shelf
from nodeagent.protocol.places import Mount
from nodeagent.runners.accounts import Account
from nodeagent.runners.base import StartFailed
from tests.nodeagent.enclosure.test_walls import begun, runner, said, tried, wanted
from tests.nodeagent.waiting import until

HUSH = "correct-horse-battery-staple"
UID = 200_701
FIXTURES = (runner, tried)
"""Found here by their names."""


@pytest.fixture
def shared(runner):
    """A folder beside the runner's own, with a file that every account may read."""
    folder = runner.records_root / "shared"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    (folder / "data.txt").write_text("forty-two")
    (folder / "data.txt").chmod(0o666)
    return folder


def given(work, **changes):
    return replace(work, **changes)


def mount(root, at="data", tail="", **rest):
    return Mount(root=str(root), tail=tail, at=at, name="My Data", **rest)


@pytest.mark.asyncio
async def test_a_data_set_is_read_where_it_was_asked_for_and_cannot_be_written(
    runner, tried, shared
):
    script = (
        "cat data/in/data.txt; cat $GPUPOOL_STORAGE_MY_DATA/data.txt; echo x > data/in/data.txt"
    )
    work = given(wanted("at-a", UID, script), mounts=(mount(shared, "data/in"),))
    text = await said(runner, await begun(runner, work))
    assert text.startswith("forty-twoforty-two")
    kept = (shared / "data.txt").read_text() == "forty-two" and "Read-only" in text
    assert kept or not tried.identity, text


@pytest.mark.asyncio
async def test_what_a_job_writes_to_its_own_folder_of_a_share_stays_after_it(runner, shared):
    own = mount(shared, "out", "mei", read_only=False, create=True)
    script = "echo step-7 > out/checkpoint; pwd"
    record = await begun(runner, given(wanted("at-a", UID, script), mounts=(own,)))
    await said(runner, record)
    await runner.clean("at-a")
    runner.cleaned("at-a")
    runner.forget("at-a")
    assert (shared / "mei" / "checkpoint").read_text() == "step-7\n"
    assert (shared / "mei").stat().st_mode & 0o777 == 0o700
    assert os.geteuid() != 0 or (shared / "mei").stat().st_uid == UID
    assert not (runner.records_root / "work" / "at-a").exists()


@pytest.mark.asyncio
async def test_all_accounts_of_a_project_write_to_its_share_and_no_others(runner, tried, shared):
    place = mount(shared, "share", "vision", read_only=False, create=True, shared=True)
    ours = {"mounts": (place,), "group": 200_700}
    for number, uid in enumerate((UID, UID + 1)):
        script = f"echo {number} >> share/both && cat share/both"
        record = await begun(runner, given(wanted(f"at-{number}", uid, script), **ours))
        text = await said(runner, record)
    assert text == "0\n1\n"
    script = f"cat {shared}/vision/both"
    text = await said(runner, await begun(runner, wanted("at-x", UID + 50_000, script)))
    assert "0\n1\n" not in text or os.geteuid() != 0


@pytest.mark.asyncio
async def test_a_link_below_a_root_leads_nowhere(runner, shared):
    (shared / "mei").symlink_to("/etc")
    place = mount(shared, "out", "mei", read_only=False, create=True)
    with pytest.raises(StartFailed, match="no folder"):
        await begun(runner, given(wanted("at-a", UID, "cat out/passwd"), mounts=(place,)))
    assert "is no folder" in runner.records["at-a"].message


def everywhere(root):
    """Every byte that lies in a tree of files."""
    files = [Path(at) / name for at, _, names in os.walk(root) for name in names]
    return b"".join(file.read_bytes() for file in files if file.is_file())


def arguments():
    """The command lines and environments of all processes but those that run as the job."""
    found = b""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found += (entry / "cmdline").read_bytes()
                if entry.stat().st_uid != UID:
                    found += (entry / "environ").read_bytes()
            except OSError:
                continue
    return found


@pytest.mark.asyncio
async def test_secrets_reach_the_job_and_neither_disk_nor_arguments_nor_logs(runner):
    script = """
    printf %s "$TOKEN" | sha256sum | cut -c -64
    sha256sum < $GPUPOOL_SECRETS/key.pem | cut -c -64
    stat -c %a $GPUPOOL_SECRETS/ $GPUPOOL_SECRETS/key.pem
    sleep 60
    """
    secret = {"secret_env": {"TOKEN": HUSH}, "secret_files": {"key.pem": HUSH}}
    record = await begun(runner, given(wanted("at-a", UID, script), **secret))
    log = record.folder / "log"
    digest = hashlib.sha256(HUSH.encode()).hexdigest().encode()
    await until(lambda: everywhere(log).split() == [digest, digest, b"700", b"400"], "the output")
    assert HUSH.encode() not in everywhere(runner.records_root)
    assert os.geteuid() != 0 or HUSH.encode() not in arguments()
    shelf = runner._setting.shelf(record)
    assert (shelf / "key.pem").exists() and secrets_shelf.type_of("/dev/shm") == "tmpfs"
    assert shelf.stat().st_mode & 0o077 == 0
    await runner.stop("at-a", "stopped", 0.0)
    await said(runner, record)
    await runner.clean("at-a")
    assert not shelf.exists()


@pytest.mark.asyncio
async def test_another_tenant_cannot_read_secret_files(runner, tried):
    secret = {"secret_files": {"key": HUSH}}
    record = await begun(runner, given(wanted("at-a", UID, "sleep 60"), **secret))
    shelf = runner._setting.shelf(record)
    records = Path(runner.records_root, "work", "at-a")
    spy = f"cat {shelf}/key; ls -R /dev/shm; cat {records}/secrets/key"
    text = await said(runner, await begun(runner, wanted("at-b", UID + 1, spy)))
    assert HUSH not in text or os.geteuid() != 0
    await runner.stop("at-a", "stopped", 0.0)
    await said(runner, record)


@pytest.mark.asyncio
async def test_a_restarted_agent_takes_away_secret_files_that_nobody_needs(runner):
    left = secrets_shelf.place_of(runner._label, "at-gone")
    older = left.parent.with_name(f"{left.parent.name}-at-old")
    for one in (left, older):
        one.mkdir(mode=0o700, parents=True)
        (one / "key").write_text(HUSH)
    await runner.adopt()
    assert not left.exists() and not older.exists()


def test_somebody_elses_link_in_the_place_of_a_shelf_is_not_followed(tmp_path):
    target = tmp_path / "target"
    target.mkdir()
    shelf = secrets_shelf.place_of(str(tmp_path), "at-a")
    shelf.parent.mkdir()
    shelf.symlink_to(target)
    secrets_shelf.put(shelf, {"key": HUSH}, Account(None, None, (), "me"))
    assert not list(target.iterdir()) and (shelf / "key").read_text() == HUSH
    secrets_shelf.remove(shelf)
    assert not shelf.exists()

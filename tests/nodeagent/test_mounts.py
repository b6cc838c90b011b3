"""Which folders this node has, and which it never gives away."""

import asyncio
import os
import threading

import pytest

from nodeagent import mounts
from nodeagent.mounts import Places
from nodeagent.protocol.places import Mount, Place, Watched
from nodeagent.runners.accounts import Account

ME = Account(None, None, (), "me")


def test_a_folder_is_there_or_the_reason_is_told(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    assert mounts.why_not(str(tmp_path)) == ""
    assert mounts.why_not(str(tmp_path / "none")) == "there is no such folder"
    assert mounts.why_not(str(file)) == "there is no such folder"
    assert mounts.why_not("relative") == mounts.why_not("/") != ""


def test_a_kind_that_must_be_mounted_is_known_by_its_file_system(tmp_path):
    info = tmp_path / "mountinfo"
    info.write_text(
        f"1 0 0:1 / / rw - ext4 /dev/sda rw\n2 1 0:2 / {tmp_path} rw shared:1 - nfs4 srv:/x rw\n"
        "3 1 0:3 / /mnt/with\\040space rw - fuse.s3fs s3fs rw\n"
    )
    assert mounts.why_not(str(tmp_path), ("nfs",), info) == ""
    assert "lustre" in mounts.why_not(str(tmp_path), ("lustre",), info)
    assert mounts.type_of("/mnt/with space/in", info) == "fuse.s3fs"
    assert mounts.type_of("/mnt", info) == "ext4"


@pytest.mark.parametrize("path", ["/etc", "/proc/1", "/dev/shm", "/root/x"])
def test_folders_of_the_system_are_never_given(path):
    assert mounts.given_wrongly(path, ()) == "it belongs to the system"


def test_neither_the_agents_folder_nor_one_round_it_is_given(tmp_path):
    state = tmp_path / "state"
    state.mkdir()
    for path in (tmp_path, state, state / "work"):
        assert "its own files" in mounts.given_wrongly(str(path), (state,))
    assert mounts.given_wrongly(str(tmp_path / "other"), (state,)) == ""
    (tmp_path / "sly").symlink_to(state)
    assert "its own files" in mounts.given_wrongly(str(tmp_path / "sly"), (state,))


def test_missing_folders_are_made_only_where_that_is_allowed(tmp_path):
    wish = Mount(root=str(tmp_path), tail="a/b", at="x", name="n")
    with pytest.raises(mounts.NotThere, match="no folder 'a'"):
        mounts.way_in(wish, ME, 0)
    made = Mount(root=str(tmp_path), tail="a/b", at="x", name="n", create=True)
    assert mounts.way_in(made, ME, 0) == f"{tmp_path}/a/b"
    assert mounts.way_in(wish, ME, 0) == f"{tmp_path}/a/b"


@pytest.mark.asyncio
async def test_a_look_tells_only_differences(tmp_path):
    places = Places()
    there, gone = Watched(path=str(tmp_path)), Watched(path=str(tmp_path / "none"))
    assert not await places.look(()) and places.found is None
    assert await places.look((there, gone))
    assert places.found == (
        Place(path=str(tmp_path)),
        Place(path=str(tmp_path / "none"), why="there is no such folder"),
    )
    assert not await places.look((there, gone))
    (tmp_path / "none").mkdir()
    assert await places.look((there, gone))


@pytest.mark.asyncio
async def test_a_folder_that_hangs_is_not_there_and_holds_nothing_up(tmp_path, monkeypatch):
    hang, looks = threading.Event(), []

    def slow(path, types):
        looks.append(path)
        hang.wait(20)
        return ""

    monkeypatch.setattr(mounts, "why_not", slow)
    monkeypatch.setattr(mounts, "LOOK_S", 0.05)
    places = Places()
    try:
        for _ in range(3):
            await places.look((Watched(path=str(tmp_path)),))
        assert places.found == (Place(path=str(tmp_path), why="it does not answer"),)
        assert len(looks) == 1
    finally:
        hang.set()
    await asyncio.gather(*places._hanging.values())


def test_a_way_that_others_can_exchange_is_open_to_a_process_and_closed_to_a_container(
    tmp_path, monkeypatch
):
    (tmp_path / "share" / "x" / "data").mkdir(parents=True)
    for step in (tmp_path, tmp_path / "share", tmp_path / "share" / "x"):
        step.chmod(0o755)
    wish = Mount(root=str(tmp_path), tail="share/x/data", at="x", name="n")
    as_root = os.geteuid() == 0
    assert mounts.way_in(wish, ME, 0, by_name=True) == f"{tmp_path}/share/x/data"
    (tmp_path / "share").chmod(0o2770)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(mounts.NotThere, match="exchange 'x'" if as_root else "exchange"):
        mounts.way_in(wish, ME, 0, by_name=True)
    assert mounts.way_in(wish, ME, 0) == f"{tmp_path}/share/x/data"


def test_the_last_folder_itself_may_belong_to_the_project(tmp_path):
    (tmp_path / "data").mkdir()
    tmp_path.chmod(0o755)
    (tmp_path / "data").chmod(0o2770)
    wish = Mount(root=str(tmp_path), tail="data", at="x", name="n")
    assert mounts.way_in(wish, ME, 0, by_name=True) == f"{tmp_path}/data"

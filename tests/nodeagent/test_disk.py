"""Small files are whole or absent; a job's files show us nothing that it may not see itself."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from nodeagent import disk

STEPS = ("tmp", "gpu_memory_mib")


def test_a_plain_file_is_read_as_far_as_asked(tmp_path):
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp" / "gpu_memory_mib").write_text("123456")
    assert disk.read_of_job(tmp_path, STEPS, most=3) == b"123"


def test_no_link_is_followed_at_any_step(tmp_path):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "gpu_memory_mib").write_text("77")
    home = tmp_path / "home"
    home.mkdir()
    (home / "tmp").symlink_to(secret)
    with pytest.raises(OSError):
        disk.read_of_job(home, STEPS, most=32)
    (home / "tmp").unlink()
    (home / "tmp").mkdir()
    (home / "tmp" / "gpu_memory_mib").symlink_to(secret / "gpu_memory_mib")
    with pytest.raises(OSError):
        disk.read_of_job(home, STEPS, most=32)


def test_a_pipe_or_a_folder_in_its_place_is_no_file_and_holds_nobody_up(tmp_path):
    (tmp_path / "tmp").mkdir()
    os.mkfifo(tmp_path / "tmp" / "gpu_memory_mib")
    with pytest.raises(ValueError, match="no plain file"):
        disk.read_of_job(tmp_path, STEPS, most=32)
    with pytest.raises(OSError):
        disk.read_of_job(tmp_path, ("tmp", "gpu_memory_mib", "x"), most=32)


def at_once(act, times=16):
    """The answers of so many threads that begin together."""
    line = threading.Barrier(times)

    def one(number):
        line.wait(10)
        return act(number)

    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(one, range(times)))


def test_writers_of_one_file_at_once_leave_the_whole_of_one_and_nothing_beside_it(tmp_path):
    path = tmp_path / "key"
    for _ in range(20):
        at_once(lambda number: disk.write_whole(path, bytes([number]) * 4096, sync=False))
        body = path.read_bytes()
        assert len(body) == 4096 and len(set(body)) == 1
    assert [one.name for one in tmp_path.iterdir()] == ["key"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path):
    path = tmp_path / "taken"
    path.mkdir()
    with pytest.raises(OSError):
        disk.write_whole(path, b"new")
    assert [one.name for one in tmp_path.iterdir()] == ["taken"]


def test_the_first_of_many_writers_decides_for_all(tmp_path):
    for turn in range(20):
        path = tmp_path / f"key-{turn}"
        told = at_once(lambda number, path=path: disk.write_first(path, bytes([number]) * 32))
        assert set(told) == {path.read_bytes()}
    assert len(list(tmp_path.iterdir())) == 20

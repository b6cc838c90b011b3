"""Files that a job owns are read by handle: it can show us nothing that it may not see itself."""

import os

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

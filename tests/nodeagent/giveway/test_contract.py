"""What a job may choose, and what it may say of a checkpoint."""

import os
from pathlib import Path

import pytest

from nodeagent.giveway import folder
from nodeagent.giveway.contract import CHECKPOINT, Choice, Mark, choice_of, mark_of


@pytest.fixture
def home(tmp_path):
    (tmp_path / "giveway").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("said", "signal"),
    [({}, "TERM"), ({"GIVEWAY_SIGNAL": "sigusr1"}, "USR1"), ({"GIVEWAY_SIGNAL": "none"}, "NONE")],
)
def test_a_job_chooses_its_signal(said, signal):
    assert choice_of(said) == Choice(signal=signal)


@pytest.mark.parametrize(
    "hook",
    [
        "http://10.0.0.1:80/",
        "https://127.0.0.1/",
        "http://user@127.0.0.1/",
        "http://127.0.0.1.evil.example/",
        "file:///etc/passwd",
        "http://[::1",
        "http://127.0.0.1/\x7f",
        "http://127.0.0.1/\u00e9",
        "http://127.0.0.1/" + "a" * 500,
    ],
)
def test_only_the_job_s_own_node_is_called(hook):
    assert choice_of({"GIVEWAY_HOOK": hook}).hook == ""


def test_an_address_of_the_node_itself_is_called():
    assert choice_of({"GIVEWAY_HOOK": "http://localhost:8080/leave"}).hook != ""


def test_a_signal_that_is_none_counts_as_sigterm():
    assert choice_of({"GIVEWAY_SIGNAL": "KILL"}).signal == "TERM"


def test_a_checkpoint_says_its_step_and_path():
    assert mark_of(b'{"step": 7, "path": "/ckpt/7"}') == Mark(7, "/ckpt/7")


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"{",
        b"[" * 4000,
        b"[]",
        b"{}",
        b'{"step": -1}',
        b'{"step": true}',
        b'{"step": 1.5}',
        b'{"step": "1"}',
    ],
)
def test_what_is_no_checkpoint_is_none(said):
    assert mark_of(said) is None


def test_a_path_of_any_length_and_any_bytes_fits_the_books():
    mark = mark_of(b'{"step": 1, "path": "' + b"a" * 900 + b'\\u0000\\ud800"}')
    assert len(mark.path) == 400
    assert "\x00" not in mark.path


def test_what_is_put_is_found(home):
    folder.put(home, "notice.json", b"words")
    assert folder.look(home, "notice.json")[0] == b"words"
    assert [one.name for one in (home / "giveway").iterdir()] == ["notice.json"]


def test_a_link_in_the_job_s_folder_is_never_followed(home, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text('{"step": 1}')
    (home / "giveway" / CHECKPOINT).symlink_to(secret)
    assert folder.look(home, CHECKPOINT) is None


def test_a_folder_that_the_job_replaced_by_a_link_is_never_written_to(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    home = tmp_path / "home"
    home.mkdir()
    (home / "giveway").symlink_to(elsewhere)
    with pytest.raises(OSError, match="."):
        folder.put(home, "notice.json", b"words")
    assert list(elsewhere.iterdir()) == []


def test_a_pipe_or_a_long_file_is_no_answer(home):
    os.mkfifo(home / "giveway" / "ack")
    (home / "giveway" / CHECKPOINT).write_bytes(b"x" * 5000)
    assert folder.look(home, "ack") is None
    assert folder.look(home, CHECKPOINT) is None


def test_a_job_that_has_no_folder_says_nothing():
    assert folder.look(Path("/nowhere"), "ack") is None

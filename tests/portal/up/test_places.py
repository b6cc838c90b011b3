"""Where `up` can run, and how it says that it cannot."""

import json
import os
import shutil
import signal
import tempfile
from pathlib import Path

import psycopg
import pytest

from portal.up.folders import SOCKET_PATH_LIMIT, socket_folder, work_folder
from portal.up.refusal import Refused
from tests.stack import RunningStack
from tests.waiting import until

ORDINARY = ("unshare", "--user", "--map-user=1000", "--map-group=1000") if os.geteuid() == 0 else ()


@pytest.mark.flow
def test_it_runs_as_an_ordinary_user_in_a_strange_deep_place_without_the_locale(tmp_path):
    """All at once, for each costs a start: Chinese, spaces, depth, a 0700 parent, no locale."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    deep = closed / "数据 folder with spaces" / "/".join(["a rather long name for a folder"] * 6)
    stack = RunningStack(
        *(deep, "--no-agent", "--first-run", "empty", "--web-workers", "2"),
        prefix=ORDINARY,
        LC_ALL="xx_YY.ISO-8859-99",
        LANG="xx_YY",
    ).ready()
    try:
        stack.healthy_again()
        assert len(stack.pids("portal.asgi:application")) == 2
    finally:
        assert stack.stop() == 0


@pytest.mark.flow
def test_engines_of_the_site_are_used_and_nothing_is_embedded(engines, tmp_path):
    engines.postgres.create_database("gpupool_site")
    url = engines.postgres.address("gpupool_site")
    stack = RunningStack(
        *(tmp_path / "d", "--no-agent"), DATABASE_URL=url, REDIS_URL=engines.valkey.address(60)
    ).ready()
    try:
        assert stack.health()["code"] == 200
        assert stack.pids("pginstall/bin/postgres") == stack.pids("valkey-server") == []
        assert not (tmp_path / "d/postgres").exists()
        assert "database_url" not in json.loads((tmp_path / "d/run/connection.json").read_text())
        with psycopg.connect(url) as link:
            assert link.execute("SELECT count(*) > 0 FROM django_migrations").fetchone() == (True,)
    finally:
        assert stack.stop() == 0


def test_a_database_that_cannot_be_reached_is_said_and_nothing_stays(engines, tmp_path):
    stack = RunningStack(
        tmp_path / "d",
        "--no-agent",
        DATABASE_URL="postgresql://nobody:word@127.0.0.1:1/none",
        REDIS_URL=engines.valkey.address(60),
    )
    assert stack.ended() != 0
    assert "The database cannot be used" in stack.said
    assert "word" not in stack.said
    assert "Traceback" not in stack.said


def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path):
    (tmp_path / "file").touch()
    stack = RunningStack(tmp_path / "file" / "d", "--no-agent")
    assert stack.ended() != 0
    assert stack.said.count("\n") == 1
    assert "cannot be written" in stack.said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--port", "70000"), "--port must lie between"),
        (("--host", "10.1.2.3"), "--host must be a loopback address"),
        (("--web-workers", "0"), "--web-workers must lie between"),
        (("--fleet", "nowhere.yaml"), "does not exist"),
    ],
)
def test_an_option_that_cannot_be_meant_is_one_clear_line(tmp_path, options, words):
    stack = RunningStack(tmp_path / "d", *options)
    assert stack.ended() != 0
    assert stack.said.count("\n") == 1
    assert words in stack.said


def test_a_stop_while_it_is_coming_up_leaves_nothing(tmp_path):
    stack = RunningStack(tmp_path / "d", "--no-agent")
    until(lambda: "migrate: starting" in stack.said, what="it is on its way")
    below = stack.below()
    stack.process.send_signal(signal.SIGINT)
    assert stack.ended() == 0
    assert below
    assert not [pid for pid in below if Path(f"/proc/{pid}/cwd").exists()]


def test_sockets_lie_in_a_short_private_folder_whatever_tmpdir_says(tmp_path, monkeypatch):
    long = tmp_path / ("long" * 30)
    long.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(long))
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    made = socket_folder()
    try:
        assert len(os.fsencode(made / ".s.PGSQL.5432")) <= SOCKET_PATH_LIMIT
        assert made.stat().st_mode & 0o077 == 0
    finally:
        shutil.rmtree(made)


def test_no_place_for_sockets_is_one_clear_line(monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(Refused, match="Set TMPDIR to a short folder"):
        socket_folder()


def test_roots_jobs_need_a_work_folder_that_their_accounts_can_reach(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(Refused, match="cannot pass"):
        work_folder(closed / "work")


def test_an_ordinary_user_keeps_the_work_beside_its_own_data(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    work_folder(tmp_path / "deep" / "work")
    assert (tmp_path / "deep" / "work").stat().st_mode & 0o777 == 0o711

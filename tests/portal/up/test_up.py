"""`manage.py up` on the real engines: what it promises to whoever starts it."""

import json
import os
import signal
import socket
import stat
from pathlib import Path

import psycopg
import pytest

from tests.portal.up.test_supervisor import gone
from tests.stack import RunningStack
from tests.waiting import until

pytestmark = pytest.mark.flow


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return tmp_path_factory.mktemp("installation")


@pytest.fixture(scope="module")
def stack(data):
    """One stack for the drills that leave it healthy."""
    running = RunningStack(data / "d", "--no-agent").ready()
    yield running
    if running.process.poll() is None:
        running.stop()


def test_it_is_ready_only_when_every_part_is_well(stack):
    told = stack.health()
    assert told["code"] == 200
    assert {name for name, part in told["parts"].items() if part["ok"]} == {
        *("database", "migrations", "broker", "channels", "workers", "beat", "agents"),
    }


def test_secrets_and_logs_are_for_the_owner_alone(stack):
    private = [stack.data, *stack.data.glob("run/*"), *stack.data.glob("log/*")]
    open_to_others = [p for p in private if p.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)]
    assert open_to_others == []


def test_no_process_carries_the_database_password_in_its_environment_or_arguments(stack):
    word = json.loads((stack.data / "run/secrets.json").read_text())["postgres_password"].encode()
    seen = []
    for pid in stack.below():
        for part in ("environ", "cmdline"):
            try:
                if word in Path(f"/proc/{pid}/{part}").read_bytes():
                    seen.append((pid, part))
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
    assert seen == []


def test_the_passwords_are_printed_and_kept(stack):
    kept = stack.data / "credentials.json"
    people = json.loads(kept.read_text(encoding="utf-8"))
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert people
    for person in people:
        assert person["username"] in stack.said
        assert person["password"] in stack.said
        assert len(person["password"]) >= 12
    assert len({person["password"] for person in people}) == len(people)


def test_a_second_start_on_the_same_data_is_one_clear_line(stack):
    second = RunningStack(stack.data, "--no-agent")
    assert second.ended() != 0
    assert second.said.count("\n") == 1
    assert f"already running (process {stack.process.pid})" in second.said
    assert stack.health()["code"] == 200


def test_a_busy_port_is_one_clear_line(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        late = RunningStack(tmp_path / "d", "--no-agent", "--port", str(port))
        assert late.ended() != 0
    assert late.said.count("\n") == 1
    assert f"Port {port} on 127.0.0.1 cannot be used" in late.said


@pytest.mark.parametrize(
    ("words", "many"),
    [
        ("valkey-server", 1),
        ("portal.asgi:application", 1),
        ("-Q rounds", 1),
        ("-Q default", 1),
        ("beat", 1),
    ],
)
def test_a_killed_part_comes_back_and_the_stack_is_well_again(stack, words, many):
    killed = stack.pids(words)[:many]
    assert killed
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    until(lambda: all(gone(pid) for pid in killed))
    until(lambda: set(stack.pids(words)) - set(killed), what="a new process")
    stack.healthy_again()
    assert "killed by SIGKILL; again in" in stack.said


def test_a_killed_postgresql_comes_back_with_its_data_in_spite_of_its_backends(stack):
    url = json.loads((stack.data / "run/connection.json").read_text())["database_url"]
    with psycopg.connect(url, autocommit=True) as link:
        link.execute("CREATE TABLE IF NOT EXISTS drill (word text)")
        link.execute("INSERT INTO drill VALUES ('kept')")
    master = until(lambda: stack.pids("pginstall/bin/postgres -D"))[0]
    os.kill(master, signal.SIGKILL)
    until(lambda: gone(master))
    stack.healthy_again()
    with psycopg.connect(url) as link:
        assert link.execute("SELECT count(*) > 0 FROM drill").fetchone() == (True,)


def test_stop_leaves_no_process_and_no_socket_and_the_data_stay(stack):
    url = json.loads((stack.data / "run/connection.json").read_text())["database_url"]
    sockets = Path(psycopg.conninfo.conninfo_to_dict(url)["host"])
    below = stack.below()
    assert sockets.is_dir()
    said = stack.said
    stack.process.send_signal(signal.SIGTERM)
    assert stack.ended() == 0
    assert all(gone(pid) for pid in below)
    assert not sockets.exists()
    order = [
        line.split()[3] for line in stack.said[len(said) :].splitlines() if ": stopped" in line
    ]
    assert order[0] == "web:"
    assert order[-2:] == ["valkey:", "postgres:"]


def test_a_new_start_has_the_old_data_even_after_the_supervisor_was_killed(stack):
    assert stack.process.poll() is not None
    password = json.loads((stack.data / "credentials.json").read_text())[0]["password"]
    again = RunningStack(stack.data, "--no-agent").ready()
    try:
        url = json.loads((stack.data / "run/connection.json").read_text())["database_url"]
        with psycopg.connect(url) as link:
            assert link.execute("SELECT count(*) > 0 FROM drill").fetchone() == (True,)
        assert password in again.said
    except BaseException:
        again.stop()
        raise
    below = again.below()
    again.process.kill()
    again.ended()
    until(lambda: all(gone(pid) for pid in below), what="the kernel ended what the killed one ran")
    sockets = Path(psycopg.conninfo.conninfo_to_dict(url)["host"])
    third = RunningStack(stack.data, "--no-agent").ready()
    try:
        assert third.health()["code"] == 200
        assert not sockets.exists()
    finally:
        assert third.stop() == 0

"""The names of accounts never keep a card from its answer."""

import os
import pwd
import threading
from types import SimpleNamespace

import pytest

from nodeagent import clock
from nodeagent.drivers.nvml import owners, strangers
from nodeagent.drivers.nvml.owners import Owners
from tests.nodeagent.waiting import until


@pytest.fixture
def directory(monkeypatch):
    """A directory that answers when it is told to, and who asked it, in which thread."""
    answers, asked = threading.Event(), []

    def getpwuid(uid):
        asked.append((uid, threading.current_thread()))
        answers.wait(60)
        if uid == 404:
            raise KeyError(uid)
        return SimpleNamespace(pw_name=f"name{uid}")

    monkeypatch.setattr(pwd, "getpwuid", getpwuid)
    yield SimpleNamespace(answers=answers, asked=asked)
    answers.set()


async def test_a_directory_that_hangs_costs_nobody_more_than_its_moment(directory, monkeypatch):
    known = Owners()
    monkeypatch.setattr(strangers, "OWNERS", known)
    me = os.getuid()
    assert strangers._of(os.getpid()) == f" of account {me}"
    assert known.of(7) == "account 7", "no second question behind one that hangs"
    assert [uid for uid, _ in directory.asked] == [me]
    assert directory.asked[0][1] is not threading.current_thread()
    # From now on a look that waited would wait for ever.
    monkeypatch.setattr(owners, "PATIENCE_S", 0.0)
    assert known.of(me) == f"account {me}"
    directory.answers.set()
    await until(lambda: known.of(me) == f"name{me}")


async def test_a_name_is_kept_and_asked_for_again_after_a_while(directory, monkeypatch):
    known = Owners()
    directory.answers.set()
    monkeypatch.setattr(owners, "PATIENCE_S", 60.0)
    assert [known.of(7), known.of(7), known.of(404)] == ["name7", "name7", "account 404"]
    assert [uid for uid, _ in directory.asked] == [7, 404]
    later = clock.boottime() + owners.KEPT_S + 1
    monkeypatch.setattr(owners.clock, "boottime", lambda: later)
    assert known.of(7) == "name7"
    await until(lambda: [uid for uid, _ in directory.asked] == [7, 404, 7])

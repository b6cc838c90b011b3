"""Cleaning after one account takes nothing of the node, of a person, or of work that starts."""

import os
from dataclasses import replace

import pytest

from nodeagent import records, secrets_shelf
from nodeagent.protocol.report import Origin
from nodeagent.protocol.vocabulary import WorkloadKind
from nodeagent.records import Record
from nodeagent.runners import leftovers
from nodeagent.runners.accounts import Account

ROOT = os.geteuid() == 0
UID = 1_000_000 + os.getpid() if ROOT else os.geteuid()
OTHER = UID + 5_000_000 if ROOT else UID


@pytest.fixture
def memory(tmp_path, monkeypatch):
    """A folder that stands for the machine's memory; no process of the account lives."""
    monkeypatch.setattr(leftovers, "_alive", lambda uid: [])
    monkeypatch.setattr(leftovers.os, "getuid", lambda: 0)
    made = tmp_path / "shm"
    made.mkdir()
    return made


def owned(path, uid):
    if ROOT:
        os.chown(path, uid, uid, follow_symlinks=False)
    return path


def taken(memory, **more):
    return leftovers.take(UID, sysv=memory, shared=(memory,), **more)


def written(path, uid=UID):
    path.write_bytes(b"x")
    return owned(path, uid)


@pytest.mark.parametrize("swapped", ["link", "file"])
def test_a_folder_that_becomes_a_link_leads_nowhere_else(memory, tmp_path, monkeypatch, swapped):
    """Its owner has work that lives, and puts something else there once the names are listed."""
    inside = memory / "d"
    etc = inside / "etc"
    etc.mkdir(parents=True)
    owned(inside, OTHER), owned(etc, OTHER)
    written(etc / "shadow")
    victim = tmp_path / "etc"
    victim.mkdir()
    written(victim / "shadow", UID)

    def swap(uid):
        if swapped == "link":
            etc.rename(inside / "was")
            etc.symlink_to(victim)
        else:
            (etc / "shadow").rename(inside / "was")
            written(etc / "shadow", OTHER)
        return []

    monkeypatch.setattr(leftovers, "_alive", swap)
    assert taken(memory) == ()
    assert (victim / "shadow").exists() and (etc / "shadow").exists()


def test_what_an_account_left_in_the_folder_of_another_goes(memory):
    (memory / "d").mkdir()
    owned(memory / "d", OTHER)
    written(memory / "d" / "mine")
    written(memory / "d" / "theirs", OTHER)
    assert any("d/mine" in word for word in taken(memory))
    assert (memory / "d" / "theirs").exists() == ROOT


def test_folders_in_folders_without_end_are_looked_through_to_a_depth(memory):
    way = memory
    for _ in range(leftovers.DEEPEST + 3):
        way = way / "d"
        way.mkdir()
        owned(way, UID)
    written(way / "deep")
    written(memory / "d" / "mine")
    said = taken(memory)
    assert len(said) == 1 and "d/mine" in said[0] and (way / "deep").exists()


def test_secrets_of_work_that_starts_stay_while_its_account_is_cleaned(tmp_path):
    """Nothing runs as the account yet: its shelf was laid out, its process is not there."""
    shelf = secrets_shelf.place_of(str(tmp_path), "at-b")
    account = Account(UID, UID, (), "job") if ROOT else Account(None, None, (), "me")
    secrets_shelf.put(shelf, {"key": "hush"}, account)
    said = leftovers.take(UID)
    assert (shelf / "key").read_text() == "hush" and not any("gpupool" in one for one in said)
    secrets_shelf.remove(shelf)
    assert not shelf.parent.exists()


def test_somebody_elses_link_in_the_place_of_all_shelves_is_not_followed(tmp_path):
    target = tmp_path / "target"
    (target / "at-a").mkdir(parents=True)
    shelf = secrets_shelf.place_of(str(tmp_path), "at-a")
    shelf.parent.symlink_to(target)
    secrets_shelf.remove(shelf)
    secrets_shelf.sweep(str(tmp_path), set())
    assert (target / "at-a").exists()
    secrets_shelf.put(shelf, {"key": "hush"}, Account(None, None, (), "me"))
    assert not list((target / "at-a").iterdir()) and not shelf.parent.is_symlink()
    secrets_shelf.remove(shelf)


def accepted(runner, name, account, folders, **more):
    origin = Origin(kind=WorkloadKind.JOB, number=1, project="", account=account)
    record = Record(name, folders[0] / "work" / name, origin=origin, **more)
    runner.records[name] = record
    records.accept(record)
    return record


@pytest.fixture
def asked(monkeypatch):
    """For each time that an account is cleaned: whether other work of it is expected."""
    found = []

    def take(uid, expected):
        found.append(expected())
        return ()

    monkeypatch.setattr(leftovers, "take", take)
    return found


@pytest.mark.parametrize(
    ("account", "ended", "told", "expected"),
    [
        ("uid:200123", None, True, True),
        ("uid:200123", 2.0, True, False),
        ("uid:200124", None, True, False),
        ("uid:200124", None, False, True),
    ],
)
async def test_work_counts_as_the_accounts_from_its_acceptance_to_its_end(
    runner, folders, asked, account, ended, told, expected
):
    accepted(runner, "at-1", "uid:200123", folders, ended_at=1.0)
    other = accepted(runner, "at-2", account, folders, ended_at=ended)
    if not told:
        runner.records["at-2"] = replace(other, origin=None)
    await runner.clean("at-1")
    assert asked == [expected]


async def test_nothing_is_taken_from_the_account_of_a_person(runner, folders, asked):
    accepted(runner, "at-1", "user:ada", folders, ended_at=1.0)
    await runner.clean("at-1")
    assert asked == []


def test_nothing_is_taken_while_work_of_the_account_is_expected(memory):
    written(memory / "mine")
    assert taken(memory, expected=lambda: True) == () and (memory / "mine").exists()
    assert len(taken(memory)) == 1 and not (memory / "mine").exists()

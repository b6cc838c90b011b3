"""The kept files of a notebook go with it to whoever runs it next, and nothing else does."""

import os
from pathlib import Path

import pytest

from nodeagent.notebooks import launch
from nodeagent.notebooks.environment import Unavailable
from nodeagent.runners.accounts import Account
from tests.nodeagent.fake_portal import job

HEIR = 201_234


@pytest.fixture
def said(monkeypatch):
    """Whose each name was made, by the agent's word; nobody need be root for it."""
    found = []

    def chown(name, uid, gid, **how):
        found.append((Path(name).name, uid, how.get("follow_symlinks", True)))

    monkeypatch.setattr(os, "chown", chown)
    return found


@pytest.fixture
def homes(tmp_path):
    """The leaver's folder, with a link that leads out of it."""
    outside = tmp_path / "outside"
    outside.write_text("not theirs")
    folder = tmp_path / "homes" / "pj-1.us-1"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep/paper.ipynb").write_text("{}")
    (folder / "link").symlink_to(outside)
    return folder.parent


def kept(homes, uid):
    """What the agent does when the portal names the folder and an account."""
    work = job("at-1", "x", home="pj-1.us-1", account=f"uid:{uid}")
    return launch.kept_files(homes, work)


def test_what_was_the_leavers_becomes_the_heirs_links_themselves_and_the_folder_last(
    homes, said, monkeypatch
):
    monkeypatch.setattr(launch, "resolve", lambda _: Account(HEIR, HEIR, (), "heir"))
    with pytest.raises(Unavailable, match="belong to account"):
        kept(homes, HEIR)
    assert {name for name, _, _ in said} == {"pj-1.us-1", "deep", "paper.ipynb", "link"}
    assert said[-1][0] == "pj-1.us-1"
    assert {(uid, follows) for _, uid, follows in said} == {(HEIR, False)}


def test_files_of_a_third_account_stay_its_own(homes, said):
    launch._give_over(homes / "pj-1.us-1", os.geteuid() + 1, HEIR, HEIR)
    assert [name for name, _, _ in said] == ["pj-1.us-1"]


def test_a_folder_that_is_the_accounts_own_is_opened_as_it_is(homes, said, monkeypatch):
    own = os.geteuid()
    monkeypatch.setattr(launch, "resolve", lambda _: Account(own, own, (), "me"))
    assert kept(homes, own) == homes / "pj-1.us-1"
    assert said == []

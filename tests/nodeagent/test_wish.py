"""The wish on disk: newer wins, secrets stay out."""

import pytest

from nodeagent.protocol.desired import Desired
from nodeagent.wish import NOTHING, Wish
from tests.nodeagent.fake_portal import job


def test_only_a_newer_wish_is_taken_and_the_epoch_counts_first(tmp_path):
    wish = Wish(tmp_path / "wish.json")
    assert wish.accept(Desired(epoch=1, generation=5))
    assert not wish.accept(Desired(epoch=1, generation=5))
    assert not wish.accept(Desired(epoch=1, generation=4))
    assert not wish.accept(Desired(epoch=0, generation=9))
    assert wish.accept(Desired(epoch=2, generation=1))
    assert wish.since == (2, 1)


def test_a_wish_from_the_disk_lacks_secrets_and_is_made_whole_by_the_same_number(tmp_path):
    secret = job("at-1", "x", env={"KEY": "s3cret"}, files={"a": "s3cret"})
    new = Desired(epoch=1, generation=5, work=(secret,))
    Wish(tmp_path / "wish.json").accept(new)
    assert b"s3cret" not in (tmp_path / "wish.json").read_bytes()
    again = Wish(tmp_path / "wish.json")
    assert (again.whole, again.since, again.desired.generation) == (False, (0, 0), 5)
    assert not again.accept(Desired(epoch=1, generation=4))
    assert again.accept(new) and again.whole
    assert again.desired.work[0].env == {"KEY": "s3cret"}


@pytest.mark.parametrize("body", [b"", b'{"epoch": 1, "gener', b"[]", b"\xff\xfe"])
def test_a_torn_wish_is_no_wish(tmp_path, body):
    (tmp_path / "wish.json").write_bytes(body)
    assert Wish(tmp_path / "wish.json").desired == NOTHING


def test_the_time_of_an_attempt_counts_from_its_first_wish_over_restarts(tmp_path, monkeypatch):
    times = iter([10.0, 20.0, 30.0])
    monkeypatch.setattr("nodeagent.clock.boottime", lambda: next(times))
    wish = Wish(tmp_path / "wish.json")
    wish.accept(Desired(epoch=1, generation=1, work=(job("at-1", "x"),)))
    wish.accept(Desired(epoch=1, generation=2, work=(job("at-1", "x"), job("at-2", "x"))))
    monkeypatch.setattr("nodeagent.clock.boottime", lambda: 99.0)
    again = Wish(tmp_path / "wish.json")
    assert [again.listed_at(name) for name in ("at-1", "at-2", "at-3")] == [10.0, 20.0, 99.0]
    monkeypatch.setattr("nodeagent.clock.boot_id", lambda: "another boot")
    assert Wish(tmp_path / "wish.json").listed_at("at-1") == 99.0


@pytest.mark.parametrize("body", ["", "[]", '{"boot": 1}', '{"at": {"at-1": "x"}}'])
def test_torn_times_are_no_times(tmp_path, monkeypatch, body):
    (tmp_path / "listed.json").write_text(body)
    monkeypatch.setattr("nodeagent.clock.boottime", lambda: 99.0)
    monkeypatch.setattr("nodeagent.clock.boot_id", lambda: None)
    assert Wish(tmp_path / "wish.json").listed_at("at-1") == 99.0

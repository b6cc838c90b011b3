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

"""What a node tells of cleaning: why a slice is not free yet, and what was found and removed."""

import msgspec
import pytest

from nodeagent.protocol.report import FoundWork
from nodeagent.protocol.vocabulary import WorkFound
from pool.cycle.alerting.stale import stale_ended
from pool.cycle.round import run_rounds
from pool.cycle.watch import watch
from pool.models import Alert, Attempt, Event, Slice
from pool.services.hardware.cleaning import cleaning_news, rank_unclean
from tests.pool.place import free, seen, settled

pytestmark = pytest.mark.django_db
WHY = "4000 of 9728 MiB are still taken, and no process that lives holds them"


@pytest.fixture
def place():
    return settled()


def over(place, work, *, clean, **words):
    """The node tells that the work ended, with these words on its cleaning."""
    place.node.finish(work, clean=clean)
    place.node.work = {
        uid: msgspec.structs.replace(one, **words) for uid, one in place.node.work.items()
    }
    place.node.tell()


def test_a_slice_that_is_not_clean_is_told_with_the_reason_and_given_to_nobody(place):
    work = place.submit()
    place.node.turn()
    over(place, work, clean=False, unclean=WHY)
    attempt, row = Attempt.objects.get(), Slice.objects.get()
    assert attempt.unclean == WHY and attempt.clean_at is None
    assert (row.state, row.state_reason) == ("cleaning", WHY)
    (alert,) = Alert.objects.all()
    assert alert.key == f"unclean:{row.uid}" and alert.detail["reason"] == WHY
    count = Event.objects.count()
    place.node.tell()
    assert Event.objects.count() == count, "the same again changes nothing"
    second = place.submit()
    run_rounds()
    held = {one.holds.filter(held__upper_inf=True).count() for one in Slice.objects.all()}
    assert held <= {0, 1} and row.holds.get().placement.attempt.workload_id == work.pk
    assert seen(second).pk != work.pk
    assert stale_ended() == 0, "it is still not clean"
    over(place, work, clean=True, unclean="")
    attempt.refresh_from_db()
    assert (attempt.unclean, attempt.clean_at is None) == ("", False)
    assert seen(row).state == "ready" and seen(work).state == "succeeded"
    assert stale_ended() == 1 and not Alert.objects.exclude(state="resolved").exists()


def test_a_slice_past_its_time_to_be_cleaned_keeps_its_one_alert_and_comes_back(place):
    work = place.submit()
    place.node.turn()
    over(place, work, clean=False, unclean=WHY)
    for _ in range(3):
        Slice.objects.update(deadline="2020-01-01T00:00:00Z")
        watch()
        stale_ended()
    row = Slice.objects.get()
    assert row.state == "failed"
    assert [one.state for one in Alert.objects.filter(key__startswith="unclean")] == ["firing"]
    over(place, work, clean=True, unclean="")
    assert seen(work).state == "succeeded" and stale_ended() == 1
    Slice.objects.filter(state="failed").update(deadline="2020-01-01T00:00:00Z")
    watch()
    place.node.turn()
    assert seen(row).state == "gone", "its place can be cut anew"
    free(place)


def test_what_was_found_and_removed_is_kept_with_the_attempt(place):
    work = place.submit()
    place.node.turn()
    many = tuple(f"process p{n} ({n})\x00{'x' * 300}" for n in range(100))
    over(place, work, clean=True, removed=("shared memory segment 7 (3 MiB)", *many))
    kept = Attempt.objects.get().removed
    assert kept[0] == "shared memory segment 7 (3 MiB)" and len(kept) == 60
    assert all(len(one) <= 160 and "\x00" not in one for one in kept)


def test_what_a_node_has_forgotten_since_stays_told(place):
    """Between two tries of cleaning the agent may begin anew, and knows the second alone."""
    work = place.submit()
    place.node.turn()
    over(place, work, clean=False, unclean=WHY, removed=("process p (1)",))
    over(place, work, clean=True, unclean="", removed=("process q (2)",))
    assert Attempt.objects.get().removed == ["process p (1)", "process q (2)"]


def _said(attempt, rank, words):
    found = FoundWork(
        attempt=attempt.uid, workload="wl-1", state=WorkFound.RUNNING, rank=rank, unclean=words
    )
    return cleaning_news(attempt=attempt, found=found)


def test_each_rank_of_a_gang_has_its_own_words_and_the_same_again_changes_nothing():
    """Ranks report by turns: one row for all must not be written anew by each of them."""
    attempt = Attempt(size=3)
    for rank in (2, 0):
        attempt.unclean = _said(attempt, rank, f"{rank} processes\nlive")["unclean"]
    assert attempt.unclean == "rank 0: 0 processes live\nrank 2: 2 processes live"
    assert not _said(attempt, 0, "0 processes\nlive") and not _said(attempt, 2, "2 processes live")
    assert not _said(attempt, 1, ""), "a rank that is clean takes nothing from the others"
    assert rank_unclean(attempt, 2) == "rank 2: 2 processes live"
    attempt.unclean = _said(attempt, 0, "")["unclean"]
    assert (rank_unclean(attempt, 0), attempt.unclean) == ("", "rank 2: 2 processes live")


def test_so_many_ranks_as_find_room_are_told_and_the_rest_change_nothing():
    attempt = Attempt(size=64)
    for _ in range(2):
        for rank in range(64):
            attempt.unclean = _said(attempt, rank, "x" * 900).get("unclean", attempt.unclean)
    assert len(attempt.unclean) <= 400 and attempt.unclean.count("\n") == 2
    assert not any(_said(attempt, rank, "x" * 900) for rank in range(64))

"""A period of the books as recorded work: what is in it, and how long each is taken to run."""

from datetime import timedelta

import pytest

from pool.clock import now
from pool.cycle.whatif.books import recorded
from pool.models import Attempt, Node, Placement
from pool.services.whatif.runs import Left
from tests import rows
from tests.pool.cycle.whatif.test_run import ran_once

pytestmark = [pytest.mark.django_db, pytest.mark.handmade_books]

HOUR = timedelta(hours=1)


def test_a_period_of_the_books_is_what_waited_and_ran_in_it(pool):
    place, project, user = pool
    until = now() - HOUR
    since = until - 10 * HOUR
    inside = ran_once(project, place, user, since + HOUR, HOUR, 2 * HOUR)
    before = ran_once(project, place, user, since - 2 * HOUR, HOUR, 3 * HOUR)
    ran_once(project, place, user, since - 9 * HOUR, HOUR, HOUR)
    gone = rows.workload(into=project, partitions=[place], owner=user)
    type(gone).objects.filter(pk=gone.pk).update(
        state="cancelled", queued_at=since + HOUR, ended_at=since + 2 * HOUR
    )
    waits = rows.workload(into=project, partitions=[place], owner=user, expected_seconds=777)
    type(waits).objects.filter(pk=waits.pk).update(state="queued", queued_at=since + 5 * HOUR)
    found = recorded(since, until)
    works = {work.number: work for work in found.trace().works}
    assert set(works) == {inside.pk, before.pk, waits.pk}
    assert found.left_out == {"never_ran": 1}
    assert (works[inside.pk].duration_s, works[inside.pk].counted) == (7200.0, True)
    assert works[before.pk].duration_s == 7200.0 and not works[before.pk].counted
    assert works[before.pk].arrives_s == since.timestamp()
    assert works[waits.pk].duration_s == 777.0
    assert {kind.team for kind in found.kinds} == {"vision"}


def _again(work, state, *spans):
    """Runs of a workload from each begin to each end; one without an end goes on."""
    for number, (begin, end) in enumerate(spans, 1):
        attempt = Attempt.objects.create(
            workload=work,
            number=number,
            node=Node.objects.order_by("pk").first(),
            state="ended" if end else "open",
            clean_at=end,
        )
        Placement.objects.create(
            attempt=attempt,
            partition=work.partitions.get(),
            state="closed" if end else "open",
            opened_at=begin,
            closed_at=end,
        )
    type(work).objects.filter(pk=work.pk).update(state=state, queued_at=spans[0][0])


@pytest.mark.parametrize("every", [None, 600])
def test_work_that_is_not_over_is_taken_with_what_it_has_yet_to_run(pool, every):
    place, project, user = pool
    until, day = now(), 24 * HOUR
    since = until - day
    version = rows.template(checkpoint_seconds=every)
    words = {"into": project, "partitions": [place], "owner": user, "version": version}

    def made(hours):
        return rows.workload(**words, expected_seconds=hours * 3600)

    runs, waits, left, over = made(120), made(10), made(10), made(2)
    _again(runs, "running", (until - HOUR, None))
    _again(waits, "queued", (since - 5 * HOUR, since - HOUR))
    _again(left, "queued", (until - 5 * HOUR, until - 2 * HOUR))
    _again(over, "running", (until - 3 * HOUR, None))
    found = {work.number: work.duration_s / 3600 for work in recorded(since, until).works}
    assert found[runs.pk] == pytest.approx(120, abs=0.05)
    assert found[waits.pk] == pytest.approx(10 if every is None else 6, abs=0.05)
    assert found[left.pk] == pytest.approx(10, abs=0.05)
    assert found[over.pk] == pytest.approx(3, abs=0.05)


def test_work_that_ran_only_before_the_period_and_ended_in_it_is_left_out(pool):
    place, project, user = pool
    until = now()
    since = until - 10 * HOUR
    work = rows.workload(into=project, partitions=[place], owner=user)
    _again(work, "cancelled", (since - 5 * HOUR, since - HOUR))
    type(work).objects.filter(pk=work.pk).update(ended_at=since + HOUR)
    found = recorded(since, until)
    assert not found.works and found.left_out == {"never_ran": 1}


def test_taking_a_long_period_tells_how_far_it_is_and_can_be_ended(pool, monkeypatch):
    place, project, user = pool
    until = now() - HOUR
    since = until - 30 * HOUR
    for number in range(3):
        ran_once(project, place, user, since + number * HOUR, HOUR, 2 * HOUR)
    monkeypatch.setattr("pool.cycle.whatif.books.CHUNK", 1)
    said = []
    recorded(since, until, say=said.append)
    assert said == pytest.approx([1 / 3, 2 / 3, 1.0])

    def left(share):
        raise Left

    with pytest.raises(Left):
        recorded(since, until, say=left)

"""Retries and replays of a request: twenty hands with one key make one, and take its part once."""

import threading

import pytest
from django.db import connection

from pool.models import Quota, Request
from portal.models import IdempotentCall
from tests import rows
from tests.portal.callers import Caller
from tests.portal.world import World

KEY = {"Idempotency-Key": "ask-once"}
HANDS = 20


def at_once(call):
    """The same call by many hands at the same moment; every answer."""
    answers, start = [], threading.Barrier(HANDS)

    def hand():
        start.wait()
        answers.append(call())
        connection.close()

    threads = [threading.Thread(target=hand) for _ in range(HANDS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


@pytest.mark.django_db(transaction=True)
def test_retries_of_a_request_at_once_and_later_make_one_and_count_it_once():
    world = World()
    row = rows.quota(
        limit=80_000_000,
        kind="entitlement",
        project=world.own.project,
        partition=world.partition,
    )
    who = world.by("member")
    body = {
        "project": world.own.project.slug,
        "template": world.version.template.slug,
        "duration_seconds": 3600,
        "title": "only once",
    }
    answers = at_once(lambda: Caller(who.user, who.token).post("requests", body, **KEY))
    assert {one.status_code for one in answers} <= {201, 409}
    made = Request.objects.get(title="only once")
    taken = sum(one["amount"] for one in made.entitled if one["quota"] == row.pk)
    assert taken > 0
    for _ in range(3):
        replay = who.post("requests", body, **KEY)
        assert (replay.status_code, replay.json()["uid"]) == (201, made.uid)
    assert Quota.objects.get(pk=row.pk).held == taken
    assert Request.objects.filter(title="only once").count() == 1
    assert IdempotentCall.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_decision_sent_twenty_times_opens_one_lease():
    world = World()
    asked = world.own.asked()
    asked.partitions.add(world.partition)
    lead = world.by("lead")
    given = {"requests": [{"uid": asked.uid, "revision": asked.revision}]}
    path = "requests/approve-together"
    answers = at_once(lambda: Caller(lead.user, lead.token).post(path, given))
    codes = sorted(one.status_code for one in answers)
    assert codes.count(200) == 1, codes
    assert set(codes) <= {200, 400, 409}
    assert Request.objects.get(pk=asked.pk).lease.pk

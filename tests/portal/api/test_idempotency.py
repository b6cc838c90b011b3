"""Same key, same answer: a POST that is sent twice is done once."""

import threading
from datetime import timedelta

import pytest
from django.db import connection

from pool import clock
from pool.models import Event, Workload
from portal.api import idempotency
from portal.api.idempotency import KEPT
from portal.models import IdempotentCall
from tests.portal.callers import Caller

KEY = {"Idempotency-Key": "job-7"}


def test_the_second_call_is_the_first_ones_answer_and_writes_nothing(world):
    member = world.by("member")
    first = member.post("workloads", world.job(), **KEY)
    count = Workload.objects.count(), Event.objects.count()
    second = member.post("workloads", world.job(), **KEY)
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()
    assert second["Idempotent-Replay"] == "true"
    assert (Workload.objects.count(), Event.objects.count()) == count


def test_the_order_of_the_fields_does_not_matter_but_their_values_do(world):
    member = world.by("member")
    body = world.job()
    member.post("workloads", body, **KEY)
    again = member.post("workloads", dict(reversed(body.items())), **KEY)
    assert again.status_code == 201
    other = member.post("workloads", world.job(expected_seconds=601), **KEY)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")


def test_the_same_key_at_another_address_is_refused(world):
    member = world.by("member")
    assert member.post("tokens", {"name": "x"}, **KEY).status_code == 201
    assert member.post(f"workloads/{world.own.workload.uid}/hold", {}, **KEY).status_code == 422


def test_a_refusal_is_remembered_too_but_a_conflict_is_not(world):
    member = world.by("member")
    wrong = world.job(expected_seconds=-1)
    assert [member.post("workloads", wrong, **KEY).status_code for _ in range(2)] == [400, 400]
    assert IdempotentCall.objects.count() == 1
    path = f"workloads/{world.own.workload.uid}/resume"
    key = {"Idempotency-Key": "resume"}
    assert member.post(path, {}, **key).status_code == 409
    Workload.objects.filter(pk=world.own.workload.pk).update(state="stopped")
    assert member.post(path, {}, **key).status_code == 200


def test_keys_belong_to_their_token_and_are_forgotten_after_a_day(world):
    member, lead = world.by("member"), world.by("lead")
    member.post("tokens", {"name": "x"}, **KEY)
    assert lead.post("tokens", {"name": "y"}, **KEY).status_code == 201
    call = IdempotentCall.objects.get(user=member.user)
    IdempotentCall.objects.filter(pk=call.pk).update(
        created_at=call.created_at - KEPT - timedelta(minutes=1)
    )
    assert member.post("tokens", {"name": "z"}, **KEY).json()["name"] == "z"


def test_calls_that_are_over_are_swept_away(world, monkeypatch):
    monkeypatch.setattr(idempotency, "SWEEP", 1)
    member = world.by("member")
    member.post("tokens", {"name": "old"}, **{"Idempotency-Key": "old"})
    IdempotentCall.objects.update(created_at=clock.now() - KEPT - timedelta(minutes=1))
    member.post("tokens", {"name": "new"}, **{"Idempotency-Key": "new"})
    assert [call.key for call in IdempotentCall.objects.all()] == ["new"]


@pytest.mark.parametrize("key", ["", "x" * 201, "a\x7fb", "é"])
def test_a_key_that_is_none_is_400(world, key):
    answer = world.by("member").post("tokens", {"name": "x"}, **{"Idempotency-Key": key})
    assert (answer.status_code, list(answer.json()["detail"])) == (400, ["Idempotency-Key"])


def test_the_answer_with_a_new_token_is_kept_without_its_text(world):
    member = world.by("member")
    plain = member.post("tokens", {"name": "x"}, **KEY).json()["token"]
    kept = IdempotentCall.objects.get(user=member.user)
    assert plain not in str(kept.response)
    again = member.post("tokens", {"name": "x"}, **KEY)
    assert (again.status_code, again.json()["token"]) == (201, None)


@pytest.mark.django_db(transaction=True)
def test_of_many_calls_at_once_one_does_it_and_the_others_are_told_so(world):
    token = world.by("member").token
    user = world.by("member").user
    body = world.job()
    answers = []
    start = threading.Barrier(6)

    def call():
        who = Caller(user, token)
        start.wait()
        answers.append(who.post("workloads", body, **KEY))
        connection.close()

    threads = [threading.Thread(target=call) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    before = {world.own.workload.pk, world.other.workload.pk}
    made = Workload.objects.filter(name=world.version.template.slug).exclude(pk__in=before)
    assert made.count() == 1
    assert {a.status_code for a in answers} <= {201, 409}
    assert {a.json()["uid"] for a in answers if a.status_code == 201} == {made.get().uid}
    assert all(a["Retry-After"] == "1" for a in answers if a.status_code == 409)

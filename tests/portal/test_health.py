"""`/healthz` tells the truth, and strangers only the sum of it."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis
from django.db import connection

from portal import health, pulse
from portal.celery import app
from tests.rows import node
from tests.waiting import until

PARTS = {"database", "migrations", "agents", "broker", "channels", "workers", "beat"}


@pytest.fixture(autouse=True)
def nothing_kept():
    """Each test looks anew."""
    health._KEPT.clear()


@pytest.fixture
def everybody_lives(valkey, db):
    """What workers and beat leave when they run."""
    pulse.mark(*(f"queue:{name}" for name in health.QUEUES), pulse.BEAT)
    yield
    link = redis.Redis.from_url(valkey)
    link.flushdb()
    link.close()


def asked(client, **extra):
    answer = client.get("/healthz", **extra)
    return answer.status_code, json.loads(answer.content)


def test_all_well_is_200_with_every_part(client, everybody_lives):
    status, told = asked(client)
    assert status == 200
    assert told["status"] == "ok"
    assert set(told["parts"]) == PARTS
    assert all(part["ok"] for part in told["parts"].values())


@pytest.mark.parametrize(
    "stranger",
    [
        {"REMOTE_ADDR": "10.1.2.3"},
        {"REMOTE_ADDR": "127.0.0.1", "HTTP_X_FORWARDED_FOR": "10.1.2.3"},
        {"REMOTE_ADDR": "10.1.2.3", "HTTP_AUTHORIZATION": "Bearer wrong"},
        {"REMOTE_ADDR": "10.1.2.3", "HTTP_AUTHORIZATION": "Bearer "},
    ],
)
def test_a_stranger_learns_only_well_or_unwell(client, everybody_lives, stranger, settings):
    settings.HEALTH_TOKEN = "the-token"
    assert asked(client, **stranger) == (200, {"status": "ok"})


def test_whoever_has_the_token_sees_the_parts_from_anywhere(client, everybody_lives, settings):
    settings.HEALTH_TOKEN = "the-token"
    _, told = asked(client, REMOTE_ADDR="10.1.2.3", HTTP_AUTHORIZATION="Bearer the-token")
    assert set(told["parts"]) == PARTS


def test_workers_and_beat_that_left_no_mark_are_unwell(client, valkey, db):
    status, told = asked(client)
    assert status == 503
    unwell = {name for name, part in told["parts"].items() if not part["ok"]}
    assert unwell == {"workers", "beat"}
    assert told["parts"]["workers"]["each"] == {f"queue:{name}": False for name in health.QUEUES}


def test_one_missing_queue_is_enough_and_is_named(client, everybody_lives, valkey):
    link = redis.Redis.from_url(valkey)
    (key,) = link.keys("*queue:metering")
    link.delete(key)
    link.close()
    status, told = asked(client)
    assert status == 503
    assert told["parts"]["workers"]["each"]["queue:metering"] is False
    assert told["parts"]["workers"]["each"]["queue:rounds"] is True


def test_without_valkey_it_answers_and_names_what_is_lost(client, db, settings, monkeypatch):
    nowhere = "redis://127.0.0.1:1/0"
    monkeypatch.setitem(settings.CACHES["fast"], "LOCATION", nowhere)
    monkeypatch.setattr(
        health,
        "_broker",
        lambda: app.connection_for_write(nowhere).ensure_connection(max_retries=1, timeout=1),
    )
    status, told = asked(client)
    assert status == 503
    assert {name for name, part in told["parts"].items() if part["ok"]} >= {
        "database",
        "migrations",
    }
    for name in ("broker", "workers", "beat"):
        assert not told["parts"][name]["ok"]
        assert told["parts"][name]["why"]


def test_without_the_database_it_answers_within_its_own_patience(
    client, everybody_lives, monkeypatch
):
    monkeypatch.setattr(
        health, "_plain_parameters", lambda: {"host": "127.0.0.1", "port": 1, "connect_timeout": 2}
    )
    status, told = asked(client)
    assert status == 503
    assert not told["parts"]["database"]["ok"]
    assert told["parts"]["broker"]["ok"]


def test_a_missing_migration_is_named(client, everybody_lives, monkeypatch):
    known = health._wanted()
    monkeypatch.setattr(health, "_wanted", lambda: known | {("pool", "9999_not_yet")})
    status, told = asked(client)
    assert status == 503
    assert told["parts"]["migrations"]["missing"] == ["pool.9999_not_yet"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("share", "status"), [(0.0, 503), (0.5, 200)])
def test_silent_nodes_make_it_unwell_only_past_the_share_that_is_allowed(
    client, everybody_lives, settings, share, status
):
    settings.HEALTH_SILENT_SHARE = share
    node(name="well")
    silent = node(name="silent")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE pool_node SET state = 'silent' WHERE id = %s", [silent.pk])
    found, told = asked(client)
    assert found == status
    assert told["parts"]["agents"]["each"] == {"well": True, "silent": False}


def test_strangers_who_ask_at_once_share_one_look(client, everybody_lives, monkeypatch):
    looks = []
    real = health.psycopg.connect
    monkeypatch.setattr(health.psycopg, "connect", lambda **words: looks.append(1) or real(**words))
    monkeypatch.setattr(health, "KEPT_SECONDS", 60.0)
    assert [asked(client, REMOTE_ADDR="10.1.2.3")[0] for _ in range(20)] == [200] * 20
    with ThreadPoolExecutor(8) as many:
        assert len({id(parts) for parts in many.map(lambda _: health.examined(), range(40))}) == 1
    assert len(looks) == 1


def test_a_look_is_not_kept_for_long(client, everybody_lives, monkeypatch, valkey):
    assert asked(client)[0] == 200
    link = redis.Redis.from_url(valkey)
    link.flushdb()
    link.close()
    until(lambda: asked(client)[0] == 503, seconds=10, what="the loss is told")


def test_it_is_only_read(client, db):
    assert client.post("/healthz").status_code == 405

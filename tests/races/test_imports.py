"""A file of the configuration beside rounds and starts: trying one holds nobody up."""

import threading
from contextlib import contextmanager

import pytest
from django.db import connection, transaction

from pool.events import SYSTEM
from pool.locks import ROUND
from pool.models import Quota
from pool.services import quotas
from pool.services.imports import patience
from pool.services.imports.load import load
from portal.configuration import SECTIONS
from tests import rows

pytestmark = pytest.mark.django_db(transaction=True)

FILE = """\
quotas:
- {project: tides, partition: a100, unit: cards_micro, kind: limit, limit: 3000000}
- {project: tides, partition: a100, unit: workloads, kind: limit, limit: 7}
"""


@pytest.fixture
def place():
    partition = rows.partition(slug="a100")
    project = rows.project(slug="tides")
    return Quota.objects.create(
        project=project,
        partition=partition,
        unit="cards_micro",
        kind="limit",
        limit_value=1_000_000,
        ceiling=1_000_000,
    )


@contextmanager
def elsewhere(act):
    """`act` done in a transaction of another connection, open meanwhile."""
    inside, over = threading.Event(), threading.Event()

    def run():
        try:
            with transaction.atomic():
                act()
                inside.set()
                assert over.wait(60)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    assert inside.wait(30)
    yield
    over.set()
    thread.join()


def a_round():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [ROUND])


def a_start():
    list(Quota.objects.select_for_update())


def loaded(keep):
    return load(FILE, shape="yaml", sections=SECTIONS, actor=SYSTEM, keep=keep)


@pytest.mark.parametrize("holds", [a_round, a_start])
def test_a_trial_waits_for_nobody_and_a_load_gives_up_and_keeps_nothing(place, holds, monkeypatch):
    monkeypatch.setattr(quotas, "PATIENCE_MS", 200)
    monkeypatch.setattr(patience, "LOCKS_S", 1)
    with elsewhere(holds):
        tried = loaded(keep=False)
        assert (tried.wrong, tried.count("new"), tried.count("changed")) == ([], 1, 1)
        refused = loaded(keep=True)
        assert [(one.line, refused.kept) for one in refused.wrong] == [(0, False)]
        assert Quota.objects.count() == 1
    assert loaded(keep=True).kept
    assert sorted(Quota.objects.values_list("limit_value", flat=True)) == [7, 3_000_000]


def test_a_trial_of_a_new_limit_keeps_no_round_and_no_start_waiting(place, monkeypatch):
    seen = []

    def look():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [ROUND])
            seen.append(cursor.fetchone()[0])
        seen.append(len(Quota.objects.select_for_update(nowait=True)))

    real = patience.Patience.__exit__

    def exit_seen(self, *said):
        with elsewhere(look):
            return real(self, *said)

    monkeypatch.setattr(patience.Patience, "__exit__", exit_seen)
    assert loaded(keep=False).wrong == []
    assert seen == [True, 1]


def test_a_file_that_takes_too_long_keeps_nothing_and_says_so(place, monkeypatch):
    monkeypatch.setattr(patience, "LONGEST", patience.timedelta(seconds=-1))
    refused = loaded(keep=True)
    assert not refused.kept
    assert "too long" in refused.wrong[0].text
    assert Quota.objects.get().limit_value == 1_000_000

"""D30: what is due later waits in the database, never in the broker, and happens once though
many workers look at the same moment."""

import ast
import threading
from datetime import timedelta

import pytest
from celery import current_app
from django.conf import settings
from django.core import mail
from django.db import connection

from pool.clock import now
from pool.cycle.alerting.turn import alerting_turn
from pool.events import SYSTEM
from pool.models import Alert, AlertDelivery, Event, Notice
from pool.rules.notices import NoticeKind
from pool.services.alerting.ways import channel_make, route_make
from pool.services.alerts import alert_raise
from pool.services.notices.send import notice_send
from portal.notices.channels.sender import alerts_send
from portal.notices.deliver import deliver
from tests import rows
from tests.architecture.house import files, name

WORKERS = 4
LATER = {"eta", "countdown"}


def test_no_task_is_ever_given_to_the_broker_for_later():
    found = []
    for path in files(("pool", "billing", "portal"), ".py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                named = {word.arg for word in node.keywords} & LATER
                if named and "test" not in path.name:
                    found.append((name(path), node.lineno, named))
    assert found == []


def test_beat_asks_often_enough_that_no_wait_outlives_the_brokers_patience():
    patience = settings.CELERY_BROKER_TRANSPORT_OPTIONS["visibility_timeout"]
    for word, entry in settings.CELERY_BEAT_SCHEDULE.items():
        assert entry["options"]["expires"] <= patience, word
    assert current_app.conf.task_acks_late


def at_once(act):
    """The same task in several workers at the same moment."""
    gate, wrong = threading.Barrier(WORKERS), []

    def work():
        try:
            gate.wait(30)
            for _repeat in range(3):
                act()
        except Exception as odd:  # kept, and told below
            wrong.append(odd)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(WORKERS)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(120)
    assert wrong == []


@pytest.mark.django_db(transaction=True)
def test_an_alert_is_handed_out_and_sent_once_by_four_workers():
    channel = channel_make(name="m", kind="mail", to="ops@example.org", actor=SYSTEM)
    route_make(channel=channel, actor=SYSTEM, days=list(range(7)))
    alert_raise(key="k", subject="card:x", title="lost", actor=SYSTEM)

    def both():
        alerting_turn()
        alerts_send()

    at_once(both)
    assert len(mail.outbox) == 1
    assert Alert.objects.count() == 1
    assert AlertDelivery.objects.filter(channel=channel).count() == 1
    assert AlertDelivery.objects.get(channel=channel).sent_at is not None
    assert Event.objects.filter(kind="alert.moved").count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_letter_planned_ahead_goes_once_and_not_before_its_time():
    reader = rows.user(email="mei@example.org")
    notice_send(kind=NoticeKind.DECIDED, to=[reader], about=reader, text="yes", key="k")
    Notice.objects.get().deliveries.update(due_at=now() + timedelta(minutes=5))
    at_once(deliver)
    assert mail.outbox == [], "it is not due"
    Notice.objects.get().deliveries.update(due_at=now() - timedelta(seconds=1))
    at_once(deliver)
    assert len(mail.outbox) == 1

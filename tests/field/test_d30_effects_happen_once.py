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

from billing.services.metering import usage_meter
from billing.services.months import month_close, month_open, month_review
from billing.services.posting import ledger_post
from pool.clock import now
from pool.cycle.alerting.turn import alerting_turn
from pool.cycle.idle import sweep
from pool.cycle.watch import _workloads
from pool.errors import IllegalMove
from pool.events import SYSTEM
from pool.models import Alert, AlertDelivery, Event, Notice, Workload
from pool.rules.notices import NoticeKind
from pool.services.alerting.ways import channel_make, route_make
from pool.services.alerts import alert_raise
from pool.services.notebooks.judged import RECLAIMED, Clock
from pool.services.notices.send import notice_send
from portal.notices.channels.sender import alerts_send
from portal.notices.deliver import deliver
from tests import rows
from tests.architecture.house import files, name
from tests.billing.rows import Books, at, told
from tests.field.notebooks import Desk
from tests.pool.place import seen, settled

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


@pytest.mark.django_db(transaction=True)
def test_a_notebook_is_reclaimed_once_by_four_workers():
    desk = Desk.laid()
    assert desk.turn().state == "running"
    desk.judge()
    desk.judge(moved=7300)
    desk.judge(after=60)
    desk.read()
    desk.turn()
    assert desk.known.warned == 2
    over = Clock(at=now(), boot="boot-1", boottime=desk.boottime + 60, shift=desk.shift)
    at_once(lambda: sweep(over))
    assert seen(desk.work).state == "stopping"
    assert Event.objects.filter(kind="notebook.reclaimed").count() == 1
    words = Notice.objects.filter(kind=NoticeKind.IDLE, user=desk.work.owner)
    assert [one.text for one in words].count(RECLAIMED) == 1
    assert moves_to(desk.work, "stopping") == 1


@pytest.mark.django_db(transaction=True)
def test_the_end_of_a_notice_to_leave_comes_once_by_four_workers():
    place = settled()
    job = place.submit()
    for _turn in range(2):
        place.node.turn()
    assert seen(job).state == "running"
    past = now() - timedelta(seconds=1)
    Workload.objects.filter(pk=job.pk).update(state="preempting", deadline=past)
    at_once(overdue_looked)
    assert seen(job).state == "stopping"
    assert moves_to(job, "stopping") == 1


def overdue_looked():
    """The part of the watch that ends notices, without the lock that lets one watch at a time."""
    _workloads(now())


@pytest.mark.handmade_books
@pytest.mark.django_db(transaction=True)
def test_a_month_is_closed_once_by_four_who_press_the_button():
    found = Books.opened(rate=1_900_000)
    told(found.hold((at("2026-02-28T20:00:00"), at("2026-02-28T23:00:00")), micro=1_000_000))
    usage_meter()
    while ledger_post(until=at("2026-03-01T02:00:00"), most=3000).more:
        pass
    first = at("2026-02-01").date()
    month = month_open(organization=found.project.organization, first=first)
    month_review(month=month, actor=SYSTEM)
    refused = []

    def close():
        try:
            month_close(month=month, actor=SYSTEM)
        except IllegalMove as late:
            refused.append(late)

    at_once(close)
    month.refresh_from_db()
    assert month.state == "closed"
    assert len(refused) == 3 * WORKERS - 1
    closed = Event.objects.filter(kind="month.moved", data__to="closed")
    assert closed.count() == 1


def moves_to(work, state):
    """How often it was moved there."""
    moved = Event.objects.filter(kind="workload.moved", subject=f"workload:{work.uid}")
    return moved.filter(data__to=state).count()

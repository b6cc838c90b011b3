"""A new epoch, begun while others write."""

import threading

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from pool.events import SYSTEM, record
from pool.lifecycle.events import EventKind
from pool.models import Event, Installation
from pool.services.installation import epoch_raise

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_epoch_rises_by_one_and_the_log_says_why(capsys):
    call_command("raise_epoch", reason="restored the backup of Monday")
    assert Installation.objects.get().epoch == 2
    event = Event.objects.get()
    assert (event.kind, event.epoch) == ("epoch.raised", 2)
    assert event.data["reason"] == "restored the backup of Monday"
    assert "The epoch is now 2." in capsys.readouterr().out


def test_no_event_of_the_old_epoch_is_written_after_one_of_the_new():
    written, may_end = threading.Event(), threading.Event()

    def slow():
        with transaction.atomic():
            record(EventKind.ALERT_MOVED, Installation.objects.get(), actor=SYSTEM)
            written.set()
            may_end.wait(20)
        connection.close()

    def raises():
        epoch_raise(reason="drill", actor=SYSTEM)
        connection.close()

    threads = [threading.Thread(target=one) for one in (slow, raises)]
    threads[0].start()
    assert written.wait(10)
    threads[1].start()
    threads[1].join(0.3)
    assert threads[1].is_alive()
    may_end.set()
    for one in threads:
        one.join(20)
    assert list(Event.objects.order_by("id").values_list("epoch", flat=True)) == [1, 2]

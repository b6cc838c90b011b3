"""The log is read in the order of its transactions, across epochs too."""

import pytest
from django.db import connection, transaction

from pool.events import SYSTEM, record
from pool.lifecycle.events import EventKind
from pool.models import Installation
from pool.selectors.events import Place, events_after
from pool.services.installation import epoch_raise

pytestmark = pytest.mark.django_db(transaction=True)
WANTED = {EventKind.ALERT_MOVED}


def written(kind=EventKind.ALERT_MOVED):
    with transaction.atomic():
        return record(kind, Installation.objects.get(), actor=SYSTEM)


def test_a_reader_goes_on_after_its_place_and_sees_only_what_it_wants():
    written()
    written(EventKind.NODE_MOVED)
    first = events_after(place=Place(), kinds=WANTED)
    assert [kind for kind, _ in first.subjects] == ["alert.moved"]
    assert not first.full
    assert events_after(place=first.place, kinds=WANTED).subjects == ()
    written()
    assert len(events_after(place=first.place, kinds=WANTED).subjects) == 1


def test_a_page_that_is_full_says_that_there_may_be_more():
    for _ in range(3):
        written()
    page = events_after(place=Place(), kinds=WANTED, limit=2)
    assert page.full
    assert len(events_after(place=page.place, kinds=WANTED, limit=2).subjects) == 1


def test_ones_own_open_transaction_is_not_read():
    with transaction.atomic():
        record(EventKind.ALERT_MOVED, Installation.objects.get(), actor=SYSTEM)
        assert events_after(place=Place(), kinds=WANTED).subjects == ()


def test_after_a_restore_old_events_are_read_though_their_transactions_look_future():
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO pool_event (epoch, xact, kind, subject, actor_kind, actor_id, actor_label)"
            " VALUES (1, 1 << 60, 'alert.moved', 'alert:old', 'system', '', '')"
        )
    assert events_after(place=Place(), kinds=WANTED).subjects == ()
    epoch_raise(reason="restored", actor=SYSTEM)
    written()
    page = events_after(place=Place(), kinds=WANTED)
    assert [subject for _, subject in page.subjects] == ["alert:old", "installation:1"]

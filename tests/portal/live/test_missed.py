"""Announcements that were lost are noticed by the log."""

import pytest
from asgiref.sync import async_to_sync
from django.db import transaction

from pool.events import SYSTEM, record
from pool.lifecycle.events import EventKind
from pool.models import Installation
from portal.live.missed import LOOK_S, Missed

pytestmark = pytest.mark.django_db(transaction=True)


def happened():
    with transaction.atomic():
        return record(EventKind.ALERT_MOVED, Installation.objects.get(), actor=SYSTEM)


def looks(missed, *numbers):
    """The answers of looks that come one after another, each as soon as it may."""
    return [async_to_sync(missed.any)(number * LOOK_S) for number in numbers]


def test_what_was_heard_is_not_missed_even_when_it_is_heard_late():
    happened()
    missed = Missed()
    assert looks(missed, 1) == [False]
    missed.heard(happened())
    late = happened()
    assert looks(missed, 2) == [False]
    missed.heard(late)
    assert looks(missed, 3, 4) == [False, False]


def test_an_event_that_is_never_heard_is_noticed_once_at_the_look_after():
    missed = Missed()
    assert looks(missed, 1) == [False]
    happened()
    missed.heard(happened())
    assert looks(missed, 2, 3, 4) == [False, True, False]


def test_the_log_is_not_asked_more_often_than_it_should(django_assert_num_queries):
    missed = Missed()
    looks(missed, 1)
    with django_assert_num_queries(1):
        for moment in (1.1, 1.9, 2.0, 2.1):
            async_to_sync(missed.any)(moment * LOOK_S)

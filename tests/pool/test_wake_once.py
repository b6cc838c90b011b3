"""A word to the workers is tried once: a broker that is away must not hold up whoever writes."""

import socket
import threading
import time

import pytest
from celery import Celery

from pool.wake import PATIENCE, Caller, Wake


@pytest.fixture
def door():
    """A broker that hangs up on whoever calls; the calls so far."""
    there = socket.create_server(("127.0.0.1", 0))
    calls = []

    def hang_up():
        while True:
            try:
                caller, _who = there.accept()
            except OSError:
                return
            calls.append(caller)
            caller.close()

    watcher = threading.Thread(target=hang_up, daemon=True)
    watcher.start()
    yield there.getsockname()[1], calls
    there.shutdown(socket.SHUT_RDWR)
    there.close()
    watcher.join(5)


def caller(port):
    app = Celery("away", broker=f"redis://127.0.0.1:{port}/0", set_as_current=False)
    return Caller(app)


def test_a_broker_that_hangs_up_is_called_once_and_then_left_alone(door):
    port, calls = door
    mine = caller(port)
    for _turn in range(3):
        mine.send(Wake.WATCH)
    assert len(calls) == 1
    mine._rests_until = time.monotonic() - 1
    mine.send(Wake.WATCH)
    assert len(calls) == 2


def test_nobody_waits_longer_than_a_second_for_an_answer():
    options = caller(1)._link().transport_options
    assert {name: options[name] for name in PATIENCE} == PATIENCE
    assert max(PATIENCE.values()) <= 1

"""Readings of hogs are asked once for each circle of readers, and no circle waits for another."""

from threading import Event, Thread
from types import SimpleNamespace

import pytest

from portal import held

WAIT_S = 20


def circle(project):
    return SimpleNamespace(platform=False, organizations={}, projects={"member": {project}})


@pytest.fixture(autouse=True)
def _afresh(monkeypatch):
    held.forget()
    monkeypatch.setattr(held, "hog_list", lambda **given: given["found"])
    yield
    held.forget()


def test_a_slow_reading_keeps_no_other_circle_waiting(monkeypatch):
    begun, go_on = Event(), Event()

    def found(*, standing, now):
        if standing.projects == {"member": {1}}:
            begun.set()
            assert go_on.wait(WAIT_S)
        return [standing]

    monkeypatch.setattr(held, "hogs_found", found)
    slow, answers = circle(1), []
    first = Thread(target=lambda: answers.append(held.hogs_shared(standing=slow)))
    first.start()
    assert begun.wait(WAIT_S)
    other = circle(2)
    second = Thread(target=lambda: answers.append(held.hogs_shared(standing=other)))
    second.start()
    second.join(WAIT_S)
    try:
        assert answers == [[other]]
    finally:
        go_on.set()
        first.join(WAIT_S)
    assert answers == [[other], [slow]]


def test_one_circle_is_read_once(monkeypatch):
    asked = []

    def found(*, standing, now):
        asked.append(standing)
        return []

    monkeypatch.setattr(held, "hogs_found", found)
    for _ in range(3):
        held.hogs_shared(standing=circle(1))
    assert len(asked) == 1

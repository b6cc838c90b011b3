"""Receivers that drip, refuse or are many: letters go on, nothing goes twice."""

import socket
import threading
from datetime import timedelta

import pytest
from django.core import mail
from django.utils import timezone

from pool import sealing
from pool.errors import Invalid
from pool.models import Event, NoticeDelivery, NoticeHook
from pool.rules.notices import NoticeKind
from pool.services.notices.choices import notice_hook_set
from pool.services.notices.send import notice_send
from portal.notices import deliver as delivering
from portal.notices import hooks
from portal.notices.deliver import deliver
from tests import factories as make
from tests.portal.notices.test_deliver import Receiver, hooked, told


@pytest.fixture
def reader(db):
    return make.user("mei")


@pytest.fixture
def allowed(settings):
    settings.HOOK_HOSTS = ["127.0.0.1"]


@pytest.fixture
def receiver():
    made = Receiver()
    yield made
    made.over()


class Dripping:
    """Takes calls and sends one byte after another of an answer that never ends."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}/"
        self.calls = 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        self.socket.settimeout(0.1)
        open_ones = []
        while not self.over.wait(0.05):
            try:
                open_ones.append(self.socket.accept()[0])
                open_ones[-1].sendall(b"HTTP/1.1 ")
                self.calls += 1
            except TimeoutError:
                pass
            for one in open_ones:
                try:
                    one.sendall(b"2")
                except OSError:
                    one.close()
        for one in (*open_ones, self.socket):
            one.close()

    def close(self):
        self.over.set()
        self.thread.join()


@pytest.fixture
def dripping():
    made = Dripping()
    yield made
    made.close()


def test_a_receiver_that_drips_is_given_up_after_the_whole_time_and_tried_once_a_turn(
    reader, dripping, allowed, monkeypatch
):
    monkeypatch.setattr(hooks, "TIMEOUT_S", 0.5)
    hooked(reader, dripping.url)
    for number in range(4):
        told(reader, f"a{number}")
    assert deliver() == 0
    assert dripping.calls == 1
    assert set(NoticeDelivery.objects.values_list("tries", "error", "claimed_at")) == {
        (1, "no answer in 0.5 s", None)
    }


def test_what_goes_to_one_receiver_in_a_turn_is_bounded_and_all_of_it_goes(
    reader, receiver, allowed
):
    hooked(reader, receiver.url)
    for number in range(12):
        told(reader, f"a{number}")
    assert deliver() == 12
    keys = [headers["Idempotency-Key"] for headers, _ in receiver.got]
    assert len(set(keys)) == len(keys) == 12


def test_letters_go_before_receivers_are_called(reader, dripping, allowed, monkeypatch):
    monkeypatch.setattr(hooks, "TIMEOUT_S", 0.5)
    hooked(reader, dripping.url)
    other = make.user("lena")
    other.email = "lena@example.org"
    other.save()
    seen = []
    real = delivering.calls_send
    monkeypatch.setattr(
        delivering, "calls_send", lambda queues: (seen.append(len(mail.outbox)), real(queues))[1]
    )
    for person in (reader, other):
        told(person, "a")
    assert deliver() == 1
    assert seen == [1]


def test_what_another_sender_has_taken_meanwhile_is_left_to_it(reader, receiver, allowed):
    hooked(reader, receiver.url)
    told(reader, "a")
    (claimed,) = delivering._claim(delivering.Channel.HOOK)
    NoticeDelivery.objects.update(claimed_at=timezone.now() + timedelta(seconds=1))
    assert delivering._hooks([[claimed]]) == 0
    assert receiver.got == []
    assert delivering._settle([claimed], sent_at=timezone.now()) == 0
    assert NoticeDelivery.objects.get().sent_at is None


def test_a_letter_that_breaks_in_any_way_keeps_no_other(reader, monkeypatch):
    reader.email = "mei@example.org"
    reader.save()
    real, seen = delivering.letter_send, []

    def odd(**words):
        seen.append(words)
        if len(seen) == 1:
            raise ValueError("header with a line break")
        real(**words)

    monkeypatch.setattr(delivering, "letter_send", odd)
    for number in range(2):
        told(reader, f"a{number}")
    assert deliver() == 1
    assert "line break" in NoticeDelivery.objects.get(sent_at=None).error


def test_secrets_of_receivers_outlive_a_change_of_keys_and_a_lost_key_says_so(
    reader, receiver, allowed, settings
):
    secret = hooked(reader, receiver.url)
    row = NoticeHook.objects.get()
    assert secret not in row.secret
    assert sealing.unseal(row.secret) == secret
    settings.SECRET_KEYS = ["a fresh key " * 4, *settings.SECRET_KEYS]
    told(reader, "a")
    assert deliver() == 1
    settings.SECRET_KEYS = ["a fresh key " * 4]
    told(reader, "b")
    assert deliver() == 0
    assert "another key" in NoticeDelivery.objects.get(sent_at=None).error


def test_the_log_names_the_host_of_a_receiver_and_not_its_path(reader):
    hooked(reader, "https://chat.example.org/hooks/T0K3N")
    told_of = Event.objects.filter(kind="user.changed").latest("id").data
    assert told_of["hook"] == "chat.example.org"
    assert not Event.objects.filter(data__icontains="T0K3N").exists()


@pytest.mark.parametrize("url", ["http://x:99999/", "http://[", "ftp://x/", "http:///x", "x"])
def test_an_address_that_can_never_be_dialled_is_refused_when_it_is_set(reader, url):
    with pytest.raises(Invalid):
        notice_hook_set(user=reader, url=url, secret="x", actor=make.by(reader))


def test_people_are_told_of_a_kind_of_their_own(reader):
    notice_send(kind=NoticeKind.PEOPLE, to=[reader], about=reader, text="Hello.", key="x")
    assert reader.notices.get().kind == "people"

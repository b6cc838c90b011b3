"""Letters and receivers: sent once, bundled instead of floods, tried again, given up."""

import hashlib
import hmac
import json
import threading
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from django.core import mail
from django.utils import timezone

from pool.models import Notice, NoticeDelivery
from pool.rules.notices import NoticeKind
from pool.services.notices.choices import notice_hook_set
from pool.services.notices.send import notice_send
from portal.notices import hooks
from portal.notices.deliver import MOST_TRIES, deliver
from portal.notices.hooks import secret_new
from tests import factories as make


@pytest.fixture
def reader(db):
    person = make.user("mei")
    person.email, person.zone = "mei@example.org", "Asia/Shanghai"
    person.save()
    return person


def told(reader, key, kind=NoticeKind.DECIDED, **values):
    said = {"who": "Lena", "until_at": "2026-11-30T10:00:00+00:00"} | values
    text = "%(who)s said yes, until %(until_at)s."
    notice_send(kind=kind, to=[reader], about=reader, text=text, key=key, **said)


def test_a_letter_goes_once_in_the_readers_zone_with_a_way_back(reader, settings):
    settings.PUBLIC_URL = "https://pool.example.org"
    told(reader, "a")
    assert [deliver(), deliver()] == [1, 0]
    (letter,) = mail.outbox
    assert letter.to == ["mei@example.org"]
    assert "Lena said yes" in letter.subject
    assert "6 p.m." in letter.body
    assert "https://pool.example.org/notices/ways/" in letter.body
    assert Notice.objects.get().uid in letter.extra_headers["Message-ID"]


def test_many_at_once_come_in_one_letter_and_a_flood_waits_for_the_hour(reader):
    for number in range(5):
        told(reader, f"a{number}")
    assert deliver() == 5
    assert len(mail.outbox) == 1
    for number in range(6):
        told(reader, f"b{number}")
    deliver()
    assert len(mail.outbox) == 2
    told(reader, "late")
    assert deliver() == 0
    waiting = NoticeDelivery.objects.get(sent_at=None)
    assert timedelta(minutes=50) < waiting.due_at - timezone.now() <= timedelta(hours=1)
    NoticeDelivery.objects.filter(sent_at=None).update(due_at=timezone.now())
    NoticeDelivery.objects.exclude(sent_at=None).update(sent_at=timezone.now() - timedelta(hours=2))
    assert deliver() == 1


def test_a_claim_of_a_sender_that_lives_is_left_alone_and_of_one_that_died_is_taken(reader):
    told(reader, "a")
    NoticeDelivery.objects.update(claimed_at=timezone.now())
    assert deliver() == 0
    NoticeDelivery.objects.update(claimed_at=timezone.now() - timedelta(hours=1))
    assert deliver() == 1


def test_a_server_that_refuses_is_tried_again_later_and_given_up_at_last(reader, monkeypatch):
    def away(*_args, **_more):
        raise ConnectionRefusedError("no mail server")

    monkeypatch.setattr("django.core.mail.EmailMessage.send", away)
    told(reader, "a")
    for tries in range(1, MOST_TRIES + 1):
        assert deliver() == 0
        row = NoticeDelivery.objects.get()
        assert row.tries == tries
        assert row.due_at > timezone.now()
        assert "no mail server" in row.error
        NoticeDelivery.objects.update(due_at=timezone.now())
    assert row.given_up_at is not None
    assert deliver() == 0


class Receiver:
    """A little server that takes what is posted to it."""

    def __init__(self, status=200):
        got = self.got = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                got.append((dict(self.headers), body))
                self.send_response(status)
                self.end_headers()

            def log_message(self, *_):
                """Quiet."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/in"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def over(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def receiver():
    made = Receiver()
    yield made
    made.over()


def hooked(reader, url):
    plain, sealed = secret_new()
    notice_hook_set(user=reader, url=url, secret=sealed, actor=make.by(reader))
    reader.email = ""
    reader.save()
    return plain


def test_a_receiver_gets_signed_json_where_its_host_is_allowed(reader, receiver, settings):
    settings.HOOK_HOSTS = ["127.0.0.1"]
    secret = hooked(reader, receiver.url)
    told(reader, "a")
    assert deliver() == 1
    ((headers, body),) = receiver.got
    signed = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    assert headers["X-Signature-256"] == f"sha256={signed}"
    assert headers["Idempotency-Key"] == Notice.objects.get().uid
    assert json.loads(body)["text"].startswith("Lena said yes")


def test_private_addresses_are_never_dialled_unless_allowed(reader, receiver):
    hooked(reader, receiver.url)
    told(reader, "a")
    assert deliver() == 0
    assert receiver.got == []
    assert "private address" in NoticeDelivery.objects.get().error


def test_one_odd_notice_keeps_no_other_from_its_receiver(reader, receiver, settings, monkeypatch):
    settings.HOOK_HOSTS = ["127.0.0.1"]
    hooked(reader, receiver.url)
    told(reader, "a", who="odd")
    told(reader, "b")

    def words(notice, zone=""):
        if notice.values["who"] == "odd":
            raise OverflowError("odd")
        return "fine"

    monkeypatch.setattr(hooks, "words_of", words)
    deliver()
    calls = NoticeDelivery.objects.filter(channel="hook")
    assert calls.get(sent_at=None).error == "OverflowError"
    assert calls.exclude(sent_at=None).count() == 1


def test_a_moment_that_is_none_is_shown_as_it_is(reader):
    told(reader, "a", until_at="soon")
    assert deliver() == 1
    assert "%(until_at)s" in mail.outbox[0].subject

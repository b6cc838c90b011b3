"""Each kind of channel against a receiver that checks signature and body; retry, dead letters."""

import base64
import hashlib
import hmac
import json
import socket
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core import mail

from pool.clock import now
from pool.events import SYSTEM
from pool.models import AlertChannel, AlertDelivery, Notice
from pool.sealing import seal
from pool.services.alerting.people import people_tell
from pool.services.alerting.tell import alerts_told
from pool.services.alerting.ways import channel_change, channel_make, route_make, ways_there
from pool.services.alerts import alert_raise, alert_resolve
from portal.notices.channels import sender
from portal.notices.channels.dial import NotDialled, post
from portal.notices.channels.sender import MOST_TRIES, alerts_send, channel_test
from tests import rows
from tests.portal.notices.channels.receiver import Receiver

pytestmark = pytest.mark.django_db
SECRET = "a secret of sixteen and more"  # noqa: S105
FINE = {"wecom": b'{"errcode":0}', "dingtalk": b'{"errcode":0}', "feishu": b'{"code":0}'}


@pytest.fixture
def receiver(request, settings):
    settings.HOOK_HOSTS = ["127.0.0.1"]
    settings.PUBLIC_URL = "https://pool.example.org"
    made = []

    def make(**given):
        made.append(Receiver(**given))
        return made[-1]

    yield make
    for one in made:
        one.close()


def way(kind, url, secret=SECRET, name="ops"):
    channel = channel_make(name=name, kind=kind, url=url, secret=secret, actor=SYSTEM)
    route_make(channel=channel, actor=SYSTEM, days=list(range(7)))
    return channel


def fired(key="a", title="A100 of node-1: lost"):
    alert_raise(key=key, subject="card:x", title=title, actor=SYSTEM, severity="critical")
    alerts_told(at=now())


def heard(kind, receiver, path="/hook"):
    """What a receiver of this kind got when an alert fired."""
    one = receiver(says=FINE.get(kind, b"ok"))
    way(kind, one.url + path)
    fired()
    assert alerts_send() == 1
    ((path, headers, body),) = one.got
    return path, headers, body


def test_a_webhook_gets_plain_json_signed_over_its_body(receiver):
    _path, headers, body = heard("webhook", receiver)
    sign = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    assert headers["X-Signature-256"] == f"sha256={sign}"
    said = json.loads(body)
    (alert,) = said["alerts"]
    assert (alert["word"], alert["severity"], alert["subject"]) == ("fired", "critical", "card:x")
    assert alert["url"].startswith("https://pool.example.org/alerts/al-")
    assert headers["Idempotency-Key"]


def test_slack_gets_a_text_in_which_nothing_can_pose_as_a_link(receiver):
    one = receiver()
    way("slack", one.url + "/services/T/B/x", secret="")
    fired(title="<!channel> & more")
    assert alerts_send() == 1
    said = json.loads(one.got[0][2])
    assert "&lt;!channel&gt; &amp; more" in said["text"]


def test_wecom_gets_markdown_and_its_no_inside_a_200_counts(receiver):
    _path, _headers, body = heard("wecom", receiver, "/cgi-bin/webhook/send?key=k")
    said = json.loads(body)
    assert said["msgtype"] == "markdown"
    assert "A100 of node-1: lost" in said["markdown"]["content"]


def test_feishu_gets_a_text_with_time_and_signature_in_the_body(receiver):
    _path, _headers, body = heard("feishu", receiver)
    said = json.loads(body)
    key = f"{said['timestamp']}\n{SECRET}".encode()
    sign = base64.b64encode(hmac.new(key, b"", hashlib.sha256).digest()).decode()
    assert said["sign"] == sign
    assert said["msg_type"] == "text"
    assert "A100 of node-1: lost" in said["content"]["text"]


def test_dingtalk_gets_markdown_with_time_and_signature_in_the_address(receiver):
    path, _headers, body = heard("dingtalk", receiver, "/robot/send?access_token=t")
    query = {name: values[0] for name, values in parse_qs(urlsplit(path).query).items()}
    told = f"{query['timestamp']}\n{SECRET}".encode()
    sign = base64.b64encode(hmac.new(SECRET.encode(), told, hashlib.sha256).digest()).decode()
    assert query["sign"] == sign
    assert query["access_token"] == "t"  # noqa: S105
    assert "A100 of node-1: lost" in json.loads(body)["markdown"]["text"]


def test_an_alertmanager_gets_its_own_form_begun_and_ended(receiver):
    one = receiver(says=b"")
    way("alertmanager", one.url)
    fired()
    assert alerts_send() == 1
    alert_resolve(key="a", actor=SYSTEM)
    alerts_told(at=now())
    assert alerts_send() == 1
    (path, headers, first), (_path, _headers, last) = one.got
    assert path == "/api/v2/alerts"
    assert headers["Authorization"] == f"Bearer {SECRET}"
    ((begun,), (ended,)) = (json.loads(first), json.loads(last))
    assert begun["labels"] == ended["labels"], "the same alert, or it would never end"
    assert begun["labels"]["severity"] == "critical"
    assert begun["endsAt"] > ended["endsAt"]


def test_mail_goes_to_all_addresses_in_one_letter():
    channel = channel_make(name="m", kind="mail", to="a@example.org, b@example.org", actor=SYSTEM)
    route_make(channel=channel, actor=SYSTEM, days=list(range(7)))
    fired()
    fired("b", "another")
    assert alerts_send() == 2
    (letter,) = mail.outbox
    assert letter.to == ["a@example.org", "b@example.org"]
    assert "2 alerts" in letter.subject


def test_the_portal_tells_its_admins_once():
    admin = rows.user(username="pat")
    admin.memberships.create(role="platform_admin")
    ways_there()
    fired()
    assert alerts_send() == 1
    assert alerts_send() == 0
    assert Notice.objects.get().user == admin


@pytest.mark.parametrize("kind", ["wecom", "dingtalk", "feishu"])
def test_a_refusal_inside_a_200_is_a_refusal(kind, receiver):
    one = receiver(says=b'{"errcode":310000,"code":19021,"errmsg":"sign not match","msg":"sign"}')
    way(kind, one.url + "/x")
    fired()
    assert alerts_send() == 0
    assert "sign" in AlertDelivery.objects.get().error


def test_a_receiver_that_refuses_is_tried_later_and_its_words_are_dead_letters_at_last(receiver):
    one = receiver(status=500)
    way("webhook", one.url + "/x")
    fired()
    for tries in range(1, MOST_TRIES + 1):
        assert alerts_send() == 0
        row = AlertDelivery.objects.get()
        assert (row.tries, row.error) == (tries, "answered 500")
        AlertDelivery.objects.update(due_at=now())
    assert row.given_up_at is not None
    assert alerts_send() == 0
    assert len(one.got) == MOST_TRIES
    keys = {headers["Idempotency-Key"] for _path, headers, _body in one.got}
    assert len(keys) == 1, "a repeat is the same message"


def test_an_end_never_overtakes_its_beginning(receiver):
    one = receiver(status=500)
    way("webhook", one.url + "/x")
    fired()
    alerts_send()
    AlertDelivery.objects.update(claimed_at=now())
    alert_resolve(key="a", actor=SYSTEM)
    alerts_told(at=now())
    AlertDelivery.objects.update(claimed_at=None)
    AlertDelivery.objects.filter(word="fired").update(due_at=now() + timedelta(minutes=5))
    assert alerts_send() == 0
    assert len(one.got) == 1


def test_one_dead_receiver_delays_nobody_else(receiver):
    way("webhook", receiver(status=500).url + "/x", name="a-dead")
    well = receiver()
    way("webhook", well.url + "/x", name="b-well")
    fired()
    assert alerts_send() == 1
    assert len(well.got) == 1


def test_a_receiver_that_drips_is_cut_off_at_the_deadline(receiver):
    one = receiver(drip=True)
    with pytest.raises(NotDialled, match=r"no answer in 0\.3 s"):
        post(one.url + "/x", body=b"{}", deadline_s=0.3)


def test_private_addresses_are_not_dialled_unless_their_host_is_allowed(receiver, settings):
    one = receiver()
    settings.HOOK_HOSTS = []
    for url in (one.url, "http://localhost:1/", "http://169.254.169.254/latest", "http://[::1]/"):
        with pytest.raises(NotDialled, match="private"):
            post(url, body=b"{}")
    for url in ("file:///etc/passwd", "http:///x", "gopher://example.org"):
        with pytest.raises(NotDialled, match="no http"):
            post(url, body=b"{}")
    assert one.got == []


def test_the_test_button_says_what_happened_and_it_is_kept(receiver):
    well = way("slack", receiver().url + "/x", secret="")
    assert channel_test(channel=well, actor=SYSTEM) == ""
    ill = way("slack", receiver(status=404).url + "/x", secret="", name="ill")
    assert channel_test(channel=ill, actor=SYSTEM) == "answered 404"
    assert AlertChannel.objects.get(name="ill").test_error == "answered 404"
    assert AlertChannel.objects.get(name="ops").tested_at is not None


def test_two_senders_send_nothing_twice(receiver):
    one = receiver()
    way("webhook", one.url + "/x")
    fired()
    AlertDelivery.objects.update(claimed_at=now())
    assert alerts_send() == 0, "another sender has it"
    AlertDelivery.objects.update(claimed_at=now() - timedelta(hours=1))
    assert alerts_send() == 1, "its sender died"


def test_a_long_flood_is_cut_to_what_a_chat_takes(receiver):
    one = receiver(says=FINE["wecom"])
    way("wecom", one.url + "/x")
    for number in range(25):
        fired(str(number), "卡" * 150)
    assert alerts_send() == 25
    assert len(one.got) == 2
    longest = max(len(json.loads(body)["markdown"]["content"].encode()) for _p, _h, body in one.got)
    assert longest <= 4096


def test_one_odd_channel_is_a_refusal_of_its_own_and_no_other_waits_for_it(receiver):
    odd = way("alertmanager", receiver().url, name="a-odd")
    AlertChannel.objects.filter(pk=odd.pk).update(sealed=seal(f"{receiver().url}\nschlüssel"))
    well = receiver()
    way("webhook", well.url + "/x", name="b-well")
    fired()
    assert alerts_send() == 1
    assert len(well.got) == 1
    row = AlertDelivery.objects.get(channel=odd)
    assert (row.tries, row.error, row.claimed_at) == (1, "UnicodeEncodeError", None)
    odd.refresh_from_db()
    assert channel_test(channel=odd, actor=SYSTEM) == "UnicodeEncodeError"


@pytest.mark.parametrize(
    "says",
    [b"[" * 16_000, b'{"code":1,"errcode":1,"msg":"\\ud800\\u0000","errmsg":"\\ud800\\u0000"}'],
)
@pytest.mark.parametrize("kind", ["wecom", "dingtalk", "feishu"])
def test_an_odd_answer_is_a_refusal_and_its_words_are_tried_later(kind, says, receiver):
    way(kind, receiver(says=says).url + "/x")
    fired()
    assert alerts_send() == 0
    row = AlertDelivery.objects.get()
    assert (row.tries, row.claimed_at) == (1, None)
    assert row.error


def test_a_word_that_the_inbox_cannot_take_keeps_no_other_back(monkeypatch):
    admin = rows.user(username="pat")
    admin.memberships.create(role="platform_admin")
    ways_there()
    fired("a", "first")
    fired("b", "second")

    def told(*, alert, word):
        if alert.key == "a":
            raise ValueError("odd")
        return people_tell(alert=alert, word=word)

    monkeypatch.setattr(sender, "people_tell", told)
    assert alerts_send() == 1
    assert AlertDelivery.objects.get(alert__key="a").error == "ValueError"
    assert AlertDelivery.objects.get(alert__key="b").sent_at is not None


def test_a_host_with_letters_of_any_language_is_dialled_by_its_plain_name(receiver, settings):
    one = receiver()
    port = urlsplit(one.url).port
    known = socket.getaddrinfo("127.0.0.1", port, type=socket.SOCK_STREAM)
    settings.HOOK_HOSTS = ["münchen.example"]
    with pytest.MonkeyPatch.context() as names:
        names.setattr(socket, "getaddrinfo", lambda *given, **named: known)
        assert post(f"http://münchen.example:{port}/x", body=b"{}").status == 200
    assert one.got[0][1]["Host"] == f"xn--mnchen-3ya.example:{port}"


def test_a_channel_that_is_switched_on_again_tells_of_today_and_not_of_last_week(receiver):
    channel = way("webhook", receiver().url + "/x")
    fired("a", "old")
    fired("b", "new")
    channel_change(channel=channel, enabled=False, actor=SYSTEM)
    AlertDelivery.objects.filter(alert__key="a").update(due_at=now() - timedelta(days=3))
    channel_change(channel=channel, enabled=True, actor=SYSTEM)
    assert alerts_send() == 1
    assert AlertDelivery.objects.get(alert__key="a").dropped_at is not None

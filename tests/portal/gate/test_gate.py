"""Nodes at the gate: in, seen, served; and everything that is turned away."""

import json

import msgspec
import pytest
from django.test import Client

from nodeagent.protocol.codec import decode, encode
from nodeagent.protocol.desired import Desired
from nodeagent.protocol.inventory import Join, Joined, Welcome
from nodeagent.protocol.report import Report, Taken
from nodeagent.protocol.samples import Heard, LogBatch, LogChunk, Reading, SampleBatch
from nodeagent.protocol.version import MAX_BODY_BYTES
from pool.clock import now
from pool.events import SYSTEM
from pool.models import Attempt, Node, Sample
from pool.models import LogChunk as LogRow
from pool.services.nodes import join_token_issue, node_credential_revoke
from portal.access.rates import Rate
from portal.gate import auth
from tests import rows

KEY = "key of node-a"


class Knock:
    """A node's messages."""

    def __init__(self, credential: str = KEY) -> None:
        self.client = Client(raise_request_exception=False)
        self.headers = {"Authorization": f"Bearer {credential}"} if credential else {}

    def __call__(self, method: str, path: str, body: bytes = b""):
        kind = "application/json"
        address = f"/gate/v1/{path}"
        return self.client.generic(method, address, body, content_type=kind, headers=self.headers)

    def post(self, path: str, message):
        body = message if isinstance(message, bytes) else encode(message)
        return self("POST", path, body)


@pytest.fixture
def knock(world) -> Knock:
    """The node of the world."""
    return Knock()


def report(**given):
    said = {"epoch": 1, "generation": 0, "boot_id": "boot-1", "sent_at": now().timestamp()}
    return Report(**said | given)


def hello_of(name="node-a", **given):
    return rows.hello(name, [rows.card_facts(f"GPU-{name}-0")], **given)


def test_a_node_joins_with_its_token_once_and_is_known_by_its_credential(db):
    rows.partition()
    _, token = join_token_issue(node="n1", actor=SYSTEM)
    join = Join(token=token, hello=hello_of("n1"))
    answer = Knock("").post("join", join)
    assert answer.status_code == 201, answer.content
    joined = decode(answer.content, Joined)
    inside = Knock(joined.credential)
    welcome = decode(inside.post("hello", hello_of("n1")).content, Welcome)
    assert welcome.node == joined.node == Node.objects.get(name="n1").uid
    assert inside.post("report", report()).status_code == 200
    again = Knock("").post("join", join)
    assert (again.status_code, again.json()["code"]) == (401, "node_refused")


def test_the_plain_credential_is_nowhere_in_the_database(db):
    _, token = join_token_issue(node="n1", actor=SYSTEM)
    joined = decode(Knock("").post("join", Join(token=token, hello=hello_of("n1"))).content, Joined)
    kept = Node.objects.get(name="n1").credential_hash
    assert joined.credential not in kept
    assert len(kept) == 64


def test_desired_is_told_whole_first_and_not_again_while_nothing_is_new(
    knock, world, django_assert_num_queries
):
    first = knock("GET", "desired?epoch=0&since=0")
    wish = decode(first.content, Desired)
    with django_assert_num_queries(1):
        second = knock("GET", f"desired?epoch={wish.epoch}&since={wish.generation}")
    assert (first.status_code, second.status_code, second.content) == (200, 204, b"")
    Node.objects.update(generation=wish.generation + 1)
    newer = knock("GET", f"desired?epoch={wish.epoch}&since={wish.generation}")
    assert decode(newer.content, Desired).generation == wish.generation + 1


def test_a_raised_epoch_is_told_even_when_the_generation_is_lower(knock, world):
    assert knock("GET", "desired?epoch=0&since=999").status_code == 200


def test_a_report_is_taken_and_counted_and_may_come_twice(knock, world):
    before = Node.objects.get().report_count
    for _ in range(2):
        taken = decode(knock.post("report", report()).content, Taken)
        assert taken.epoch == 1
    assert Node.objects.get().report_count == before + 2


def test_samples_and_log_pieces_are_stored_once(knock, world):
    run = Attempt.objects.create(
        workload=world.own.workload, number=1, node=world.node, state="open"
    )
    card = world.hold_card()
    reading = Reading(at=now().timestamp(), card=card.uuid, sm_mean=41.5)
    batch = SampleBatch(boot_id="b", sequence=1, sent_at=now().timestamp(), readings=(reading,))
    heard = decode(knock.post("samples", batch).content, Heard)
    assert heard.generation == Node.objects.get().generation
    assert Sample.objects.get(card_id=card.pk).sm_mean == pytest.approx(41.5)
    piece = LogChunk(attempt=run.uid, rank=0, offset=0, text="step 1\n", size=7)
    logs = LogBatch(sent_at=now().timestamp(), chunks=(piece,))
    for _ in range(2):
        assert knock.post("logs", logs).status_code == 204
    assert [row.text for row in LogRow.objects.filter(attempt=run)] == ["step 1\n"]


@pytest.mark.parametrize("path", ["hello", "report", "samples", "logs"])
@pytest.mark.parametrize("credential", ["", "wrong", "gpn_" + "x" * 43, "\u00e9\u00e8"])
def test_nobody_speaks_without_a_credential(db, path, credential):
    answer = Knock(credential).post(path, b"{}")
    assert (answer.status_code, answer.json()["code"]) == (401, "node_refused")
    assert answer["WWW-Authenticate"] == "Bearer"


def test_a_revoked_credential_and_a_retired_node_are_turned_away(knock, world):
    node_credential_revoke(node=world.node, actor=SYSTEM)
    assert knock("GET", "desired").status_code == 401
    assert knock.post("report", report()).status_code == 401


def test_a_script_token_is_no_credential_and_a_credential_no_token(knock, world):
    assert Knock(world.admin.token)("GET", "desired").status_code == 401
    stranger = Client(headers={"Authorization": f"Bearer {KEY}"})
    assert stranger.get("/api/v1/whoami").status_code == 401


@pytest.mark.parametrize("protocol", [0, 2, 99])
def test_a_protocol_that_is_not_spoken_is_426_with_what_is(knock, protocol):
    spoken = msgspec.to_builtins(hello_of()) | {"protocol": protocol, "what_v9_adds": {}}
    answer = knock.post("hello", json.dumps(spoken).encode())
    assert (answer.status_code, answer.json()["code"]) == (426, "protocol_not_spoken")
    assert answer.json()["detail"] == {"offered": protocol, "spoken": [1]}


@pytest.mark.parametrize("path", ["hello", "report", "samples", "logs", "join"])
@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"protocol": "one"}', b"[" * 100_000],
)
def test_rubbish_is_400_and_never_more(knock, path, body):
    answer = knock.post(path, body)
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_message")


def test_a_body_over_four_mebibytes_is_refused(knock):
    answer = knock.post("logs", b" " * (MAX_BODY_BYTES + 1))
    assert answer.status_code == 400
    assert "limit" in answer.json()["message"]


@pytest.mark.parametrize("query", ["since=x", "since=-1", "epoch=1e9", "since=" + "9" * 40])
def test_desired_takes_whole_numbers_only(knock, query):
    assert knock("GET", f"desired?{query}").status_code == 400


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "report"), ("POST", "desired"), ("PUT", "hello"), ("DELETE", "join")],
)
def test_another_method_is_405(knock, method, path):
    assert knock(method, path).status_code == 405


def test_wrong_credentials_from_one_place_are_slowed_but_a_right_one_still_speaks(knock, world):
    wrong = Knock("wrong")
    codes = [wrong("GET", "desired").status_code for _ in range(61)]
    assert (codes[0], codes[-1]) == (401, 429)
    assert knock("GET", "desired?epoch=1&since=999999").status_code == 204


def test_a_report_about_another_nodes_attempt_changes_nothing_there(knock, world):
    other = rows.node(name="node-b")
    run = Attempt.objects.create(workload=world.own.workload, number=1, node=other, state="open")
    piece = LogChunk(attempt=run.uid, rank=0, offset=0, text="forged", size=6)
    assert knock.post("logs", LogBatch(sent_at=0.0, chunks=(piece,))).status_code == 204
    assert not LogRow.objects.exists()


def test_a_node_that_calls_far_too_often_waits_and_no_other_does(knock, world, monkeypatch):
    """Six thousand a minute is a hundred times what an agent does; here five will do."""
    assert (auth.KNOCKS.limit, auth.KNOCKS.seconds) == (6000, 60)
    monkeypatch.setattr(auth, "KNOCKS", Rate(limit=5, seconds=60))
    _, token = join_token_issue(node="quiet", actor=SYSTEM)
    joined = Knock("").post("join", Join(token=token, hello=hello_of("quiet")))
    quiet = Knock(decode(joined.content, Joined).credential)
    often = [knock("GET", "desired?epoch=1&since=999999") for _ in range(7)]
    assert [one.status_code for one in often] == [204] * 5 + [429] * 2
    said = often[-1].json()
    assert said["code"] == "throttled" and 0 < said["detail"]["seconds"] <= 60
    assert knock.post("report", report()).status_code == 429, "whatever it has to say"
    assert quiet("GET", "desired?epoch=1&since=999999").status_code == 204
    auth.KNOCKS.clear()
    assert knock("GET", "desired?epoch=1&since=999999").status_code == 204

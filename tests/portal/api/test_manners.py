"""What every endpoint does alike: envelopes, methods, bodies, unknown words, scopes, limits."""

import json
import logging
from datetime import timedelta

import pytest
from django.db import OperationalError
from django.test import Client

from pool.clock import now
from pool.events import SYSTEM
from portal.access.tokens import token_issue, token_revoke
from portal.api.parsers import MOST_BYTES
from portal.api.router import router
from portal.api.throttling import TokenRate
from portal.api.v1 import whoami
from tests.portal.api.test_isolation import LISTED, VERBS, address_of, body_of
from tests.portal.callers import Caller


def envelope_of(answer):
    said = answer.json()
    assert set(said) == {"code", "message", "detail"}, said
    assert isinstance(said["message"], str)
    return said


@pytest.mark.parametrize(
    "path", ["nothing", "workloads/1", "workloads/wl-1/stop", "/api/", "/api/v2/x"]
)
def test_an_address_that_is_none_is_the_envelope_not_a_page(world, path):
    answer = world.by("member").get(path)
    assert answer.status_code == 404
    assert envelope_of(answer)["code"] == "not_found"


@pytest.mark.parametrize(
    ("noun", "offered"),
    [
        (noun, "GET" if hasattr(door, "list") else "POST")
        for noun, door, _base in router.registry
        if hasattr(door, "list") or hasattr(door, "create")
    ],
)
def test_a_method_that_is_not_offered_is_405(world, noun, offered):
    answer = world.admin("PUT", noun, {})
    assert answer.status_code == 405
    assert envelope_of(answer)["code"] == "method_not_allowed"
    assert offered in answer["Allow"]


def test_addresses_work_with_and_without_the_last_slash(world):
    member = world.by("member")
    for path in ("workloads", "workloads/", f"workloads/{world.own.workload.uid}/"):
        assert member.get(path).status_code == 200


@pytest.mark.parametrize(("noun", "action", "method", "path"), LISTED)
def test_an_unknown_filter_and_page_numbers_are_400_on_every_list(
    world, noun, action, method, path
):
    for word in ("page", "colour", "ordering", "format"):
        answer = world.admin.get(f"{path}?{word}=1")
        assert answer.status_code == 400
        assert word in envelope_of(answer)["detail"]


@pytest.mark.parametrize(
    ("noun", "action", "method", "path"), [v for v in VERBS if v[2] in {"POST", "PATCH"}]
)
def test_an_unknown_field_and_bodies_that_are_no_object_are_400_on_every_verb(
    world, noun, action, method, path
):
    address = path.replace("{lookup}", address_of(world, world.own, noun)) if "{" in path else path
    own = noun == "requests" and action in {"submit", "partial_update"}
    who = world.by("member") if own else world.admin
    body = {**body_of(world, noun, action), "colour": "red"}
    answer = who(method, address, body)
    assert answer.status_code == 400, answer.content
    assert "colour" in envelope_of(answer)["detail"]
    for wrong in ("[]", '"text"', "12", "null", "true"):
        assert who(method, address, wrong).status_code == 400, wrong
    query = who(method, f"{address}?colour=red", body_of(world, noun, action))
    assert query.status_code == 400


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("{", 400),
        (b"\xff\xfe\x00", 400),
        ("{'a': 1}", 400),
        ('{"name": NaN}', 400),
        ("[" * 50_000, 400),
        ('{"name": ' + "9" * 5000 + "}", 400),
        ('{"name": "\\ud800"}', 400),
        ('{"name": "\\u0000"}', 400),
        ('{"name": ""}', 400),
        ('{"name": {}}', 400),
        ('{"name": "' + "ü" * 64 + '"}', 400),
        ('{"name": "Prüfung 测试 🚀"}', 201),
        ('{"name": "' + "x" * MOST_BYTES + '"}', 413),
    ],
)
def test_whatever_a_body_holds_it_is_never_a_500(world, body, status):
    answer = world.by("member")("POST", "tokens", body)
    assert answer.status_code == status, answer.content[:300]


def test_other_content_types_are_415(world):
    member = world.by("member")
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        answer = member.client.generic(
            "POST",
            "/api/v1/tokens",
            "name=x",
            content_type=kind,
            headers={"Authorization": f"Bearer {member.token}"},
        )
        assert answer.status_code == 415
        assert envelope_of(answer)["code"] == "unsupported_media_type"


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "nonsense", "*/*"])
def test_answers_are_json_whatever_is_accepted(world, accept):
    answer = world.by("member").get("whoami", Accept=accept)
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        "Basic dXNlcjpwdw==",
        "Token abc",
        "Bearer é",
        "x" * 9000,
    ],
)
def test_a_header_that_is_no_living_token_is_401(db, header):
    answer = Client(headers={"Authorization": header}).get("/api/v1/whoami")
    assert answer.status_code == 401
    assert envelope_of(answer)["code"] == "not_authenticated"


def test_a_wrong_token_is_not_helped_by_a_login(world):
    client = Client()
    client.force_login(world.by("member").user, backend=BACKEND)
    assert client.get("/api/v1/whoami").status_code == 200
    wrong = client.get("/api/v1/whoami", headers={"Authorization": "Bearer wrong"})
    assert wrong.status_code == 401


BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


def test_a_session_needs_the_csrf_token_to_change_something(world):
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.by("member").user, backend=BACKEND)
    answer = client.post("/api/v1/tokens", {"name": "x"}, content_type="application/json")
    assert answer.status_code == 403
    assert envelope_of(answer)["code"] == "forbidden"


def test_a_token_that_only_reads_changes_nothing(world):
    user = world.by("member").user
    _, plain = token_issue(user=user, name="r", actor=SYSTEM, scopes=["read"])
    reader = Caller(user, plain)
    assert reader.get("workloads").status_code == 200
    assert reader.post("workloads", world.job()).status_code == 403
    assert reader("DELETE", f"workloads/{world.own.workload.uid}").status_code == 403


def test_a_token_makes_none_that_lives_longer_or_does_more(world):
    user = world.by("member").user
    _, plain = token_issue(user=user, name="s", actor=SYSTEM, expires=now() + timedelta(days=1))
    short = Caller(user, plain)
    later = (now() + timedelta(days=2)).isoformat()
    for wish in ({}, {"expires_at": None}, {"expires_at": later}):
        refused = short.post("tokens", {"name": "x", **wish})
        assert (refused.status_code, list(refused.json()["detail"])) == (400, ["expires_at"])
    sooner = (now() + timedelta(hours=1)).isoformat()
    assert short.post("tokens", {"name": "x", "expires_at": sooner}).status_code == 201


def test_revoked_tokens_and_those_of_disabled_people_are_401(world):
    member, lead = world.by("member"), world.by("lead")
    token_revoke(token=member.user.api_tokens.get(), actor=SYSTEM)
    lead.user.is_active = False
    lead.user.save()
    assert member.get("whoami").status_code == lead.get("whoami").status_code == 401


def test_too_many_calls_of_one_token_are_429_and_another_goes_on(world, monkeypatch):
    monkeypatch.setattr(TokenRate.rate, "limit", 3)
    member = world.by("member")
    answers = [member.get("whoami") for _ in range(4)]
    assert [a.status_code for a in answers] == [200, 200, 200, 429]
    assert envelope_of(answers[-1])["code"] == "throttled"
    assert 0 < int(answers[-1]["Retry-After"]) <= 60
    assert world.by("lead").get("whoami").status_code == 200


def test_wrong_tokens_from_one_place_end_in_429_and_a_right_one_still_works(world):
    wrong = Client(headers={"Authorization": "Bearer wrong"})
    codes = [wrong.get("/api/v1/whoami").status_code for _ in range(61)]
    assert (codes[59], codes[60]) == (401, 429)
    assert world.by("member").get("whoami").status_code == 200


def test_a_bug_is_a_bare_500_with_its_request_id_and_a_line_in_the_log(world, monkeypatch, caplog):
    def broken(**_):
        raise ZeroDivisionError("secret words")

    monkeypatch.setattr(whoami, "membership_list", broken)
    with caplog.at_level(logging.ERROR):
        answer = world.by("member").get("whoami", **{"X-Request-ID": "find-me"})
    assert answer.status_code == 500
    said = envelope_of(answer)
    assert (said["code"], said["detail"]) == ("internal_error", {"request_id": "find-me"})
    assert b"secret" not in answer.content
    assert "secret words" in caplog.text


def test_a_database_that_is_away_is_503_and_says_when_to_come_again(world, monkeypatch):
    def away(**_):
        raise OperationalError("connection refused")

    monkeypatch.setattr(whoami, "membership_list", away)
    answer = world.by("member").get("whoami")
    assert (answer.status_code, envelope_of(answer)["code"]) == (503, "unavailable")
    assert answer["Retry-After"]


@pytest.mark.parametrize("given", ["", "x" * 65, "a b", "a\tb", "é"])
def test_a_request_id_that_is_none_is_replaced(world, given):
    answer = world.by("member").get("whoami", **{"X-Request-ID": given})
    assert len(answer["X-Request-ID"]) == 32


def test_refusals_are_told_in_the_language_that_is_accepted(world):
    member = world.by("member")
    english = member.get("nothing").json()["message"]
    chinese = member.get("nothing", **{"Accept-Language": "zh-hans"}).json()["message"]
    assert english == "Not found."
    assert isinstance(chinese, str)


def test_whoami_names_the_person_the_roles_and_the_token(world):
    said = world.by("member").get("whoami").json()
    assert (said["username"], said["token"]["name"]) == ("vision-member", "test")
    roles = [(m["role"], m["project"]) for m in said["memberships"]]
    assert roles == [("member", "vision")]
    assert "hash" not in json.dumps(said)

"""The OpenAPI file, the page that shows it, and what a fuzzer makes of it."""

import json
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from portal.api.document import document
from portal.api.router import router
from tests.portal.api.test_isolation import ENDPOINTS

COMMITTED = Path(__file__).resolve().parents[3] / "docs" / "openapi.json"


def spoken():
    return json.loads(document())


def test_the_committed_file_is_what_the_doors_say():
    """Write it anew with `make docs` after a change that is meant."""
    assert COMMITTED.read_bytes() == document()


def test_the_file_is_at_its_address_for_everybody(client):
    answer = client.get("/api/schema/")
    assert answer["Content-Type"] == "application/json"
    assert answer.content == document()


def test_every_endpoint_is_described_with_its_input_its_answer_and_its_refusals():
    paths = spoken()["paths"]
    for noun, action, method, path in ENDPOINTS:
        address = path.replace("{lookup}", "{id}" if noun == "events" else "{uid}")
        operation = paths[f"/api/v1/{address}/"][method.lower()]
        assert operation["description"], (noun, action)
        assert {"401", "404"} <= set(operation["responses"])
        for code, answer in operation["responses"].items():
            if code >= "400":
                said = answer["content"]["application/json"]["schema"]["$ref"]
                assert said.endswith("/Refusal")
        if method == "POST":
            named = {p["name"] for p in operation["parameters"]}
            assert "Idempotency-Key" in named


def test_every_body_has_an_example_and_the_door_takes_it():
    """An example that is refused teaches a wrong call: each is read by its own serializer."""
    paths, tried = spoken()["paths"], 0
    for noun, action, method, path in ENDPOINTS:
        address = path.replace("{lookup}", "{id}" if noun == "events" else "{uid}")
        operation = paths[f"/api/v1/{address}/"][method.lower()]
        shape = dict((n, d) for n, d, _ in router.registry)[noun].takes.get(action)
        if shape is None or not shape().fields:
            continue
        body = operation["requestBody"]["content"]["application/json"]
        for one in body["examples"].values():
            given = shape(data=one["value"])
            assert given.is_valid(), (noun, action, given.errors)
            tried += 1
    assert tried > 120


def test_lists_say_how_they_are_sorted_searched_and_taken_away():
    parameters = spoken()["paths"]["/api/v1/requests/"]["get"]["parameters"]
    told = {one["name"]: one["schema"] for one in parameters}
    assert "-title" in told["ordering"]["enum"]
    assert told["format"]["enum"] == ["json", "csv"]
    assert told["search"]["maxLength"] == 80


def test_every_noun_of_the_router_is_a_tag():
    tags = {tag for p in spoken()["paths"].values() for o in p.values() for tag in o["tags"]}
    assert tags == {noun for noun, *_ in router.registry}


def test_no_field_of_the_file_shows_a_hash_or_a_password():
    shapes = spoken()["components"]["schemas"]
    spoken_of = {
        f"{name}.{field}"
        for name, shape in shapes.items()
        for field in shape.get("properties", {})
        if "hash" in field or "secret" in field
    }
    assert spoken_of == {
        "ChannelInRequest.secret",
        "CloneInRequest.secrets",
        "NoticeReceiverOut.secret",
        "PatchedChannelPartRequest.secret",
        "PatchedRequestEditRequest.secrets",
        "PatchedWordsRequest.secrets",
        "RequestInRequest.secrets",
        "RequestOut.secrets",
        "ScheduleInRequest.secrets",
        "ScheduleOut.secrets",
        "TellIn.secret",
        "TellInRequest.secret",
        "TellOut.secret",
        "WorkloadInRequest.secrets",
        "WorkloadOut.secrets",
    }, "a secret of the catalogue by its uid, or one that is given or told once; none comes out"
    assert [s for s, v in shapes.items() if "password" in v.get("properties", {})] == [
        "UserInRequest",
        "UserTold",
    ]
    assert [s for s, v in shapes.items() if "token" in v.get("properties", {})] == [
        "JoinTokenTold",
        "RevokeInRequest",
        "TokenTold",
        "WhoamiOut",
    ], "told once when it is made; to revoke one it is named by its uid"


def test_the_page_brings_its_own_files_and_nothing_inside_the_document(client):
    page = client.get("/api/docs/")
    text = page.content.decode()
    assert page.status_code == 200
    assert "<style" not in text
    assert "http://" not in text
    assert "https://" not in text
    for script in text.split("<script")[1:]:
        assert script.split(">", 1)[1].startswith("</script>")
    policy = page["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "unsafe-inline" not in policy.replace("style-src-attr 'unsafe-inline'", "")
    for name in ("swagger-ui-bundle.js", "swagger-ui.css"):
        assert finders.find(f"drf_spectacular_sidecar/swagger-ui-dist/{name}")
    script = client.get("/api/docs/?script=")
    assert script["Content-Type"] == "application/javascript"
    assert b"/api/schema/" in script.content


@pytest.mark.parametrize("accept", ["text/html", "*/*", "text/html,application/xhtml+xml"])
def test_the_page_is_a_page_for_browsers(accept):
    assert Client().get("/api/docs/", headers={"Accept": accept}).status_code == 200

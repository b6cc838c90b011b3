"""The banner inside JupyterLab speaks the language of who sits there."""

import json
import re
from pathlib import Path

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.utils import translation

from pool.models import Notebook
from portal.gateway.banner import words
from portal.gateway.language import language_of
from tests.portal.gateway.visits import Visit

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.handmade_books]

CHINESE = [(b"accept-language", b"zh-CN,zh;q=0.9,en;q=0.5")]


@pytest.mark.parametrize(
    ("chosen", "asked", "language"),
    [
        ("zh-hans", [], "zh-hans"),
        ("en", CHINESE, "en"),
        ("", CHINESE, "zh-hans"),
        ("", [(b"accept-language", b"fr,xx-broken;q=9,en;q=0.1")], "en"),
        ("", [], "en"),
    ],
)
def test_what_was_chosen_goes_before_what_the_browser_asks(chosen, asked, language):
    assert language_of(chosen, asked) == language


def test_the_script_names_only_words_that_there_are():
    script = Path(settings.BASE_DIR, "static/js/notebook_banner.js").read_text()
    assert set(re.findall(r"words\.(\w+)", script)) == set(words("en"))
    assert "Nothing moves" not in script
    for mark in ("{time}", "{keeps}"):
        assert mark in script
        assert mark in words("en")["warning"]


async def ask(visit, name, pairs=()):
    """What the banner's script is told."""
    heard = []

    async def send(message):
        heard.append(message)

    path = f"/n/{visit.work.uid}/.gpupool/{name}"
    said = [(b"cookie", f"gpn={visit.cookie}".encode()), (b"host", b"x"), *pairs]
    scope = {"type": "http", "scheme": "http", "method": "GET", "path": path}
    scope |= {"raw_path": path.encode(), "query_string": b"", "headers": said}
    await visit.gateway(scope, None, send)
    return json.loads(heard[1]["body"])


async def test_a_person_gets_the_words_of_their_own_language(tmp_path, monkeypatch):
    visit = await sync_to_async(Visit)(str(tmp_path / "s"))
    owner = visit.work.owner
    owner.language = "zh-hans"
    await sync_to_async(owner.save)()
    await Notebook.objects.acreate(workload=visit.work, attempt=visit.run)
    before = translation.get_language()
    assert (await ask(visit, "words", CHINESE))["language"] == "zh-hans"
    assert translation.get_language() == before
    assert (await ask(visit, "state"))["state"] == "running"


async def act(visit, name, pairs=((b"x-gpupool", b"1"),)):
    """The status and words of what a button of the banner asks for."""
    heard = []

    async def send(message):
        heard.append(message)

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    path = f"/n/{visit.work.uid}/.gpupool/{name}"
    said = [(b"cookie", f"gpn={visit.cookie}".encode()), (b"host", b"x"), *pairs]
    scope = {"type": "http", "scheme": "http", "method": "POST", "path": path}
    scope |= {"raw_path": path.encode(), "query_string": b"", "headers": said}
    await visit.gateway(scope, receive, send)
    return heard[0]["status"], json.loads(heard[1]["body"] or b"{}")


async def test_keep_and_stop_of_the_banner_do_what_they_say(tmp_path):
    visit = await sync_to_async(Visit)(str(tmp_path / "s"))
    words = {"workload": visit.work, "attempt": visit.run, "stage": "ready", "verdict": "idle"}
    await Notebook.objects.acreate(**words, warned=10, limit_s=7200, quiet_s=6600)
    assert (await ask(visit, "state"))["warned"] == 10
    status, told = await act(visit, "keep")
    assert (status, told["warned"], told["keeps_left"]) == (200, None, 2)
    known = await Notebook.objects.aget(workload=visit.work)
    assert (known.keeps_used, known.quiet_s) == (1, 0.0)
    status, told = await act(visit, "stop")
    assert (status, told["running"]) == (200, False)
    work = await type(visit.work).objects.aget(pk=visit.work.pk)
    assert (work.state, work.stop_reason) == ("stopping", "stopped")

"""What a notebook's server tells becomes text and pictures, whatever shape it has."""

import asyncio
import base64
import json
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest
from django.template.loader import render_to_string
from hypothesis import given
from hypothesis import strategies as st

from portal.gateway.looking import _contents, _drawn, _sent
from portal.gateway.shown import file_of, plain_path, shown

BASE = "/look/wl-1/"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["cells", "outputs", "data", "text", "source", "name", "type"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


def notebook(*cells):
    return {"type": "notebook", "content": {"cells": list(cells)}}


def test_code_is_shown_with_what_came_of_it():
    cell = {
        "cell_type": "code",
        "source": ["1 +", " 1"],
        "outputs": [
            {"output_type": "stream", "text": "\x1b[31mred\x1b[0m"},
            {"output_type": "execute_result", "data": {"text/plain": ["2"], "text/html": "<b>2"}},
            {"output_type": "display_data", "data": {"image/png": "aGk=\n"}},
            {"output_type": "display_data", "data": {"application/x": 1}},
            {"output_type": "error", "traceback": ["\x1b[0;31mNameError\x1b[0m", "x"]},
        ],
    }
    (found,) = shown(notebook(cell), BASE, "a.ipynb")["cells"]
    assert found["source"] == "1 + 1"
    assert found["outputs"] == [
        {"text": "red"},
        {"text": "2"},
        {"picture": "data:image/png;base64,aGk="},
        {"unshown": True},
        {"text": "NameError\nx", "error": True},
    ]


def test_folders_come_first_and_hidden_names_never():
    rows = [
        {"name": "b.py", "type": "file", "size": 2048},
        {"name": "data", "type": "directory", "size": None},
        {"name": ".ssh", "type": "directory"},
        {"name": "../up", "type": "file", "size": 1},
        "odd",
    ]
    found = shown({"type": "directory", "content": rows}, BASE, "in/side")
    assert [(one["name"], one["folder"], one["kib"]) for one in found["entries"]] == [
        ("data", True, None),
        ("b.py", False, 2),
    ]
    assert found["entries"][1]["url"] == "/look/wl-1/in/side/b.py"
    assert found["crumbs"] == [("in", "/look/wl-1/in"), ("side", "/look/wl-1/in/side")]


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        ("", True),
        ("a/b c/名.ipynb", True),
        ("a/", True),
        (".ssh/id", False),
        ("a/../b", False),
        ("a//b", False),
        ("/etc", False),
        ("a\x00b", False),
    ],
)
def test_only_plain_ways_down_are_followed(path, plain):
    assert plain_path(path) is plain


def test_what_an_owner_wrote_is_never_markup_of_the_page():
    evil = "<script>alert(1)</script>"
    told = notebook(
        {"cell_type": "markdown", "source": evil},
        {"cell_type": "code", "source": evil, "outputs": [{"output_type": "stream", "text": evil}]},
        {"outputs": [{"data": {"image/png": '"><script>'}}]},
    )
    page = render_to_string("gateway/look.html", shown(told, BASE, f"{evil}.ipynb"))
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 3


def test_files_can_be_kept_as_they_are():
    whole = {"cells": [], "nbformat": 4}
    assert json.loads(file_of({"type": "notebook", "content": whole})) == whole
    assert file_of({"type": "file", "format": "text", "content": "é"}) == "é".encode()
    packed = base64.b64encode(b"\x00\xff").decode()
    assert file_of({"type": "file", "format": "base64", "content": packed}) == b"\x00\xff"
    assert file_of({"type": "file", "format": "base64", "content": "a"}) is None
    assert file_of({"type": "directory", "content": []}) is None


@given(st.sampled_from(["notebook", "directory", "file", None]), JSON)
def test_no_shape_breaks_the_page(kind, content):
    told = {"type": kind, "content": content, "format": "text", "mimetype": content}
    assert render_to_string("gateway/look.html", shown(told, BASE, "a"))


def test_two_entries_of_one_name_and_sizes_of_any_kind_are_listed():
    sizes = [None, 3, 10**400, -1, "many", 2.5]
    rows = [{"name": "a", "type": "file", "size": size} for size in sizes]
    found = shown({"type": "directory", "content": rows}, BASE, "")["entries"]
    assert [one["kib"] for one in found] == [None, 0, None, None, None, None]


def test_what_is_no_character_is_kept_as_a_question_mark():
    odd = "a\ud800b"
    assert file_of({"type": "file", "format": "text", "content": odd}) == b"a?b"
    assert b"a?b" in file_of({"type": "notebook", "content": {"cells": [odd]}})
    drawn = _drawn("en", {"base": BASE, "path": "", "style": "/x.css"} | {"text": odd})
    assert b"a?b" in drawn


def test_what_is_nested_without_end_is_not_shown():
    deep = []
    for _ in range(5000):
        deep = [deep]
    cell = {"cell_type": "code", "source": [deep]}
    found = shown(notebook(cell), BASE, "a.ipynb")
    assert (found["unshown"], found["path"]) == (True, "a.ipynb")
    assert file_of(notebook(cell)) is None


def test_what_cannot_be_read_for_its_depth_is_not_there():
    class Answer:
        status_code = 200

        async def aiter_bytes(self):
            yield b"[" * 100_000

    @asynccontextmanager
    async def stream(*_said, **_more):
        yield Answer()

    upstream = SimpleNamespace(http=SimpleNamespace(stream=stream))
    guest = SimpleNamespace(workload="wl-1", attempt="at-1")
    assert asyncio.run(_contents(upstream, guest, "a", content=1)) is None


def test_the_page_says_nothing_of_openers_which_a_sandboxed_page_may_not():
    told = []

    async def send(message):
        told.append(message)

    asyncio.run(_sent(send, 200, b"x", []))
    names = {name for name, _ in told[0]["headers"]}
    assert b"content-security-policy" in names
    assert b"cross-origin-opener-policy" not in names

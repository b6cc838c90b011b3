"""Files are small, named for what they hold, and say what they are."""

import ast

import pytest

from tests.architecture.house import FLOORS, files, name

WRITTEN = (*FLOORS, "tests", "docs")
PYTHON = list(files(WRITTEN, ".py"))
SHOWN = list(files(("templates", "static"), ".html", ".css", ".js"))
FORBIDDEN = {"utils", "util", "helpers", "helper", "common", "misc", "base_utils", "tools_misc"}


@pytest.mark.parametrize("path", PYTHON, ids=name)
def test_a_module_opens_with_a_line_that_says_what_it_is(path):
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert said, "a module opens with one line on what it is"
    assert said.splitlines()[0].strip()


@pytest.mark.parametrize("path", [*PYTHON, *SHOWN], ids=name)
def test_no_file_is_longer_than_four_hundred_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def test_no_file_is_named_for_being_a_heap():
    assert not [name(path) for path in PYTHON if path.stem in FORBIDDEN]


def test_no_folder_holds_more_than_thirty_files():
    folders = {path.parent for path in [*PYTHON, *SHOWN]}
    counts = {
        name(folder): sum(
            1
            for path in folder.iterdir()
            if path.is_file() and path.name != "__init__.py" and path.suffix != ".pyc"
        )
        for folder in folders
    }
    assert {folder: count for folder, count in counts.items() if count > 30} == {}


@pytest.mark.parametrize("path", list(files(FLOORS, ".py")), ids=name)
def test_what_others_may_use_says_why_or_what_must_hold(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    silent = [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    ]
    assert silent == []


def test_every_room_of_the_floors_is_a_package():
    rooms = {path.parent for path in files(FLOORS, ".py")}
    assert not [name(room) for room in rooms if not (room / "__init__.py").exists()]


@pytest.mark.parametrize("path", list(files(FLOORS, ".py")), ids=name)
def test_only_one_module_reads_the_environment(path):
    """In the portal it is `settings/env.py`; start-up code only builds what children inherit."""
    allowed = {"portal/settings/env.py", "portal/asgi.py", "portal/wsgi.py", "portal/celery.py"}
    here = name(path)
    if here in allowed or here.startswith(("portal/up/", "nodeagent/")):
        return
    used = [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv"}
    ]
    assert used == []


def test_nothing_in_the_tree_names_a_place_outside_it():
    words = ("/" + "work/", "../" + "shared")
    named = [
        name(path)
        for path in [*PYTHON, *SHOWN, *files((".ci", "deploy", "docs"), ".md", "", ".yaml", ".yml")]
        if path.is_file() and any(word in path.read_text(encoding="utf-8") for word in words)
    ]
    assert named == []

"""What of a browser's calls says that somebody sits there."""

import pytest

from portal.gateway.door import by_hand

BASE = "/n/wl-1/"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "api/contents/Untitled.ipynb"),
        ("POST", "api/contents"),
        ("PATCH", "api/contents/a.txt"),
        ("DELETE", "api/kernels/k1"),
        ("POST", "api/terminals"),
    ],
)
def test_what_people_do_with_files_kernels_and_terminals_counts(method, path):
    assert by_hand(method, BASE + path, BASE)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "lab/api/workspaces/default"),
        ("PUT", "lab/api/settings/theme"),
        ("GET", "api/kernels"),
        ("GET", "lab"),
        ("HEAD", "files/a.txt"),
    ],
)
def test_what_an_open_page_does_by_itself_does_not(method, path):
    assert not by_hand(method, BASE + path, BASE)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "api/contents/Untitled.ipynb"),
        ("POST", "api/contents/Untitled.ipynb/checkpoints"),
    ],
)
def test_a_page_that_saves_by_itself_keeps_no_notebook(method, path):
    """It does every two minutes, and when the end is near: the warning itself would prevent it."""
    assert not by_hand(method, BASE + path, BASE, browser=True)
    assert by_hand("POST", f"{BASE}api/terminals", BASE, browser=True)
    assert by_hand("DELETE", f"{BASE}api/contents/a.txt", BASE, browser=True)

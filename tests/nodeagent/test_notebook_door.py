"""The way into a notebook is its own socket, whatever a job puts in its place."""

import os
import socket
from pathlib import Path

import pytest

from nodeagent.notebooks.door import way_in
from nodeagent.protocol.notebooks import SOCKET
from nodeagent.tunnel import Tunnels


def listening(path):
    """A socket that somebody listens at."""
    made = socket.socket(socket.AF_UNIX)
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        made.bind(path.name)
    finally:
        os.chdir(here)
    made.listen()
    return made


def test_the_notebook_s_own_socket_is_reached_by_a_short_path(tmp_path):
    home = tmp_path / ("long" * 30)
    home.mkdir()
    with listening(home / SOCKET), way_in(home) as path, socket.socket(socket.AF_UNIX) as asks:
        asks.connect(path)
        assert len(path) < 40


def test_a_link_to_another_socket_is_not_followed(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    with listening(tmp_path / "engine.sock"):
        (home / SOCKET).symlink_to(tmp_path / "engine.sock")
        with pytest.raises(OSError, match="not the notebook's own"), way_in(home):
            pass


def test_a_file_is_no_socket(tmp_path):
    (tmp_path / SOCKET).write_text("")
    with pytest.raises(PermissionError), way_in(tmp_path):
        pass


@pytest.mark.parametrize("url", ["ws://elsewhere.example/tunnel/x", "http://127.0.0.1/tunnel/x"])
def test_no_gateway_is_dialled_in_plain_text_over_the_network(url):
    with pytest.raises(ValueError, match="no gateway"):
        Tunnels(lambda attempt, size: None)._tls(url)

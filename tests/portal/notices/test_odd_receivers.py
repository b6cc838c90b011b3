"""A receiver's odd address is that person's matter: others' letters go on."""

import socket

import pytest

from portal.notices.channels.dial import NotDialled, public


@pytest.mark.parametrize(
    "url",
    ["http://x:99999/", "http://[", "http://a..b/", "ftp://x/", "http:///", "http://127.0.0.1/"],
)
def test_an_address_that_cannot_be_dialled_is_told_so_and_nothing_else_happens(url):
    with pytest.raises(NotDialled):
        public(url)


def leads_to(ip, monkeypatch):
    kind = socket.AF_INET6 if ":" in ip else socket.AF_INET
    found = [(kind, socket.SOCK_STREAM, 6, "", (ip, 80))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *given, **named: found)


@pytest.mark.parametrize(
    "ip",
    [
        "64:ff9b::10.0.0.5",
        "64:ff9b:1::8.8.8.8",
        "2002:a00:5::1",
        "2002:a9fe:a9fe::1",
        "::10.0.0.5",
        "::ffff:192.168.1.1",
        "224.0.0.1",
        "ff0e::1",
        "fd00::1",
        "100.64.0.1",
    ],
)
def test_no_way_of_an_address_leads_to_a_private_one(ip, monkeypatch):
    leads_to(ip, monkeypatch)
    with pytest.raises(NotDialled, match="private"):
        public("http://receiver.example.org/")


@pytest.mark.parametrize("ip", ["8.8.8.8", "2606:4700::1111", "64:ff9b::8.8.8.8"])
def test_an_address_of_the_open_internet_is_dialled(ip, monkeypatch):
    leads_to(ip, monkeypatch)
    assert public("http://receiver.example.org/x").endswith(":80/x")

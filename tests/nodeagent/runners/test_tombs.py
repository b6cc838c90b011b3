"""Ends that are remembered in short."""

from nodeagent.protocol.report import FoundWork
from nodeagent.protocol.vocabulary import WorkFound
from nodeagent.runners.tombs import Tombs


def end(name, code=0):
    return FoundWork(
        attempt=name, workload="wl", state=WorkFound.EXITED, exit_code=code, clean=True
    )


def test_an_end_is_remembered_over_a_restart(tmp_path):
    Tombs(tmp_path / "forgotten").bury(end("at-1", 7))
    again = Tombs(tmp_path / "forgotten")
    assert again.find("at-1") == end("at-1", 7)
    assert again.find("at-2") is None


def test_only_the_newest_are_kept(tmp_path):
    tombs = Tombs(tmp_path / "forgotten", kept=5)
    for number in range(11):
        tombs.bury(end(f"at-{number}"))
    assert tombs.find("at-5") is None and tombs.find("at-6") is not None
    assert len((tmp_path / "forgotten").read_bytes().splitlines()) == 5


def test_a_torn_line_costs_only_itself(tmp_path):
    tombs = Tombs(tmp_path / "forgotten")
    tombs.bury(end("at-1"))
    with (tmp_path / "forgotten").open("ab") as file:
        file.write(b'{"attempt": "at-')
    again = Tombs(tmp_path / "forgotten")
    again.bury(end("at-2"))
    last = Tombs(tmp_path / "forgotten")
    assert (last.find("at-1"), last.find("at-2")) == (end("at-1"), end("at-2"))

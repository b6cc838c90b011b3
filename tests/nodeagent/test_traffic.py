"""Disk and network of process trees: rates of what the kernel counts, unknown where it does not."""

import os
import shutil

import pytest

from nodeagent import telemetry
from nodeagent.records import Record
from nodeagent.telemetry import Usage, loads
from nodeagent.traffic import Traffic, disk_of

MIB = 1024 * 1024
NODE, OWN = "net:[1]", "net:[2]"
HEAD = "Inter-|   Receive |  Transmit\n face |bytes packets |bytes packets\n"


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """A made-up /proc, and a clock that goes two seconds with each look."""
    moment = [100.0]

    def tick():
        moment[0] += 2.0
        return moment[0]

    monkeypatch.setattr("nodeagent.clock.boottime", tick)
    shows(tmp_path, "self", 0, 0)
    return tmp_path


def shows(proc, pid, disk_mib, net_mib, namespace=NODE, started=0):
    folder = proc / str(pid)
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "ns").mkdir(parents=True)
    (folder / "net").mkdir()
    (folder / "ns/net").symlink_to(namespace)
    ticks = started * os.sysconf("SC_CLK_TCK")
    (folder / "stat").write_text(f"{pid} (of (me)) S {'0 ' * 18}{ticks} 0\n")
    half = disk_mib * MIB // 2
    (folder / "io").write_text(f"rchar: 99\nread_bytes: {half}\nwrite_bytes: {half}\n")
    counts = " ".join(["7"] * 7)
    lo = f"    lo: {10**12} {counts} {10**12} {counts}\n"
    (folder / "net/dev").write_text(f"{HEAD}{lo}  eth0: {net_mib * MIB} {counts} 0 {counts}\n")


def test_a_rate_needs_two_looks_and_adds_up_the_tree(kernel):
    traffic = Traffic(kernel)
    shows(kernel, 11, 100, 0)
    assert traffic.rates("at-1", {11}) == (None, None)
    shows(kernel, 11, 104, 0)
    shows(kernel, 12, 6, 0, started=103)
    assert traffic.rates("at-1", {11, 12}) == (5.0, None), "a new process began since the last look"
    shutil.rmtree(kernel / "12")
    assert traffic.rates("at-1", {11, 12}) == (0.0, None), "what ended is no negative rate"


def test_what_began_long_before_it_was_seen_moved_nothing_yet(kernel):
    """A container's processes may be found some looks after the work has begun."""
    traffic = Traffic(kernel)
    shows(kernel, 11, 100, 0)
    shows(kernel, 12, 8000, 9000, OWN, started=50)
    assert traffic.rates("at-1", {11}) == (None, None)
    shows(kernel, 13, 2, 3, "net:[3]", started=103)
    traffic.rates("at-1", {11, 12})
    shows(kernel, 12, 8004, 9006, OWN, started=50)
    shows(kernel, 13, 2, 4, "net:[3]", started=105)
    assert traffic.rates("at-1", {11, 12, 13}) == (3.0, pytest.approx(5.0, rel=0.01))


def test_network_is_known_in_a_namespace_of_ones_own_alone(kernel):
    traffic = Traffic(kernel)
    for net in (10, 14):
        shows(kernel, 11, 0, 1000 * net)
        shows(kernel, 12, 0, net, OWN)
        shows(kernel, 13, 0, net, OWN)
        told = traffic.rates("at-1", {11, 12, 13})
        plain = traffic.rates("at-2", {11})
    assert told == (0.0, pytest.approx(4 / 4, rel=0.01)), "once for all that share it"
    assert plain == (0.0, None), "the network of the node is nobody's own"


def test_processes_that_cannot_be_read_are_unknown_and_not_idle(kernel):
    traffic = Traffic(kernel)
    for _ in range(2):
        told = traffic.rates("at-1", {4})
    assert told == (None, None)


def test_an_attempt_that_is_over_is_forgotten(kernel):
    traffic = Traffic(kernel)
    shows(kernel, 11, 100, 0)
    traffic.rates("at-1", {11})
    traffic.keep(())
    assert traffic.rates("at-1", {11}) == (None, None)


def test_this_kernel_tells_of_this_process(tmp_path):
    before = disk_of({os.getpid()})
    assert before is not None and before[str(os.getpid())] >= 0


def test_traffic_stands_beside_the_first_slice_alone(tmp_path):
    record = Record("at-1", tmp_path, slices=("a", "b"))
    first, second = loads([record], {"at-1": Usage(1.0, 5.0, frozenset(), 2.0, 1.0)}, {})
    assert (first.disk_mib_s, first.net_mib_s, first.cpu) == (2.0, 1.0, 1.0)
    assert (second.disk_mib_s, second.net_mib_s, second.cpu) == (None, None, 1.0)


def test_the_tree_of_a_running_attempt_is_asked(tmp_path, monkeypatch):
    asked = []

    def rates(_self, attempt, pids):
        asked.append((attempt, pids))
        return 3.0, None

    monkeypatch.setattr(telemetry.Traffic, "rates", rates)
    record = Record("at-1", tmp_path, shim_pid=os.getppid())
    use = telemetry.Telemetry().usage([record])["at-1"]
    assert (use.disk_mib_s, use.net_mib_s) == (3.0, None)
    assert asked == [("at-1", use.pids)] and os.getpid() in use.pids

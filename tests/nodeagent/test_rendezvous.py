"""Where ranks meet: a free port, an address, and what each rank is told."""

import socket

import pytest

from nodeagent import rendezvous
from nodeagent.config import BadConfig, parse
from nodeagent.protocol.desired import Launch

LAUNCH = Launch(rank=1, size=2, hosts=("10.0.0.1", "10.0.0.2"), slots=(8, 4), port=29_500)


def test_a_port_of_the_range_that_is_taken_is_passed_over():
    with socket.create_server(("", 0)) as taken:
        first = taken.getsockname()[1]
        last = min(first + 20, 65_535)
        chosen = rendezvous.free_port((first, last))
        assert first < chosen <= last
        with pytest.raises(OSError, match="no port from"):
            rendezvous.free_port((first, first))


def test_without_a_range_the_system_gives_one_that_is_free():
    with socket.create_server(("", rendezvous.free_port())):
        pass


def test_a_node_is_reached_where_it_reaches_the_portal_from():
    assert rendezvous.own_address("http://127.0.0.1:8000") == "127.0.0.1"
    assert rendezvous.own_address("https://no-such-host.invalid") == ""


def test_a_rank_finds_its_place_by_every_name_that_launchers_read(tmp_path):
    told = rendezvous.variables(LAUNCH, 29_500, tmp_path)
    assert (told["RANK"], told["WORLD_SIZE"]) == ("1", "2")
    assert (told["MASTER_ADDR"], told["MASTER_PORT"]) == ("10.0.0.1", "29500")
    assert (told["PET_NNODES"], told["PET_NODE_RANK"], told["PET_NPROC_PER_NODE"]) == (
        "2",
        "1",
        "4",
    )
    assert told["GPUPOOL_HOSTS"] == "10.0.0.1,10.0.0.2"
    assert rendezvous.hosts_file(LAUNCH) == "10.0.0.1 slots=8\n10.0.0.2 slots=4\n"


@pytest.mark.parametrize("text", ["29500", "29600-29500", "0-1", "1-70000", "a-b"])
def test_a_range_that_is_none_is_refused_in_one_line(text):
    with pytest.raises(BadConfig, match="gang-ports"):
        parse(["--gang-ports", text], {})


def test_range_and_address_come_from_flags_or_variables():
    _, config = parse(["--gang-ports", "29500-29510"], {"GPUPOOL_AGENT_ADDRESS": "10.1.1.1"})
    assert (config.gang_ports, config.address) == ((29_500, 29_510), "10.1.1.1")

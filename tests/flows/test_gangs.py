"""Gangs on two real agents: they meet, end together, and one that dies takes the other along."""

import json
import os
import signal

import pytest

from tests.waiting import until

pytestmark = [pytest.mark.flow, pytest.mark.xdist_group("stack")]

MEET = """
import json, os, socket, sys, time
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
where = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
until = time.monotonic() + float(os.environ["GPUPOOL_RENDEZVOUS_SECONDS"])
if rank == 0:
    with socket.create_server(("", where[1])) as server:
        met = [0]
        for _ in range(size - 1):
            link, _ = server.accept()
            met.append(int(link.recv(16)))
            link.close()
else:
    while True:
        try:
            with socket.create_connection(where) as link:
                link.sendall(str(rank).encode())
            met = [rank]
            break
        except OSError:
            if time.monotonic() > until:
                sys.exit(7)
            time.sleep(0.05)
names = ("GPUPOOL_NODE", "NNODES", "PET_NPROC_PER_NODE", "GPUPOOL_HOST_SLOTS")
hosts = open(os.environ["GPUPOOL_HOSTS_FILE"]).read().split()
told = {name: os.environ[name] for name in names}
print(json.dumps({"rank": rank, "met": sorted(met), "hosts": hosts, **told}), flush=True)
""".strip()
WAIT = "import time; time.sleep(300)"
HELD = "SELECT count(*) FROM pool_hold WHERE upper_inf(held)"
HOSTS = """
SELECT count(DISTINCT h.node_id), count(*) FILTER (WHERE h.slice_id IS NULL),
       count(*) FILTER (WHERE h.slice_id IS NOT NULL)
FROM pool_hold h JOIN pool_placement p ON p.id = h.placement_id
JOIN pool_attempt a ON a.id = p.attempt_id JOIN pool_workload w ON w.id = a.workload_id
WHERE w.uid = %s
"""


def gang(house, *script, **more):
    """A job of two nodes with three whole cards each, that runs this Python; its uid.

    More than the allowance gives: whoever leads says yes to it where no lease holds it yet.
    """
    asked = {
        "template": "train-whole-card",
        "need": {"parts": 6, "nodes": 2, "topology": "network"},
        "command": ["python3", "-c", "\n".join(script)],
    }
    uid = house.submit("true", **(asked | more))
    asked_for = house.work(uid)["request"]
    if asked_for:
        lead = house.as_("lead")
        row = lead("GET", f"requests/{asked_for}")
        lead("POST", f"requests/{asked_for}/approve", {"revision": row["revision"]})
    return uid


def log(house, uid, rank):
    return house.as_("member")("GET", f"workloads/{uid}/logs?rank={rank}")


def empty(house):
    until(lambda: house.rows(HELD)[0][0] == 0, what="all holds are closed")
    until(lambda: not house.shims, what="no shim is left")


def test_ranks_on_two_nodes_meet_and_each_has_its_own_log_and_exit_code(house):
    uid = gang(house, MEET)
    done = house.ended([uid])[uid]
    assert (done["state"], done["exit_code"]) == ("succeeded", 0), done["message"]
    (run,) = done["attempts"]
    assert run["size"] == 2 and 1024 <= run["master_port"] < 65_536
    assert [(one["rank"], one["exit_code"], one["state"]) for one in run["ranks"]] == [
        (0, 0, "clean"),
        (1, 0, "clean"),
    ]
    said = [json.loads(log(house, uid, rank)) for rank in (0, 1)]
    assert [(one["rank"], one["met"]) for one in said] == [(0, [0, 1]), (1, [1])]
    assert {one["GPUPOOL_NODE"] for one in said} == {one["node"] for one in run["ranks"]}
    for one in said:
        assert (one["NNODES"], one["PET_NPROC_PER_NODE"]) == ("2", "3")
        assert one["hosts"] == ["127.0.0.1", "slots=3"] * 2
    assert house.rows(HOSTS, uid)[0] == (2, 2, 6)
    empty(house)


def test_one_rank_that_dies_stops_the_other_and_the_whole_fails(house):
    uid = gang(house, MEET, "sys.exit(9) if rank == 1 else None", WAIT)
    done = house.ended([uid])[uid]
    assert (done["state"], done["exit_code"], done["exit_reason"]) == ("failed", 9, "own_error")
    assert "rank 1" in done["message"]
    ends = [(one["exit_code"], one["exit_reason"]) for one in done["attempts"][0]["ranks"]]
    assert ends == [(-15, "rank_died"), (9, "own_error")]
    empty(house)


def test_a_gang_that_restarts_runs_again_whole_on_a_new_port_or_the_old_one(house):
    again = "os.environ['GPUPOOL_ATTEMPT_NUMBER'] == '1' and rank == 1 and sys.exit(5)"
    uid = gang(house, MEET, again, on_rank_death="restart")
    done = house.ended([uid])[uid]
    assert (done["state"], len(done["attempts"])) == ("succeeded", 2), done["message"]
    assert [one["size"] for one in done["attempts"]] == [2, 2]
    empty(house)


def test_a_cancel_ends_every_rank(house):
    uid = gang(house, MEET, WAIT)
    house.all_in_state([uid], "running")
    assert len(house.shims) == 2
    house.as_("member")("POST", f"workloads/{uid}/cancel", {})
    assert house.ended([uid])[uid]["state"] == "cancelled"
    empty(house)


def test_an_agent_that_is_killed_finds_its_rank_again_and_the_gang_runs_on(house):
    mark = house.marks / "go-on"
    wait = f"while not os.path.exists({str(mark)!r}): time.sleep(0.1)"
    uid = gang(house, MEET, wait, "print('went on', rank, flush=True)")
    house.all_in_state([uid], "running")
    for pid in house.stack.pids("--node sim-b"):
        os.kill(pid, signal.SIGKILL)
    mark.touch()
    done = house.ended([uid])[uid]
    assert (done["state"], len(done["attempts"])) == ("succeeded", 1), done["message"]
    assert [log(house, uid, rank).splitlines()[-1] for rank in (0, 1)] == ["went on 0", "went on 1"]
    house.stack.healthy_again(seconds=90)
    empty(house)

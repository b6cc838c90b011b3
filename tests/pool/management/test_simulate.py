"""manage.py simulate: CSV in, CSV out, no database, one clear line when the input is wrong."""

import csv
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

JOBS = "i,submit_s,duration_s,declared_s,gpus,priority,tenant,checkpoint_s"
POLICIES = ("live", "fifo", "easy")


def _write(path, *lines):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def _run(tmp_path, *words):
    out, said = tmp_path / "out.csv", StringIO()
    call_command("simulate", *words, "--out", str(out), stdout=said)
    with out.open(newline="", encoding="utf-8") as told:
        return list(csv.DictReader(told)), said.getvalue()


def test_packing_answers_every_arrival_in_order(tmp_path):
    nodes = _write(
        tmp_path / "nodes.csv", "node,cpu_milli,memory_mib,gpus,model", "a,4000,8000,2,T4"
    )
    arrivals = _write(
        tmp_path / "arrivals.csv",
        "i,task,cpu_milli,memory_mib,num_gpu,gpu_milli,models",
        "0,x,1000,1000,1,500,",
        "1,y,1000,1000,1,500,T4|V100",
        "2,z,1000,1000,1,500,V100",
        "3,w,1000,1000,0,0,",
        "4,v,1000,1000,1,1000,",
    )
    rows, said = _run(tmp_path, "packing", "--nodes", nodes, "--arrivals", arrivals)
    assert [tuple(row.values()) for row in rows] == [
        ("0", "a", "0"),
        ("1", "a", "0"),
        ("2", "", ""),
        ("3", "a", ""),
        ("4", "a", "1"),
    ]
    assert "refused: 1" in said and "unallocated percent: 0.0" in said


def test_packing_tells_what_was_free_when_all_had_been_asked_for_as_published_results_do(tmp_path):
    nodes = _write(
        tmp_path / "nodes.csv", "node,cpu_milli,memory_mib,gpus,model", "a,4000,8000,2,T4"
    )
    asked = ("0,x,1000,1000,1,600,", "1,y,1000,1000,1,600,", "2,z,1000,1000,1,800,")
    head = "i,task,cpu_milli,memory_mib,num_gpu,gpu_milli,models"
    words = ("packing", "--nodes", nodes, "--arrivals")
    few = _write(tmp_path / "few.csv", head, *asked[:2])
    _rows, said = _run(tmp_path, *words, few)
    assert "when all was asked for" not in said and "unallocated percent: 40.0" in said
    more = _write(tmp_path / "more.csv", head, *asked, "3,w,1000,1000,1,400,")
    _rows, said = _run(tmp_path, *words, more)
    assert "unallocated percent when all was asked for: 40.0" in said
    assert "unallocated percent: 20.0" in said


class Terminal(StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("terminal", [True, False])
def test_a_bar_counts_what_was_replayed_where_there_is_a_terminal(tmp_path, monkeypatch, terminal):
    shown = Terminal() if terminal else StringIO()
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    jobs = _write(tmp_path / "jobs.csv", JOBS, "0,0,60,60,2,normal,t,", "1,5,30,30,4,normal,t,")
    words = ("queue", "--jobs", jobs, "--nodes", "2", "--gpus-per-node", "2")
    _rows, said = _run(tmp_path, *words)
    assert ("2/2" in shown.getvalue()) is terminal
    assert "jobs: 2" in said and "2/2" not in said


@pytest.mark.parametrize("policy", ["live", "fifo", "easy"])
def test_queue_tells_first_start_last_end_and_place(tmp_path, policy):
    jobs = _write(tmp_path / "jobs.csv", JOBS, "0,0,60,60,2,normal,t,", "1,5,30,30,4,normal,t,")
    words = ("queue", "--jobs", jobs, "--nodes", "2", "--gpus-per-node", "2", "--policy", policy)
    rows, said = _run(tmp_path, *words)
    assert [tuple(row.values()) for row in rows] == [
        ("0", "0.0", "60.0", "0:2", "0"),
        ("1", "60.0", "90.0", "0:2-1:2", "0"),
    ]
    assert "mean wait s: 27.5" in said


def test_queue_writes_each_run_and_what_was_lost(tmp_path):
    jobs = _write(tmp_path / "jobs.csv", JOBS, "0,0,500,500,2,low,t,100", "1,250,10,10,2,high,t,")
    segments = tmp_path / "segments.csv"
    words = ("queue", "--jobs", jobs, "--nodes", "1", "--gpus-per-node", "2", "--grace", "30")
    rows, _ = _run(tmp_path, *words, "--segments", str(segments), "--restart", "40")
    assert rows[0]["preemptions"] == "1"
    with segments.open(newline="", encoding="utf-8") as told:
        runs = [tuple(row.values()) for row in csv.DictReader(told)]
    assert runs == [
        ("0", "0.0", "280.0", "0:2", "80.0"),
        ("1", "280.0", "290.0", "0:2", "0.0"),
        ("0", "290.0", "630.0", "0:2", "0.0"),
    ]


def test_queue_tells_the_waits_under_three_policies_in_one_run(tmp_path):
    told = ("0,0,100,100,1,normal,t,", "1,1,500,500,2,normal,t,", "2,2,50,50,1,normal,t,")
    jobs = _write(tmp_path / "jobs.csv", JOBS, *told)
    words = ("queue", "--jobs", jobs, "--nodes", "1", "--gpus-per-node", "2", "--compare")
    _rows, said = _run(tmp_path, *words)
    waits = dict(line.split(": ", 1) for line in said.splitlines() if line.startswith(POLICIES))
    assert waits["fifo"].startswith("mean wait s 232.3,"), "the last waits for the large one"
    assert waits["easy"].startswith("mean wait s 33.0,"), "and slips in before it"
    assert waits["live"] == waits["easy"]
    assert waits["fifo"].endswith("large mean s 99.0")


def test_a_job_larger_than_the_pool_never_runs_and_stops_nobody(tmp_path):
    jobs = _write(tmp_path / "jobs.csv", JOBS, "0,0,60,60,9,normal,t,", "1,5,30,30,1,normal,t,")
    words = ("queue", "--jobs", jobs, "--nodes", "2", "--gpus-per-node", "2")
    rows, said = _run(tmp_path, *words)
    assert rows[0]["start_s"] == "" and rows[1]["start_s"] == "5.0"
    assert "never ran: 1" in said


def test_mig_tells_card_and_start(tmp_path):
    requests = _write(
        tmp_path / "requests.csv",
        "i,arrive_s,leave_s,profile",
        "0,0,,3g.40gb",
        "1,1,,4g.40gb",
        "2,2,,1g.10gb",
    )
    words = ("mig", "--cards", "1", "--model", "a100_80gb", "--requests", requests)
    rows, said = _run(tmp_path, *words)
    assert [(row["card"], row["start"]) for row in rows] == [("0", "4"), ("0", "0"), ("", "")]
    assert "refused: 1" in said and "served percent: 66.67" in said
    assert "served before the first refusal: 2" in said


@pytest.mark.parametrize(
    ("model", "line", "word"),
    [
        ("nothing", "0,0,,1g.10gb", "nothing"),
        ("../facts", "0,0,,1g.10gb", "facts"),
        ("a30_24gb", "0,0,,9g.99gb", "9g.99gb"),
        ("a30_24gb", "0,soon,,1g.6gb", "soon"),
    ],
)
def test_wrong_input_is_one_clear_line(tmp_path, model, line, word):
    requests = _write(tmp_path / "requests.csv", "i,arrive_s,leave_s,profile", line)
    with pytest.raises(CommandError, match=word):
        _run(tmp_path, "mig", "--cards", "1", "--model", model, "--requests", requests)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CommandError, match="gone.csv"):
        _run(
            tmp_path,
            "packing",
            "--nodes",
            str(tmp_path / "gone.csv"),
            "--arrivals",
            str(tmp_path / "gone.csv"),
        )

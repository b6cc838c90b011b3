"""Files of recorded work: every line is a job, wrong with its number, or counted as left out."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pool.rules.whatif import files
from pool.rules.whatif.compare import Lot, compared, lot
from pool.rules.whatif.files import read_file

SIMULATE = (
    "i,submit_s,duration_s,declared_s,gpus,priority,tenant,checkpoint_s\n"
    "0,45.0,30.0,30.0,1,normal,t,\n1,5.5,61.0,,16,high,u,600\n"
)
SACCT = """JobID|Submit|Start|Elapsed|Timelimit|AllocTRES|Account|Partition
1|2026-05-01T10:00:00|2026-05-01T10:05:00|1-02:03:04|2-00:00:00|cpu=8,gres/gpu=2,gres/gpu:a100=2|vision|gpu
1.batch|2026-05-01T10:00:00|2026-05-01T10:05:00|01:00:00||cpu=8|vision|gpu
2|2026-05-01T11:00:00|Unknown|00:00:00|UNLIMITED|gres/gpu=1|vision|gpu
3|2026-05-01T11:00:00|2026-05-01T11:00:01|02:00|UNLIMITED|cpu=4|speech|gpu
4|2026-05-01T12:00:00|2026-05-01T12:00:01|90:00|UNLIMITED|gres/gpu=4|speech|gpu
"""


def test_the_format_of_simulate_is_read_in_the_order_of_arrival():
    found = read_file(SIMULATE, "csv")
    assert not found.wrong and not found.left_out
    late, early = found.lines[1], found.lines[0]
    assert (early.line, early.submit_s, early.gpus, early.priority) == (3, 5.5, 16, "high")
    assert (early.declared_s, early.checkpoint_s, early.team) == (61.0, 600.0, "u")
    assert (late.duration_s, late.checkpoint_s) == (30.0, None)


def test_times_shares_and_models_may_be_said_as_people_do():
    text = "submit,start,end,cards,team,model,memory_gb\n"
    text += "2026-05-01T10:00:00+02:00,2026-05-01 08:00,2026-05-01 09:00,0.25,vision,A100-80GB,\n"
    text += "2026-05-01T08:00:00,2026-05-01 08:00,2026-05-01 09:00,1,vision,,20\n"
    found = read_file(text, "csv")
    assert not found.wrong
    share, whole = found.lines
    assert share.submit_s == whole.submit_s and share.duration_s == 3600
    assert (share.gpus, share.share_milli, share.model) == (1, 250, "A100-80GB")
    assert (whole.share_milli, whole.memory_gb) == (None, 20)


def test_every_wrong_line_is_told_with_its_number_and_the_rest_is_counted():
    rows = ["submit_s,duration_s,gpus,priority", "0,10,1,", "x,10,1,", "0,-1,1,", "0,10,1.5,"]
    rows += ["0,10,1,urgent", "0,10", "0,10,1,low,more"] + ["0,nan,1,"] * 40
    found = read_file("\n".join(rows), "csv")
    assert [line for line, _ in found.wrong[:6]] == [3, 4, 5, 6, 7, 8]
    assert len(found.wrong) == 20 and found.wrong_count == 46
    assert len(found.lines) == 1


def test_what_sacct_tells_becomes_jobs_and_what_is_none_is_counted():
    found = read_file(SACCT, "sacct")
    assert not found.wrong
    assert found.left_out == {"steps": 1, "never_ran": 1, "no_cards": 1}
    one, four = found.lines
    assert (one.gpus, one.model, one.team) == (2, "a100", "vision")
    assert (one.duration_s, one.declared_s) == (93784.0, 172800.0)
    assert (four.duration_s, four.declared_s) == (5400.0, 5400.0)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("", "csv"),
        ("submit_s,duration_s\n1,2\n", "csv"),
        ("submit_s,duration_s,gpus,colour\n1,2,3,red\n", "csv"),
        ("submit_s,duration_s,gpus\n", "csv"),
        ("submit_s,duration_s,gpus\n1,2,0\n", "csv"),
        (SIMULATE, "sacct"),
        ("JobID|Submit\n1|2\n", "sacct"),
        ('submit_s,duration_s,gpus\n"' + "x" * 200_000 + '"', "csv"),
    ],
)
def test_a_file_that_cannot_be_read_as_a_whole_says_so_in_its_first_line(text, shape):
    found = read_file(text, shape)
    assert not found.lines and found.wrong[0][0] == 1


def test_too_large_a_file_and_too_many_lines_are_refused(monkeypatch):
    monkeypatch.setattr(files, "MOST_BYTES", 40)
    assert "MiB" in read_file(SIMULATE, "csv").wrong[0][1].text
    monkeypatch.setattr(files, "MOST_BYTES", 10**6)
    monkeypatch.setattr(files, "MOST_LINES", 1)
    assert "lines" in read_file(SIMULATE, "csv").wrong[0][1].text


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=300), st.sampled_from(files.SHAPES))
def test_no_text_breaks_the_reader(body, shape):
    head = "submit_s,duration_s,gpus,team\n" if shape == "csv" else SACCT.split("\n")[0] + "\n"
    found = read_file(head + body, shape)
    assert found.lines or found.wrong


def test_winners_come_first_losers_last_and_small_changes_are_none():
    before = {
        "a": {"never": 0, "p95_wait_s": 3600.0, "mean_wait_s": 100.0},
        "b": {"never": 0, "p95_wait_s": 10.0, "mean_wait_s": 5.0},
        "c": {"never": 0, "p95_wait_s": 100.0, "mean_wait_s": 5.0},
        "d": {"never": 0, "p95_wait_s": None, "mean_wait_s": None},
    }
    after = {
        "a": {"never": 0, "p95_wait_s": 600.0, "mean_wait_s": 100.0},
        "b": {"never": 0, "p95_wait_s": 40.0, "mean_wait_s": 9.0},
        "c": {"never": 1, "p95_wait_s": 0.0, "mean_wait_s": 0.0},
        "d": {"never": 0, "p95_wait_s": None, "mean_wait_s": None},
    }
    found = compared(before, after)
    assert [(one.team, one.lot) for one in found] == [
        ("a", Lot.GAINS),
        ("d", Lot.SAME),
        ("b", Lot.SAME),
        ("c", Lot.LOSES),
    ]
    assert lot(after["c"], before["c"]) is Lot.GAINS
    assert lot({"mean_wait_s": 900.0}, {"mean_wait_s": 100.0}) is Lot.GAINS


def test_a_header_of_thousands_of_columns_is_refused_before_any_line_is_read(monkeypatch):
    read = []
    monkeypatch.setattr(files, "sacct_line", lambda number, row: read.append(number))
    names = ",".join(f"c{number}" for number in range(60_000))
    for shape, between in (("csv", ","), ("sacct", "|")):
        text = names.replace(",", between) + "\n" + "1\n" * 1000
        found = read_file(text, shape)
        assert [line for line, _problem in found.wrong] == [1] and not found.lines
        assert "200" in str(found.wrong[0][1])
    assert not read


def test_no_line_beyond_the_most_is_read_and_none_is_kept(monkeypatch):
    seen = []
    plain = files._csv_line
    monkeypatch.setattr(files, "_csv_line", lambda *given: seen.append(given) or plain(*given))
    monkeypatch.setattr(files, "MOST_LINES", 5)
    found = read_file("submit_s,duration_s,gpus\n" + "1,2,1\n" * 50, "csv")
    assert len(seen) == 5
    assert found.wrong_count == 1 and found.wrong[0][0] == 1 and not found.lines
    found = read_file("submit_s,duration_s,gpus\n" + "1,2,1\n" * 5, "csv")
    assert len(found.lines) == 5 and not found.wrong


def test_the_mark_before_the_text_of_some_editors_is_no_part_of_the_first_column():
    found = read_file("\ufeffsubmit_s,duration_s,gpus\n1,2,1\n", "csv")
    assert len(found.lines) == 1 and not found.wrong

"""The comparison of fixed sets and one pool runs, and its figures are those of the record."""

import re

from tests.benchmarks import bench_teams

HEAD = "i,submit_s,duration_s,declared_s,gpus,priority,tenant,checkpoint_s"


def _row(number, at, length, gpus, team):
    return f"{number},{at},{length},{length},{gpus},normal,{team},"


def test_a_team_that_waits_on_its_own_set_does_not_in_one_pool(tmp_path, monkeypatch, capsys):
    """Team a comes with more than its half at once, team b with a little, later."""
    rows = [_row(n, 0, 3600, 8, "a") for n in range(70)]
    rows += [_row(100 + n, 7200, 3600, 8, "b") for n in range(70)]
    file = tmp_path / "jobs.csv"
    file.write_text("\n".join([HEAD, *rows]) + "\n")
    monkeypatch.setenv("BENCH_JOBS_FILE", str(file))
    bench_teams.test_one_pool_waits_less_and_is_used_more_than_a_fixed_set_for_each_team()
    told = capsys.readouterr().out
    alone, together = (float(found) for found in re.findall(r"mean wait ([0-9.]+) min, p95", told))
    assert alone > 0.0 and together == 0.0
    assert "2 teams with a fixed set each" in told and "use x" in told


def test_work_of_one_team_is_not_compared(tmp_path, monkeypatch, capsys):
    file = tmp_path / "jobs.csv"
    file.write_text("\n".join([HEAD, _row(0, 0, 60, 1, "a")]) + "\n")
    monkeypatch.setenv("BENCH_JOBS_FILE", str(file))
    bench_teams.test_one_pool_waits_less_and_is_used_more_than_a_fixed_set_for_each_team()
    assert "nothing is compared" in capsys.readouterr().out

"""Buy or optimise: planted teams with known right answers, corners, lines, laws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pool.rules.planning.scatter import Corner, Dot, corner_of
from pool.rules.planning.trend import trend_of
from pool.rules.planning.verdict import Band, Choice, Evidence, TeamUse, band_of, judge

TARGET = 1800


def team(slug, held, use, wait=60.0):
    return TeamUse(slug=slug, name=slug, held_cards=held, use_milli=use, p95_wait_s=wait, started=9)


def seen(*teams, use=650, days=28.0):
    return Evidence(
        days=days, cards=40, use_milli=use, known_milli=900, target_s=TARGET, teams=teams
    )


def test_below_seven_days_there_is_no_verdict_but_the_days_that_are_missing():
    told = judge(seen(team("a", 8, 900, 9e4), team("b", 8, 900, 9e4), days=5))
    assert (told.choice, told.missing_days) == (Choice.TOO_EARLY, 2)
    assert judge(seen(use=None)).choice is Choice.TOO_EARLY


def test_a_team_that_holds_twelve_and_uses_three_gives_back_first():
    told = judge(seen(team("vision", 12, 190), team("speech", 8, 800, 32_400.0)))
    assert told.choice is Choice.OPTIMISE
    assert [one.slug for one in told.spare] == ["vision"]
    assert told.spare_cards == 8, "12 − 12 × 0.19 / 0.7, in whole cards"


def test_a_pool_under_a_fifth_is_optimised_even_when_two_teams_are_hot():
    told = judge(seen(team("a", 2, 900, 9e4), team("b", 2, 900, 9e4), use=150))
    assert told.choice is Choice.OPTIMISE


def test_several_busy_teams_that_wait_with_nothing_idle_speak_for_buying():
    told = judge(seen(team("a", 16, 950, 7200.0), team("b", 8, 900, 3600.0), team("c", 4, 500)))
    assert told.choice is Choice.BUY
    assert [one.slug for one in told.busy] == ["a", "b"]
    assert told.wanted_cards == 6, "16 × 0.95 / 0.775 and 8 × 0.9 / 0.775, each in whole cards"


def test_one_busy_team_alone_is_no_reason_to_buy():
    assert judge(seen(team("a", 16, 950, 7200.0), team("b", 8, 500))).choice is Choice.KEEP


def test_what_others_could_give_back_is_taken_off_what_would_be_bought():
    hot = (team("a", 16, 950, 7200.0), team("b", 16, 950, 7200.0))
    cold = team("c", 4, 100)
    told = judge(seen(*hot, cold))
    assert (told.choice, told.spare_cards, told.wanted_cards) == (Choice.BUY, 3, 5)
    told = judge(seen(*hot, team("c", 20, 100)))
    assert told.choice is Choice.OPTIMISE, "what lies idle is more than what is missing"


def test_what_was_not_measured_is_neither_idle_nor_busy():
    told = judge(seen(team("a", 16, None, 7200.0), team("b", 16, None, 7200.0)))
    assert (told.choice, told.spare, told.busy) == (Choice.KEEP, (), ())


USES = st.one_of(st.none(), st.integers(0, 1000))
TEAMS = st.lists(
    st.builds(
        team,
        slug=st.text("abcdef", min_size=1, max_size=4),
        held=st.floats(0, 500),
        use=USES,
        wait=st.one_of(st.none(), st.floats(0, 1e6)),
    ),
    max_size=8,
    unique_by=lambda one: one.slug,
)


@given(teams=TEAMS, use=USES, days=st.floats(0, 60), turn=st.randoms())
def test_the_order_of_teams_changes_nothing_and_no_number_is_negative(teams, use, days, turn):
    told = judge(seen(*teams, use=use, days=days))
    mixed = list(teams)
    turn.shuffle(mixed)
    assert judge(seen(*mixed, use=use, days=days)) == told
    assert told.spare_cards >= 0 and told.wanted_cards >= 0
    assert all(one.spare_cards <= one.held_cards for one in told.spare)
    assert not {t.slug for t in told.spare} & {t.slug for t in told.busy}


@given(teams=TEAMS)
def test_more_idleness_never_turns_optimise_into_buy(teams):
    before = judge(seen(*teams, use=400))
    after = judge(seen(*teams, team("idle one", 50, 10), use=400))
    if before.choice is Choice.OPTIMISE:
        assert after.choice is Choice.OPTIMISE
    assert after.wanted_cards <= before.wanted_cards or not before.busy


@pytest.mark.parametrize(
    ("memory", "compute", "corner"),
    [
        (900, 400, Corner.RECUT),
        (500, 900, Corner.FEWER),
        (200, 100, Corner.SMALLER),
        (900, 900, Corner.WELL),
        (650, 300, Corner.WELL),
        (None, 900, Corner.UNKNOWN),
        (900, None, Corner.UNKNOWN),
    ],
)
def test_each_corner_has_its_own_answer(memory, compute, corner):
    assert corner_of(memory, compute) is corner
    assert Dot("k", "k", memory, compute, 1.0).corner is corner


def test_the_band_is_seventy_to_eighty_five_percent():
    told = [band_of(use) for use in (None, 699, 700, 850, 851)]
    assert told == [Band.UNKNOWN, Band.BELOW, Band.WITHIN, Band.WITHIN, Band.ABOVE]


def test_a_line_through_rising_weeks_says_when_it_passes():
    told = trend_of([10, 12, 14, 16], capacity=21)
    assert told is not None
    assert (told.level, told.growth, told.passes_in) == (16, 2, 3)
    assert trend_of([10, 12, 14, 16], capacity=15).passes_in == 0
    assert trend_of([16, 14, 12], capacity=20).passes_in is None
    assert trend_of([10, 10.001, 10.002], capacity=20).passes_in is None, "out of sight"
    assert trend_of([1, 2], capacity=20) is None


@given(
    start=st.floats(0, 1000),
    growth=st.floats(-5, 20),
    weeks=st.integers(3, 30),
    more=st.floats(0.5, 500),
)
def test_a_true_line_is_found_and_the_week_is_the_first_above(start, growth, weeks, more):
    points = [start + growth * at for at in range(weeks)]
    capacity = points[-1] + more
    told = trend_of(points, capacity)
    assert told is not None and told.growth == pytest.approx(growth, abs=1e-6)
    if told.passes_in is not None:
        assert points[-1] + growth * told.passes_in >= capacity - 1e-3
        assert points[-1] + growth * (told.passes_in - 1) <= capacity + 1e-3

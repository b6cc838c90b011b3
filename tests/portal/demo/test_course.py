"""How busy a run is: the same at every resolution, low where it starts, saves or is forgotten."""

from hypothesis import given
from hypothesis import strategies as st

from portal.demo.course import EMPTY, IDLE, Course

RUN = Course(begin_s=1000.0, quiet_s=21_000.0, busy=80.0, full=60.0, save_s=1800.0)
CUTS = st.lists(st.integers(1001, 23_999), max_size=12, unique=True)


@given(CUTS)
def test_spans_that_lie_end_to_end_sum_up_to_the_whole(cuts):
    edges = [1000.0, *sorted(map(float, cuts)), 24_000.0]
    long = [(a, b) for a, b in zip(edges, edges[1:], strict=False) if b - a >= 600]
    whole = RUN.held(1000.0, 24_000.0) * 23_000
    parts = sum(RUN.held(a, b) * (b - a) for a, b in zip(edges, edges[1:], strict=False))
    assert abs(whole - parts) < 1e-3
    for a, b in long:
        half = (a + b) / 2
        apart = RUN.use(a, half)[0] * (half - a) + RUN.use(half, b)[0] * (b - half)
        assert abs(RUN.use(a, b)[0] * (b - a) - apart) < 1e-3


def test_it_starts_slowly_dips_where_it_saves_and_shows_nothing_once_forgotten():
    usual = RUN.use(1200.0, 1260.0)
    assert usual == (80.0, 80.0)
    assert RUN.use(1000.0, 1060.0)[0] < 20.0
    assert RUN.use(1000.0 + 1780.0, 1000.0 + 1800.0)[0] < 15.0
    assert RUN.use(21_600.0, 21_660.0) == (IDLE, IDLE)
    assert abs(RUN.held(1000.0, 1060.0) - 60.0 * EMPTY) < 1e-9
    assert RUN.held(5000.0, 5060.0) == 60.0


def test_who_writes_no_checkpoint_never_dips_for_one():
    plain = Course(begin_s=0.0, quiet_s=4000.0, busy=50.0, full=10.0)
    assert plain.use(1780.0, 1800.0) == (50.0, 50.0)
    assert plain.use(2690.0, 2700.0)[0] < 50.0

"""A sweep goes on after a row that fails, and tells of it."""

from structlog.testing import capture_logs

from pool.sweeps import each, part


def test_a_row_that_fails_is_told_of_and_the_others_have_their_turn():
    seen = []

    def act(key):
        if key == 2:
            raise ValueError("odd")
        seen.append(key)
        return True

    with capture_logs() as told:
        assert each([1, 2, 3], act, of="rows") == 2
    assert seen == [1, 3]
    assert [(one["event"], one["of"], one["key"]) for one in told] == [("sweep.one", "rows", "2")]


def test_a_part_that_fails_counts_as_nothing():
    def look():
        raise LookupError

    with capture_logs() as told:
        assert part(look, of="half", nothing=7) == 7
    assert told[0]["of"] == "half"
    assert part(lambda: 3, of="half", nothing=7) == 3

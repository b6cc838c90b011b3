"""A directory that is busy is away: nobody's roles are taken by half an answer."""

import pytest

from portal.access.directory import DirectoryAway, _answered


@pytest.mark.parametrize("code", [3, 4, 32, 50, 51, 52])
def test_a_search_that_was_not_answered_whole_counts_as_no_answer(code):
    with pytest.raises(DirectoryAway):
        _answered({"result": code, "description": "busy"})


def test_a_whole_answer_passes():
    _answered({"result": 0, "description": "success"})
